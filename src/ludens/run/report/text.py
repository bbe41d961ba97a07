"""Tables for a terminal: means with their intervals below them."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ludens.run.report.plain import one_line
from ludens.run.report.tables import Entry, Table, Value

WIDTH = 160


def text(tables: Sequence[Table], width: int = WIDTH) -> str:
    """All tables, one below the other, with their notes."""
    return "\n".join(_table(table, width) for table in tables)


def _table(table: Table, width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    made = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        heading = "\n".join(filter(None, (one_line(column.name), one_line(column.unit))))
        made.add_column(heading, justify="right" if column.numbers else "left", overflow="fold")
    for line in table.lines:
        made.add_row(*map(_entry, line.entries))
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None,
        force_terminal=False,
    )
    console.print(made)
    body = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join([one_line(table.title), body, *map(one_line, table.notes), ""])


def _entry(entry: Entry) -> str:
    if isinstance(entry, Value):
        return "\n".join(filter(None, (entry.number, entry.interval)))
    return one_line(entry)
