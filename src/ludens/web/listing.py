"""The episodes of a run as a list: filtered, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from ludens.run.cells import entrant_seats
from ludens.run.report.table import NOTHING, Column, Entry, TableRow, Value
from ludens.web.live import Snapshot

PAGE = 50
KINDS = ("done", "horizon", "forfeit", "void", "fallback")
_LIMIT = 200
"""Characters of a query that are looked at."""
_KEPT: WeakKeyDictionary[Snapshot, list[EpisodeLine]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One episode in the list."""

    key: str
    entrant: str
    label: str
    task: str
    seed: int
    sample: int
    seats: str
    status: str
    fallbacks: int
    metric: str
    value: float | None
    """Of the task's first metric, in the unit of tables."""
    offset: int


_SORTS: dict[str, Callable[[EpisodeLine], Any]] = {
    "task": lambda line: (line.task, line.seed, line.entrant),
    "entrant": lambda line: (line.entrant, line.task, line.seed),
    "seed": lambda line: (line.seed, line.task, line.entrant),
    "status": lambda line: line.status,
    "value": lambda line: (line.value is not None, line.value or 0.0),
    "fallbacks": lambda line: line.fallbacks,
}


@dataclass(frozen=True)
class Query:
    """What is listed, as it is in the address of the page."""

    entrant: str = ""
    task: str = ""
    kind: str = ""
    seed: str = ""
    sort: str = ""
    """A column, with `-` in front for descending order."""
    page: int = 1

    @staticmethod
    def of(given: Mapping[str, str]) -> Query:
        """From the parameters of a request; what is not known is ignored."""
        number = given.get("page", "")
        page = int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1
        sort, kind = given.get("sort", ""), given.get("kind", "")
        return Query(
            given.get("entrant", "")[:_LIMIT],
            given.get("task", "")[:_LIMIT],
            kind if kind in KINDS else "",
            given.get("seed", "").strip()[:_LIMIT],
            sort if sort.removeprefix("-") in _SORTS else "",
            max(1, page),
        )

    def matches(self, line: EpisodeLine) -> bool:
        """Whether an episode is listed."""
        return (
            (not self.entrant or line.entrant == self.entrant)
            and (not self.task or line.task == self.task)
            and (not self.seed or str(line.seed) == self.seed)
            and (
                not self.kind or (line.fallbacks > 0 if self.kind == "fallback" else line.status == self.kind)
            )
        )

    def address(self, run: str, **changes: Any) -> str:
        """The address of the page with this query."""
        changed = replace(self, **changes)
        given = {
            name: value for name, value in vars(changed).items() if value and (name, value) != ("page", 1)
        }
        return f"/run/{quote(run)}{'?' if given else ''}{urlencode(given)}#episodes"


@dataclass(frozen=True)
class Listing:
    """One page of the list."""

    query: Query
    lines: tuple[EpisodeLine, ...]
    total: int
    pages: int


def listing(snapshot: Snapshot, query: Query) -> Listing:
    """The episodes that match the query."""
    found = [line for line in all_lines(snapshot) if query.matches(line)]
    if query.sort:
        found.sort(key=_SORTS[query.sort.removeprefix("-")], reverse=query.sort.startswith("-"))
    pages = max(1, -(-len(found) // PAGE))
    query = replace(query, page=min(query.page, pages))
    start = (query.page - 1) * PAGE
    return Listing(query, tuple(found[start : start + PAGE]), len(found), pages)


def all_lines(snapshot: Snapshot) -> list[EpisodeLine]:
    """Every episode of a run; kept for the next request."""
    if snapshot not in _KEPT:
        _KEPT[snapshot] = list(_lines(snapshot))
    return _KEPT[snapshot]


def _lines(snapshot: Snapshot) -> Iterator[EpisodeLine]:
    for found in snapshot.results.suites:
        for row in found.rows:
            for name, cell in row.cells.items():
                metric = cell.task.metrics[0]
                scale = 100 if metric.percent else 1
                for place, record in (*cell.episodes.items(), *cell.voided):
                    value = record.values[0] if record.values and metric.paired else None
                    yield EpisodeLine(
                        record.key, row.name, row.label, name, place[0], place[2],
                        " and ".join(entrant_seats(cell.task, place[1])), record.status, record.fallbacks,
                        metric.name + (" %" if metric.percent else ""),
                        None if value is None else scale * float(value), record.offset,
                    )  # fmt: skip


def linker(run: str) -> Callable[[TableRow, Entry, Column], str | None]:
    """Makes the address of the episodes behind a number of a table."""

    def link(row: TableRow, entry: Entry, column: Column) -> str | None:
        source = entry.source if isinstance(entry, Value) and entry.source else row.source
        if source is None or not column.numbers or entry == NOTHING:
            return None
        kind = column.name if column.name in ("fallback", "void") else ""
        return Query(source.entrant, source.task, kind).address(run)

    return link
