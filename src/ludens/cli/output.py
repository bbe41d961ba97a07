"""Output of commands: tables, JSON, messages on stderr, checks of output files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from ludens.core.files import file_error, write_atomically
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from rich.console import Console

_PIPED_WIDTH = 160
_SECONDS_LIVE, _SECONDS_BETWEEN_LINES = 0.5, 10.0


def console() -> Console:
    """A rich console on stdout: colours only in a terminal, wide lines in a pipe, no markup."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False)


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Print a table; columns in `right` are right-aligned.

    If the terminal is too narrow, columns in `spare` are dropped in that order; if that is not enough,
    each row is printed as a paragraph.
    """
    from rich import box
    from rich.table import Table

    screen, cells = console(), [[harmless(cell) for cell in row] for row in rows]
    widths = _min_widths(columns, cells)
    visible, droppable = list(columns), list(spare)
    while sum(widths[column] + _GAP for column in visible) > screen.width and droppable:
        visible.remove(droppable.pop(0))
    if sum(widths[column] + _GAP for column in visible) > screen.width:
        return _paragraphs(title, columns, cells, screen.width)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in visible:
        side: Literal["left", "right"] = "right" if column in right else "left"
        grid.add_column(column, justify=side, overflow="fold", min_width=widths[column])
    for row in cells:
        grid.add_row(*(cell for column, cell in zip(columns, row, strict=True) if column in visible))
    with screen.capture() as printed:
        screen.print(grid)
    print(title + "\n".join(line.rstrip() for line in ["", *printed.get().splitlines()]))
    if hidden := [column for column in columns if column not in visible]:
        print(f"(terminal too narrow for: {', '.join(hidden)})")


_GAP = 3
_TEXT_WIDTH = 20
"""Minimum width of a column of text; the first column is never wrapped."""


def _min_widths(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[str, int]:
    widest = [
        max(len(line) for cell in column for line in cell.split("\n") or [""])
        for column in zip(columns, *cells, strict=True)
    ]
    return {
        column: wide if place == 0 else min(wide, _TEXT_WIDTH)
        for place, (column, wide) in enumerate(zip(columns, widest, strict=True))
    }


def _paragraphs(title: str, columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> None:
    from textwrap import fill

    print(title)
    for first, *rest in cells:
        print(f"\n{first}")
        for column, cell in zip(columns[1:], rest, strict=True):
            if cell:
                text = f"{column}: {'; '.join(cell.splitlines())}"
                print(fill(text, max(width, _TEXT_WIDTH), initial_indent="  ", subsequent_indent="    "))
    print()


def json_out(value: Any) -> None:
    import orjson

    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    sys.stdout.write(text.decode())


def indent(text: str, by: int) -> str:
    return harmless(text).replace("\n", "\n" + " " * by)


def aside(text: str) -> None:
    print(harmless(text), file=sys.stderr, flush=True)


def check_writable(path: Path) -> Path:
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise file_error("write", path, error) from None
    if not existed:
        path.unlink()
    return path


def write_file(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        raise file_error("write", path, error) from None


class ProgressLine:
    """A line on stderr: redrawn in a terminal, else printed every few seconds."""

    def __init__(self) -> None:
        self._live, self._printed = sys.stderr.isatty(), monotonic()

    def show(self, text: str, last: bool = False) -> None:
        if last or monotonic() - self._printed >= (_SECONDS_LIVE if self._live else _SECONDS_BETWEEN_LINES):
            self._printed = monotonic()
            start, end = ("\r\x1b[K", "\n" if last else "") if self._live else ("", "\n")
            print(start + text, end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
