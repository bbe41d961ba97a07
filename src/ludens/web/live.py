"""Results of runs, kept up to date while they are played, also by other processes.

A run is read once, in the background; pages show what was read so far. After that only new lines are read.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ludens.core.errors import BadFile, UsageError
from ludens.run.lines import EPISODES
from ludens.run.report.page import sections
from ludens.run.results import Results, RunReader, results_of

FIRST, SLICE = 0.3, 0.5
"""Seconds of reading before the first results, and between looks at the clock."""
PATIENCE = 1.0
"""Seconds that a request waits for results before it shows what there is."""
SHARE = 4
"""Results are computed again only after so many times the seconds that took, until all is read."""
MAX_LIVE = 4
"""Runs that are kept in memory."""


class RunGone(BadFile):
    """The folder of a run was deleted."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The results of a run at one moment."""

    version: int
    results: Results
    suites: tuple[dict[str, Any], ...]
    """Tables and charts of each suite."""


class LiveRun:
    """One run. Only its own task reads; everybody else looks at `snapshot`."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.snapshot: Snapshot | None = None
        self.error = ""
        """Why no more lines can be read."""
        self.size = self.end = 0
        """Bytes of the file, and how many of them were read."""
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
        done, _ = await asyncio.wait({self._task}, timeout=patience)
        for task in done:
            task.result()

    async def close(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _read_all(self) -> None:
        while not await asyncio.to_thread(self._read_on):
            pass

    def _read_on(self) -> bool:
        """Read some lines and compute the results; returns whether all was read."""
        files = self._identity()
        if self._reader is None or files != self._files or self.size < self._reader.lines.end:
            self._reader, self._files, self.error = RunReader(self.folder), files, ""
            self._shown_end = -1
        done = True
        if not self.error:
            try:
                done = self._reader.read(FIRST if self._shown_end < 0 else SLICE)
            except UsageError as error:
                self.error = str(error)
        self.end = self._reader.lines.end
        waited = monotonic() - self._computed >= SHARE * self._cost
        if self.end != self._shown_end and (done or self._shown_end < 0 or waited):
            self._compute(self._reader)
        return done

    def _compute(self, reader: RunReader) -> None:
        started = monotonic()
        results = results_of([reader])
        shown = tuple(sections(found) for found in results.suites)
        self.snapshot = Snapshot(self.snapshot.version + 1 if self.snapshot else 1, results, shown)
        self._computed, self._shown_end = monotonic(), self.end
        self._cost = self._computed - started

    def _identity(self) -> tuple[Any, ...]:
        """What changes if the run is replaced by another one."""
        try:
            plan = os.stat(self.folder / "run.json")
        except OSError:
            raise RunGone(f"the run {self.name!r} was deleted.") from None
        try:
            episodes = os.stat(self.folder / EPISODES)
        except OSError:
            self.size = 0
            return plan.st_ino, plan.st_mtime_ns, None
        self.size = episodes.st_size
        return plan.st_ino, plan.st_mtime_ns, episodes.st_ino


class LiveRuns:
    """The runs that were looked at last."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, LiveRun] = OrderedDict()

    async def get(self, name: str, folder: Path) -> LiveRun:
        """The run, which may not have been read yet."""
        run = self._runs.pop(name, None) or LiveRun(name, folder)
        self._runs[name] = run
        if len(self._runs) > MAX_LIVE:
            await self._runs.popitem(last=False)[1].close()
        return run

    async def close(self) -> None:
        """Stop reading."""
        for run in self._runs.values():
            await run.close()
