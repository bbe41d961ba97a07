"""One run of `ludens bench runs`, in a process of its own so that its memory is its own."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from ludens.core.config import PlayConfig
from ludens.run.engine import Engine, RunResult
from ludens.run.executor import Executor, make_executor
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan, make_plan
from ludens.run.store import Store
from ludens.run.task import MODEL, Suite, Task


def suite_of(game: str, first: str, second: str, episodes: str, horizon: str) -> Suite:
    """One task: the entrant against random moves, so many times and no longer than the horizon."""
    seating, table = {first: MODEL, second: "bot/random"}, PlayConfig(horizon=int(horizon))
    return Suite("bench", "", (Task("bench", game, (seating,), int(episodes), config=table),))


def played(suite: str, spec: str, concurrency: int, workers: int = 0) -> dict[str, Any]:
    """Play it all; what it took, without what happens only once: a run of one episode is taken off.

    Args:
        suite: Options of `suite_of`, as in a suite's name.
        spec: Who is measured.
        concurrency: Episodes in flight.
        workers: Processes that play; 0 plays in this one.
    """
    name = f"ludens.bench.run_child:suite_of?{suite}"
    before = _cpu()
    _run(make_plan(name, {"bench": spec}, limit=1), 1, workers)
    once = _cpu() - before if workers else 0.0
    before = _cpu()
    result, wall = _run(make_plan(name, {"bench": spec}), concurrency, workers)
    return {
        "complete": result.complete,
        "episodes": result.progress.episodes,
        "calls": result.progress.meter.calls,
        "fallbacks": result.progress.fallbacks,
        "wall": wall,
        "cpu": _cpu() - before - once,
        "megabytes": _megabytes(resource.RUSAGE_SELF) + workers * _megabytes(resource.RUSAGE_CHILDREN),
    }


def _run(plan: Plan, concurrency: int, workers: int) -> tuple[RunResult, float]:
    """How it ended, and how long it took once every process was there."""
    where = _Timed(make_executor(plan, concurrency=concurrency, workers=workers))
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", plan) as store:
        result = asyncio.run(Engine(store, where, concurrency=concurrency).run())
    return result, where.seconds


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
