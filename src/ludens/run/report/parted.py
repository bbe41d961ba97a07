"""Wide tables in parts: one for each family of tasks, as in `perceive/chess`, or for so many columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ludens.run.report.tables import NOTHING, Column, Line, Table, noted_once

WIDE = 12
"""A table of more columns than this is parted."""
CHUNK = 8


def parted(table: Table) -> list[Table]:
    """The same entries in tables that fit; rows that say nothing in a part are left out of it."""
    if len(table.columns) <= WIDE:
        return [table]
    return noted_once([_part(table, family, places) for family, places in _families(table.columns)])


def _families(columns: Sequence[Column]) -> Iterator[tuple[str, Sequence[int]]]:
    """What neighbouring columns have in common before a slash, and their places; the first one is in all."""
    places = range(1, len(columns))
    for family, some in groupby(places, lambda place: columns[place].name.rpartition("/")[0]):
        found = list(some)
        for start in range(0, len(found), CHUNK):
            yield family, found[start : start + CHUNK]


def _part(table: Table, family: str, places: Sequence[int]) -> Table:
    columns = [table.columns[0]]
    for place in places:
        column = table.columns[place]
        columns.append(replace(column, name=column.name.removeprefix(f"{family}/")))
    lines = [
        Line(line.kind, [line.entries[0], *(line.entries[place] for place in places)])
        for line in table.lines
        if any(line.entries[place] != NOTHING for place in places)
    ]
    return replace(
        table, title=f"{table.title}: {family}" if family else table.title, columns=columns, lines=lines
    )
