"""The reply format for matrices: nested lists, LaTeX, or rows of numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ludens.core.errors import Ambiguous, Unreadable
from ludens.core.reply import ReplyFormat, without_reasoning
from ludens.core.state import Legal
from ludens.games.perceive.rules import shape_error

_NUMBER = re.compile(r"[+-]?\d{1,6}")
_ROW = re.compile(r"[\s,;|&\[\]()-]*[+-]?\d{1,6}(?:[\s,;|&]+[+-]?\d{1,6})*[\s,;|&\[\]()\\]*")
_LIST_ROW = re.compile(r"\[\s*(?:[+-]?\d{1,6}\s*(?:,\s*[+-]?\d{1,6}\s*){0,99})?,?\s*\]")
_BEGIN = re.compile(r"\\begin\{[a-zA-Z]{0,10}(?:matrix|array)\*?\}(?:\{[^}\n]{0,40}\})?")
_END = re.compile(r"\\end\{[a-zA-Z]{0,10}(?:matrix|array)\*?\}")

Rows = list[list[int]]


@dataclass(frozen=True)
class MatrixFormat(ReplyFormat):
    """A matrix of whole numbers with a fixed shape."""

    rows: int
    columns: int

    def ask(self, legal: Legal) -> str:
        return (
            f"Give the matrix once, as {self.rows} lists of {self.columns} whole numbers inside one list, "
            "as in [[0, 1], [2, 0]], top row first."
        )

    def write(self, action: str) -> str:
        return action

    def read(self, text: str, legal: Legal) -> str:
        said = without_reasoning(text)
        found = [*_lists(said), *_latex(said)] or _plain(said)
        if not found:
            raise Unreadable("no matrix was found in the reply.")
        fitting = {json.dumps(m) for m in found if shape_error(m, self.rows, self.columns) is None}
        if len(fitting) > 1:
            raise Ambiguous("the reply holds several different matrices; give exactly one.")
        if not fitting:
            raise Unreadable(shape_error(found[-1], self.rows, self.columns) or "no matrix fits.")
        return fitting.pop()


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


def _lists(text: str) -> list[Rows]:
    """Runs of `[1, 2, 3]` rows with only commas and white space between them."""
    runs: list[Rows] = []
    end = -1
    for hit in _LIST_ROW.finditer(text):
        between = text[end : hit.start()] if end >= 0 and hit.start() - end <= 80 else None
        if between is not None and not between.strip(" \t\r\n,;"):
            runs[-1].append(_numbers(hit.group()))
        else:
            runs.append([_numbers(hit.group())])
        end = hit.end()
    return runs


def _latex(text: str) -> list[Rows]:
    """Every matrix environment: rows end with two backslashes, cells with &."""
    found = []
    for hit in _BEGIN.finditer(text):
        end = _END.search(text, hit.end())
        if end is None:
            break
        body = text[hit.end() : end.start()]
        found.append([_numbers(row) for row in body.split(r"\\") if _NUMBER.search(row)])
    return found


def _plain(text: str) -> list[Rows]:
    """Blocks of consecutive lines that hold only numbers."""
    blocks: list[Rows] = []
    inside = False
    for line in text.splitlines():
        if len(line) <= 2000 and _ROW.fullmatch(line):
            if not inside:
                blocks.append([])
            blocks[-1].append(_numbers(line))
            inside = True
        else:
            inside = False
    return blocks
