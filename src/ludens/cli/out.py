"""How commands speak: tables for people, JSON for programs, files checked before the work begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.core.errors import BadFile

if TYPE_CHECKING:
    from rich.console import Console

_PIPED_WIDTH = 160


def console() -> Console:
    """Standard output through rich: colours only at a terminal, wide lines in a pipe, no markup read."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False)


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Print a table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(printable, row))
    screen = console()
    with screen.capture() as printed:
        screen.print(made)
    print(title + "\n".join(line.rstrip() for line in ["", *printed.get().splitlines()]))


def json_out(value: Any) -> None:
    """Print one JSON document and nothing else."""
    import orjson

    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    sys.stdout.write(text.decode())


def printable(text: str) -> str:
    """The text without characters that would steer a terminal: players may say anything."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def aside(text: str) -> None:
    """Something for the person watching, not for the pipe."""
    print(printable(text), file=sys.stderr, flush=True)


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
