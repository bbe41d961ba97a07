"""One run of `ludens bench runs`, in a process of its own so that its memory is its own."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.options import option
from ludens.run.engine import Ending, Engine
from ludens.run.executor import Executor, executor
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan, make_plan
from ludens.run.store import Store
from ludens.run.task import MODEL, Suite, SuiteBuilder, Task


@dataclass(frozen=True)
class BenchSuite(SuiteBuilder):
    """One task: the entrant against random moves."""

    game: str = option("tic_tac_toe", help="the game")
    first: str = option("x", help="the entrant's seat")
    second: str = option("o", help="the other seat")
    episodes: int = option(100, low=1, help="episodes")
    horizon: int = option(1000, low=1, help="steps of an episode at most")

    def build(self) -> Suite:
        seating, config = {self.first: MODEL, self.second: "bot/random"}, PlayConfig(horizon=self.horizon)
        return Suite("bench", "", (Task("bench", self.game, (seating,), self.episodes, config=config),))


def played(suite: str, spec: str, concurrency: int, workers: int = 0) -> dict[str, Any]:
    """Play it all; what it took, without what happens only once: a run of one episode is taken off.

    Args:
        suite: Options of `BenchSuite`, as in a suite's name.
        spec: Who is measured.
        concurrency: Episodes in flight.
        workers: Processes that play; 0 plays in this one.
    """
    name = f"ludens.bench.run_child:BenchSuite?{suite}"
    before = _cpu()
    _run(make_plan(name, {"bench": spec}, limit=1), 1, workers)
    once = _cpu() - before if workers else 0.0
    before = _cpu()
    ending, wall = _run(make_plan(name, {"bench": spec}), concurrency, workers)
    return {
        "complete": ending.complete,
        "episodes": ending.tally.episodes,
        "calls": ending.tally.meter.calls,
        "fallbacks": ending.tally.fallbacks,
        "wall": wall,
        "cpu": _cpu() - before - once,
        "megabytes": _megabytes(resource.RUSAGE_SELF) + workers * _megabytes(resource.RUSAGE_CHILDREN),
    }


def _run(plan: Plan, concurrency: int, workers: int) -> tuple[Ending, float]:
    """How it ended, and how long it took once every process was there."""
    where = _Timed(executor(plan, concurrency=concurrency, workers=workers))
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", plan) as store:
        ending = asyncio.run(Engine(store, where, concurrency=concurrency).run())
    return ending, where.seconds


class _Timed(Executor):
    """An executor, and how long it was at work between getting ready and being closed."""

    def __init__(self, inner: Executor) -> None:
        self._inner, self.seconds = inner, 0.0

    async def start(self) -> None:
        await self._inner.start()
        self._began = perf_counter()

    async def play(self, job: Job) -> Outcome:
        return await self._inner.play(job)

    @property
    def meter(self) -> Meter:
        return self._inner.meter

    async def close(self) -> None:
        self.seconds = perf_counter() - self._began
        await self._inner.close()


def _cpu() -> float:
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, both))


def _megabytes(who: int) -> float:
    """The most that a process held at once; of several processes, the largest."""
    own = Path("/proc/self/status")
    if who == resource.RUSAGE_SELF and own.exists():  # the other counts what our parent held before us
        [line] = [line for line in own.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 2**10
    return resource.getrusage(who).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    suite, spec, *numbers = sys.argv[1:]
    print(json.dumps(played(suite, spec, *map(int, numbers))))
