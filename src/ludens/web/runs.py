"""The page of a run: its results while it is played, and its episodes as a list."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from aiohttp import web

from ludens.core.errors import BadFile, UsageError
from ludens.run.cells import Cell
from ludens.run.index import INDEX
from ludens.run.lines import shard_size, shards_of
from ludens.run.report.page import sections
from ludens.run.report.table import NOTHING, Column, Entry, TableRow, Value
from ludens.run.results import Results, Row, RunReader, results_of
from ludens.run.rows import EpisodeRow
from ludens.run.task import entrant_seats
from ludens.web.home import run_folder
from ludens.web.pages import WebSettings, page, whole_number
from ludens.web.security import may_be_linked

FIRST, SLICE = 0.3, 0.5
"""Seconds of reading before the first results, and between looks at the clock."""
PATIENCE = 1.0
"""Seconds that a request waits for new results before it shows the latest ones."""
SHARE = 4
"""While a run is read, new results are computed after this many times the seconds that the last ones took."""
MAX_LIVE = 4


class RunGone(BadFile):
    """The folder of a run was deleted."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    version: int
    results: Results
    suites: tuple[dict[str, Any], ...]
    _listed: dict[int, list[ListedEpisode]] = field(default_factory=dict)
    """The episodes of cells that a request needed."""

    @property
    def cells(self) -> Iterator[tuple[Row, Cell]]:
        for results in self.results.suites:
            for entrant in results.rows:
                yield from ((entrant, cell) for cell in entrant.cells.values())

    def episodes_of(self, entrant: Row, cell: Cell) -> list[ListedEpisode]:
        if id(cell) not in self._listed:
            rows = *cell.episodes.rows(), *cell.voided
            self._listed[id(cell)] = [ListedEpisode(entrant, cell, row) for row in rows]
        return self._listed[id(cell)]

    def same_seed(self, task: str, seed: int, most: int) -> list[ListedEpisode]:
        cells = (cell for cell in self.cells if cell[1].task.name == task)
        same = (listed for cell in cells for listed in self.episodes_of(*cell) if listed.row.seed == seed)
        return list(islice(same, most))


class LiveRun:
    """One run. Only its own task reads it; requests use `snapshot`."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.snapshot: Snapshot | None = None
        self.error = ""
        """Why no more lines can be read."""
        self.size = self.end = 0
        """Bytes of the shards, and how many of them were read."""
        self._reader: RunReader | None = None
        self._files: tuple[Any, ...] = ()
        self._computed, self._cost, self._shown_end = float("-inf"), 0.0, -1
        self._task: asyncio.Task[None] | None = None

    @property
    def read_all(self) -> bool:
        """Whether everything that was written was read, and is in the results."""
        return self._shown_end == self.end and (self.end >= self.size or bool(self.error))

    async def update(self, patience: float = PATIENCE) -> None:
        """Read what is new; wait for it no longer than this."""
        if self._task is None or self._task.done():
            if self._task is not None and not self._task.cancelled():
                self._task.exception()  # of a task for which nobody waited long enough; it occurs again
            self._task = asyncio.create_task(self._read_all())
        finished_tasks, _ = await asyncio.wait({self._task}, timeout=patience)
        for task in finished_tasks:
            task.result()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _read_all(self) -> None:
        while not await asyncio.to_thread(self._read_on):
            pass

    def _read_on(self) -> bool:
        """Read some lines and compute the results; returns whether all was read."""
        files = self._identity()
        if (
            self._reader is None
            or files[:-1] != self._files[:-1]
            or (self._reader.indexed and files[-1] != self._files[-1])
            or self.size < self._reader.lines.end
        ):
            self._reader, self._files, self.error = RunReader(self.folder), files, ""
            self._shown_end = -1
        complete = True
        if not self.error:
            try:
                complete = self._reader.read(FIRST if self._shown_end < 0 else SLICE)
            except UsageError as error:
                self.error = str(error)
        self.end = self._reader.lines.end
        waited = monotonic() - self._computed >= SHARE * self._cost
        if self.end != self._shown_end and (complete or self._shown_end < 0 or waited):
            self._compute(self._reader)
        return complete

    def _compute(self, reader: RunReader) -> None:
        start = monotonic()
        results = results_of([reader])
        parts = tuple(sections(suite) for suite in results.suites)
        self.snapshot = Snapshot(self.snapshot.version + 1 if self.snapshot else 1, results, parts)
        self._computed, self._shown_end = monotonic(), self.end
        self._cost = self._computed - start

    def _identity(self) -> tuple[Any, ...]:
        """What changes if the run is replaced by another one."""
        try:
            plan = os.stat(self.folder / "run.json")
        except OSError:
            raise RunGone(f"the run {self.name!r} was deleted.") from None
        shards = shards_of(self.folder)
        self.size = sum(shard_size(self.folder, name) for name in shards)
        first = os.stat(self.folder / shards[0]).st_ino if shards else None
        return plan.st_ino, plan.st_mtime_ns, first, _inode(self.folder / INDEX)


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


class LiveRuns:
    def __init__(self) -> None:
        self._runs: OrderedDict[str, LiveRun] = OrderedDict()

    async def get(self, name: str, folder: Path) -> LiveRun:
        run = self._runs.pop(name, None) or LiveRun(name, folder)
        self._runs[name] = run
        if len(self._runs) > MAX_LIVE:
            await self._runs.popitem(last=False)[1].close()
        return run

    async def close(self) -> None:
        for run in self._runs.values():
            await run.close()


PAGE = 50
KINDS = ("done", "horizon", "forfeit", "void", "fallback")
_LIMIT = 200


class ListedEpisode(NamedTuple):
    entrant: Row
    cell: Cell
    row: EpisodeRow

    @property
    def seats(self) -> str:
        return " and ".join(entrant_seats(self.cell.task, self.row.seating))

    @property
    def metric(self) -> str:
        """The name of the task's first metric, with its unit."""
        first = self.cell.task.metrics[0]
        return first.name + (" %" if first.percent else "")

    @property
    def value(self) -> float | None:
        """The value of the task's first metric, in the unit of tables."""
        first = self.cell.task.metrics[0]
        value = self.row.values[0] if self.row.values and first.paired else None
        return None if value is None else (100 if first.percent else 1) * float(value)


