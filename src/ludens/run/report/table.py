"""A table as a value: numbers with intervals, columns, rows, and its parts where it is wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan
from typing import Literal

from ludens.run.stats import Estimate

RowKind = Literal["ours", "blind", "reference", "published"]

NOTHING = "–"
MARK = "†"
"""After a score that is not above the blind baseline."""
TRAINED = "‡"
"""After an entrant that was trained on the tasks of the table."""
MAX_COLUMNS, CHUNK = 12, 8
"""A table with more columns is split into parts of at most CHUNK columns."""


@dataclass(frozen=True, slots=True)
class Source:
    """The episodes behind a number: of one entrant, on one task; of all where empty."""

    entrant: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, in the unit the table shows."""

    estimate: Estimate
    digits: int = 1
    signed: bool = False
    published: bool = False
    """Published numbers have no interval."""
    marked: bool = False
    """Whether it is not above the blind baseline."""
    source: Source | None = None
    """Whose episodes it was computed from."""

    @property
    def known(self) -> bool:
        """Whether the number is known."""
        return not isnan(self.estimate.mean)

    @property
    def point(self) -> bool:
        """Whether all observations were equal, so that their spread is unknown."""
        return not self.published and self.estimate.n > 0 and self.estimate.low == self.estimate.high

    @property
    def mean(self) -> str:
        """The mean without a mark."""
        return self._text(self.estimate.mean, self.signed)

    @property
    def number(self) -> str:
        """The mean, with its mark."""
        return self.mean + (MARK if self.marked else "")

    @property
    def interval(self) -> str:
        """The interval; empty if there is none."""
        if self.published or not self.known:
            return ""
        if isnan(self.estimate.low):
            return f"[n = {self.estimate.n}]"
        if self.point:
            return f"[{self.estimate.n} equal]"
        low, high = self._text(self.estimate.low, self.signed), self._text(self.estimate.high, self.signed)
        return f"[{low}, {high}]"

    def __str__(self) -> str:
        return f"{self.number} {self.interval}".rstrip()

    def _text(self, number: float, signed: bool) -> str:
        if isnan(number):
            return NOTHING
        if number in (float("inf"), float("-inf")):
            return "∞" if number > 0 else "-∞"
        text = f"{number:+.{self.digits}f}" if signed else f"{number:.{self.digits}f}"
        return text.lstrip("+-") if not float(text) else text


Entry = str | Value
"""The contents of one field of a table."""


@dataclass(frozen=True)
class Column:
    """A heading, its unit, and whether the column has numbers."""

    name: str
    unit: str = ""
    numbers: bool = True


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    kind: RowKind
    entries: Sequence[Entry]
    source: Source | None = None
    """Of its numbers that have none themselves."""


@dataclass(frozen=True)
class Table:
    """A table with a title, and below it what it shows, what is doubtful, and what its signs mean."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    legend: Sequence[str] = ()


def in_parts(parts: Sequence[Table]) -> list[Table]:
    """The parts of a table, with what is below it below the last one."""
    return [*(replace(part, notes=(), warnings=(), legend=()) for part in parts[:-1]), parts[-1]]


def split(table: Table) -> list[Table]:
    """A wide table in parts: one for each family of tasks, as in `perceive/chess`, or for some columns.

    Rows that are empty in a part are left out of it.
    """
    if len(table.columns) <= MAX_COLUMNS:
        return [table]
    parts = []
    for family, group in groupby(range(1, len(table.columns)), lambda i: _family(table.columns[i])):
        indices = list(group)
        starts = range(0, len(indices), CHUNK)
        parts += [_part(table, family, indices[start : start + CHUNK]) for start in starts]
    return in_parts(parts)


def _family(column: Column) -> str:
    return column.name.rpartition("/")[0]


def _part(table: Table, family: str, indices: Sequence[int]) -> Table:
    names = [replace(c, name=c.name.removeprefix(f"{family}/")) for c in table.columns]
    rows = [
        replace(row, entries=[row.entries[i] for i in (0, *indices)])
        for row in table.rows
        if any(row.entries[i] != NOTHING for i in indices)
    ]
    title = f"{table.title}: {family}" if family else table.title
    return replace(table, title=title, columns=[names[i] for i in (0, *indices)], rows=rows)
