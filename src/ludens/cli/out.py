"""How commands speak: tables for people, JSON for programs, files checked before the work begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ludens.core.errors import BadFile
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from rich.console import Console

_PIPED_WIDTH = 160


def console() -> Console:
    """Standard output through rich: colours only at a terminal, wide lines in a pipe, no markup read."""
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
    """Print a table; the columns named in `right` hold numbers.

    Where the screen is too narrow, the columns named in `spare` are left out, the first first; where that
    does not help, each row becomes a paragraph.
    """
    from rich import box
    from rich.table import Table

    screen, cells = console(), [[harmless(cell) for cell in row] for row in rows]
    room = _room(columns, cells)
    shown, left_out = list(columns), list(spare)
    while sum(room[column] + _GAP for column in shown) > screen.width and left_out:
        shown.remove(left_out.pop(0))
    if sum(room[column] + _GAP for column in shown) > screen.width:
        return _paragraphs(title, columns, cells, screen.width)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in shown:
        side: Literal["left", "right"] = "right" if column in right else "left"
        made.add_column(column, justify=side, overflow="fold", min_width=room[column])
    for row in cells:
        made.add_row(*(cell for column, cell in zip(columns, row, strict=True) if column in shown))
    with screen.capture() as printed:
        screen.print(made)
    print(title + "\n".join(line.rstrip() for line in ["", *printed.get().splitlines()]))
    if missing := [column for column in columns if column not in shown]:
        print(f"(no room here for: {', '.join(missing)})")
    return None


_GAP = 3
_LEGIBLE = 20
"""Characters that a column of text needs to be read with ease; a column of names is never cut."""


def _room(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[str, int]:
    """How many characters each column needs at least."""
    widest = [
        max(len(line) for cell in column for line in cell.split("\n") or [""])
        for column in zip(columns, *cells, strict=True)
    ]
    return {
        column: wide if place == 0 else min(wide, _LEGIBLE)
        for place, (column, wide) in enumerate(zip(columns, widest, strict=True))
    }


def _paragraphs(title: str, columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> None:
    from textwrap import fill

    print(title)
    for first, *rest in cells:
        print(f"\n{first}")
        for column, cell in zip(columns[1:], rest, strict=True):
            if cell:
                said = f"{column}: {'; '.join(cell.splitlines())}"
                print(fill(said, max(width, _LEGIBLE), initial_indent="  ", subsequent_indent="    "))
    print()


def json_out(value: Any) -> None:
    """Print one JSON document and nothing else."""
    import orjson

    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    sys.stdout.write(text.decode())


def indented(text: str, by: int) -> str:
    """The text, every line after its first so many places to the right: messages may have several."""
    return harmless(text).replace("\n", "\n" + " " * by)


def counted(number: int, thing: str) -> str:
    """So many things: `1 step`, `2 steps`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def aside(text: str) -> None:
    """Something for the person watching, not for the pipe."""
    print(harmless(text), file=sys.stderr, flush=True)


def writable(path: Path) -> Path:
    """The path, once it is certain that a file can be written there."""
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {(error.strerror or str(error)).lower()}.") from None
    if not existed:
        path.unlink()
    return path