_SORTS: dict[str, Callable[[ListedEpisode], Any]] = {
    "task": lambda listed: (listed.row.task, listed.row.seed, listed.entrant.name),
    "entrant": lambda listed: (listed.entrant.name, listed.row.task, listed.row.seed),
    "seed": lambda listed: (listed.row.seed, listed.row.task, listed.entrant.name),
    "status": lambda listed: listed.row.status,
    "value": lambda listed: (listed.value is not None, listed.value or 0.0),
    "fallbacks": lambda listed: listed.row.fallbacks,
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
    def of(parameters: Mapping[str, str]) -> Query:
        """From the parameters of a request; what is not known is ignored."""
        sort, kind = parameters.get("sort", ""), parameters.get("kind", "")
        return Query(
            parameters.get("entrant", "")[:_LIMIT],
            parameters.get("task", "")[:_LIMIT],
            kind if kind in KINDS else "",
            parameters.get("seed", "").strip()[:_LIMIT],
            sort if sort.removeprefix("-") in _SORTS else "",
            whole_number(parameters.get("page", ""), 10**6) or 1,
        )

    def includes(self, entrant: str, task: str) -> bool:
        return (not self.entrant or entrant == self.entrant) and (not self.task or task == self.task)

    def matches(self, row: EpisodeRow) -> bool:
        return (not self.seed or str(row.seed) == self.seed) and (
            not self.kind or (row.fallbacks > 0 if self.kind == "fallback" else row.status == self.kind)
        )

    def address(self, run: str, **changes: Any) -> str:
        changed = replace(self, **changes)
        parameters = {
            name: value for name, value in vars(changed).items() if value and (name, value) != ("page", 1)
        }
        return f"/run/{quote(run)}{'?' if parameters else ''}{urlencode(parameters)}#episodes"


@dataclass(frozen=True)
class Listing:
    query: Query
    lines: tuple[ListedEpisode, ...]
    total: int
    pages: int


def listing(snapshot: Snapshot, query: Query) -> Listing:
    """The episodes that match the query; only those of the page are made if they need not be looked at."""
    cells = [cell for cell in snapshot.cells if query.includes(cell[0].name, cell[1].task.name)]
    matches: list[ListedEpisode] | None = None
    if query.seed or query.kind or query.sort:
        every = (listed for cell in cells for listed in snapshot.episodes_of(*cell))
        matches = [listed for listed in every if query.matches(listed.row)]
        if query.sort:
            matches.sort(key=_SORTS[query.sort.removeprefix("-")], reverse=query.sort.startswith("-"))
    total = len(matches) if matches is not None else sum(_count(cell) for _, cell in cells)
    pages = max(1, -(-total // PAGE))
    query = replace(query, page=min(query.page, pages))
    start = (query.page - 1) * PAGE
    lines = matches[start : start + PAGE] if matches is not None else _slice(cells, start, start + PAGE)
    return Listing(query, tuple(lines), total, pages)


def _count(cell: Cell) -> int:
    return len(cell.episodes) + len(cell.voided)


def _slice(cells: Sequence[tuple[Row, Cell]], start: int, stop: int) -> Iterator[ListedEpisode]:
    for entrant, cell in cells:
        count, total = len(cell.episodes), _count(cell)
        first, last = max(0, start), min(stop, total)
        if first < last:
            rows = cell.episodes.rows(first, max(first, min(last, count)))
            voided = cell.voided[max(0, first - count) : max(0, last - count)]
            yield from (ListedEpisode(entrant, cell, row) for row in (*rows, *voided))
        start, stop = start - total, stop - total


def linker(run: str) -> Callable[[TableRow, Entry, Column], str | None]:
    """Makes the address of the episodes behind a number of a table."""

    def link(row: TableRow, entry: Entry, column: Column) -> str | None:
        source = entry.source if isinstance(entry, Value) and entry.source else row.source
        if source is None or not column.numbers or entry == NOTHING:
            return None
        kind = column.name if column.name in ("fallback", "void") else ""
        return Query(source.entrant, source.task, kind, source.seed).address(run)

    return link


LIVE = web.AppKey("live", LiveRuns)
_NAME = "{run:.+}"


def add_routes(app: web.Application, settings: WebSettings) -> None:
    app[LIVE] = LiveRuns()
    app.cleanup_ctx.append(_reading)
    app.router.add_get(f"/run/{_NAME}", run_page)
    app.router.add_get(f"/run-results/{_NAME}", run_results)


async def _reading(app: web.Application) -> AsyncIterator[None]:
    """Load what the first page would wait for; stop reading at the end."""
    loading = asyncio.create_task(asyncio.to_thread(import_module, "scipy.stats"))
    yield
    await app[LIVE].close()
    await loading


async def live_run(request: web.Request) -> LiveRun:
    """The run that a request names, read as far as there was time."""
    name = request.match_info["run"]
    run = await request.app[LIVE].get(name, await run_folder(request, name))
    try:
        await run.update()
    except RunGone as gone:
        raise web.HTTPGone(text=str(gone)) from None
    return run


@may_be_linked
async def run_page(request: web.Request) -> web.Response:
    run = await live_run(request)
    context = await asyncio.to_thread(_context, run, request)
    return page("run.html", title=run.name, **context)


async def run_results(request: web.Request) -> web.Response:
    """The parts of the page that change; nothing if they are as in the version the browser has."""
    run = await live_run(request)
    if run.snapshot is not None and request.query.get("version") == _version(run):
        return web.Response(status=204)
    context = await asyncio.to_thread(_context, run, request)
    return page("run_parts.html", **context)


def _version(run: LiveRun) -> str:
    return f"{run.snapshot.version if run.snapshot else 0}-{run.end}-{run.size}"


def filters(snapshot: Snapshot | None) -> dict[str, Any]:
    """The tasks and the entrants (name to label) that a page can be limited to."""
    suites = snapshot.results.suites if snapshot else ()
    return {
        "tasks": [name for results in suites for name in results.tasks],
        "entrants": {row.name: row.label for results in suites for row in results.rows},
    }


def _context(run: LiveRun, request: web.Request) -> dict[str, Any]:
    snapshot, query = run.snapshot, Query.of(request.query)
    cells = [cell for _, cell in snapshot.cells] if snapshot else []
    done, planned = sum(len(cell.episodes) for cell in cells), sum(cell.planned for cell in cells)
    return {
        "run": run,
        "suites": snapshot.suites if snapshot else (),
        "done": done,
        "planned": planned,
        "version": _version(run),
        "live": not run.error and (not run.read_all or done < planned or not snapshot),
        "query": query,
        "listing": listing(snapshot, query) if snapshot else None,
        **filters(snapshot),
        "kinds": KINDS,
        "link": linker(run.name),
    }
