"""The reply format for matrices: nested lists, LaTeX, or rows of numbers (Markdown tables included)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ludens.core.errors import Ambiguous, Unreadable
from ludens.core.reply import DASHES, ReplyFormat, unwrap, without_reasoning
from ludens.core.state import Legal
from ludens.games.perceive.rules import shape_error

_NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
_LIST_ROW = re.compile(r"\[([^\[\]]*)\]")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{[a-zA-Z]{0,10}(?:matrix|array)\*?\}(?:\{[^}\n]{0,40}\})?")
_SEPARATORS = re.compile(r"[\s,;|&]+")
_COMMENTS = ("#", "//")

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
        said = without_reasoning(text).translate(DASHES)
        found = [*_lists(said), *_latex(said)] or _plain(said)
        if not found:
            raise Unreadable("no matrix was found in the reply.")
        fitting = {json.dumps(m) for m in found if shape_error(m, self.rows, self.columns) is None}
        if len(fitting) > 1:
            raise Ambiguous("the reply holds several different matrices; give exactly one.")
        if not fitting:
            raise Unreadable(shape_error(found[-1], self.rows, self.columns) or "no matrix fits.")
        return fitting.pop()


def _numbers(cells: Iterable[str]) -> list[int] | None:
    """The number in each cell, quoted or emphasised; None when a cell holds anything else."""
    found = [_NUMBER.fullmatch(cell.strip("\"'`* \t\r\n")) for cell in cells]
    return None if None in found else [int(hit.group()) for hit in found if hit]


def _without_comment(line: str) -> str:
    """The line without a comment behind its last bracket."""
    row, bracket, rest = line.rpartition("]")
    return row + bracket if rest.lstrip(" \t,;").startswith(_COMMENTS) else line


def _lists(text: str) -> list[Rows]:
    """Runs of `[1, 2, 3]` rows with only commas, white space and comments between them."""
    text = "\n".join(map(_without_comment, text.splitlines()))
    runs: list[Rows] = []
    end = -1
    for hit in _LIST_ROW.finditer(text):
        content = hit[1].strip().removesuffix(",")
        row = _numbers(content.split(",")) if content else []
        if row is None:
            continue
        if end >= 0 and not text[end : hit.start()].strip(" \t\r\n,;"):
            runs[-1].append(row)
        else:
            runs.append([row])
        end = hit.end()
    return runs


def _latex(text: str) -> list[Rows]:
    """Every matrix environment: rows end with two backslashes, cells with &."""
    found: list[Rows] = []
    start = -1
    for hit in _ENVIRONMENT.finditer(text):
        if hit[1] == "begin":
            start = hit.end()
        elif start >= 0:
            lines = text[start : hit.start()].replace(r"\hline", "").split(r"\\")
            rows = [_numbers(map(unwrap, line.split("&"))) for line in lines if line.strip()]
            found += [[row for row in rows if row is not None]] if None not in rows else []
            start = -1
    return found


def _plain(text: str) -> list[Rows]:
    """Blocks of consecutive lines of numbers. The rows below the header of a table are a block, too."""
    blocks: list[Rows] = []
    header = inside = False
    for line in [*text.splitlines(), ""]:
        row = _plain_row(line)
        if row is not None:
            blocks += [] if inside else [[]]
            blocks[-1].append(row)
            inside = True
        elif inside and "-" in line and not line.strip(" \t|:+-"):
            header |= len(blocks[-1]) == 1
        else:
            if header:
                blocks.append(blocks[-1][1:])
            header = inside = False
    return [block for block in blocks if block]


def _plain_row(line: str) -> list[int] | None:
    """The numbers in a line that holds nothing else except separators, brackets and a comment."""
    for mark in _COMMENTS:
        line = line.partition(mark)[0]
    bare = line.strip().removeprefix("- ").strip(" \t,;|&[]()\\")
    return _numbers(_SEPARATORS.split(bare)) if bare else None
