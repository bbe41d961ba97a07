"""Tables for a terminal: means with their intervals below them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from ludens.core.plain import one_line
from ludens.run.report.tables import Entry, Line, Table, Value, noted_once

WIDTH = 160


def text(tables: Sequence[Table], width: int = WIDTH) -> str:
    """All tables, one below the other, with their notes."""
    return "\n".join(_table(part, width) for table in tables for part in _fitting(table, width))


def _fitting(table: Table, width: int) -> list[Table]:
    """The table in parts no wider than the screen; the columns that name a row stand in every part."""
    wide = [_width(table, place) + 3 for place in range(len(table.columns))]
    names = next((place for place, column in enumerate(table.columns) if column.numbers), 1)
    parts: list[list[int]] = [[]]
    room = width - sum(wide[:names])
    for place in range(names, len(wide)):
        if parts[-1] and sum(wide[p] for p in parts[-1]) + wide[place] > room:
            parts.append([])
        parts[-1].append(place)
    if len(parts) == 1:
        return [table]
    return noted_once([_columns(table, [*range(names), *places]) for places in parts])


def _columns(table: Table, places: Sequence[int]) -> Table:
    lines = [Line(line.kind, [line.entries[place] for place in places]) for line in table.lines]
    return replace(table, columns=[table.columns[place] for place in places], lines=lines)


def _width(table: Table, place: int) -> int:
    column = table.columns[place]
    cells = [
        one_line(column.name),
        one_line(column.unit),
        *(_entry(line.entries[place]) for line in table.lines),
    ]
    return max(len(part) for cell in cells for part in cell.split("\n"))


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
