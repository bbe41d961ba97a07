"""`ludens bench runs`: whole runs with their store: many bot games, and many models in flight at once.

Each run happens in its own process (`python -m benchmarks.runs SUITE SPEC CONCURRENCY WORKERS`), so that
memory is measured separately.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import Row, figures_of
from benchmarks.client import serving
from ludens.core.config import PlayConfig
from ludens.core.episode import Usage
from ludens.core.options import option
from ludens.run.engine import Engine, RunResult, make_executor, workers_for
from ludens.run.plan import Job, Plan, make_plan
from ludens.run.rows import Outcome
from ludens.run.store import Store
from ludens.run.task import MODEL, Suite, SuiteBuilder, Task
from ludens.run.workers import Executor

IN_FLIGHT, LATENCY, MEGABYTES = 256, 0.2, 500
BOT_EPISODES = 1_000
TARGET_SHARE = 0.8
"""The share of the calls that the server's latency allows."""


def rows(seconds: float) -> Iterator[Row]:
    """Bots alone, and 256 model calls in flight to a server that takes 200 ms."""
    bots = _child("tic_tac_toe", "x", "o", "bot/random", max(100, round(2000 * seconds)), 16, 1000)
    note = f"{bots['episodes']:,} episodes in {bots['wall']:.1f} s, {bots['megabytes']:.0f} MB at most"
    yield Row("bots", bots["episodes"] / bots["cpu"], "episodes/s", BOT_EPISODES, note=note)
    several = workers_for(IN_FLIGHT)
    with serving(LATENCY) as url:
        for modality in ("image", "text"):
            for workers in dict.fromkeys((0, several)):
                spec, horizon = f"vllm/bench@{url}?modality={modality}", max(2, round(32 * seconds))
                figures = _child(
                    "breakthrough", "black", "white", spec, IN_FLIGHT, IN_FLIGHT, horizon, workers
                )
                yield _row(modality, workers, workers == several, figures)


def _row(modality: str, workers: int, has_target: bool, figures: dict[str, Any]) -> Row:
    calls, count = figures["calls"], workers or 1
    return Row(
        f"{IN_FLIGHT} in flight, {modality}, {count} process{'es' * (count > 1)}",
        calls / figures["wall"],
        "calls/s",
        TARGET_SHARE * IN_FLIGHT / LATENCY if has_target else None,
        note=f"of {IN_FLIGHT / LATENCY:,.0f}; {figures['cpu'] / figures['wall'] / count:.0%} of a core each, "
        f"{figures['cpu'] / calls * 1000:.2f} ms per call; {figures['megabytes']:.0f} of {MEGABYTES} MB",
    )


def _child(
    game: str, first: str, second: str, spec: str, episodes: int, flying: int, horizon: int, workers: int = 0
) -> dict[str, Any]:
    """Run `measure` in a child process."""
    suite = f"game={game}&first={first}&second={second}&episodes={episodes}&horizon={horizon}"
    return figures_of("benchmarks.runs", suite, spec, flying, workers)


@dataclass(frozen=True)
class BenchSuite(SuiteBuilder):
    """A suite with one task: the entrant in one seat, random moves in the other."""

    game: str = option("tic_tac_toe", help="the game")
    first: str = option("x", help="the entrant's seat")
    second: str = option("o", help="the other seat")
    episodes: int = option(100, low=1, help="number of episodes")
    horizon: int = option(1000, low=1, help="most steps of an episode")

    def build(self) -> Suite:
        seating, config = {self.first: MODEL, self.second: "bot/random"}, PlayConfig(horizon=self.horizon)
        return Suite("bench", "", (Task("bench", self.game, (seating,), self.episodes, config=config),))


def measure(suite: str, spec: str, concurrency: int, workers: int = 0) -> dict[str, Any]:
    """Play a whole run and measure it, without start-up costs: those of a run of one episode are subtracted.

    Args:
        suite: Options of `BenchSuite`, as in a suite's name.
        spec: The player that is measured.
        concurrency: Episodes in flight.
        workers: Worker processes; 0 plays in this process.
    """
    name = f"benchmarks.runs:BenchSuite?{suite}"
    before = _cpu()
    _run(make_plan(name, {"bench": spec}, limit=1), 1, workers)
    start_up = _cpu() - before if workers else 0.0
    before = _cpu()
    ending, wall = _run(make_plan(name, {"bench": spec}), concurrency, workers)
    return {
        "complete": ending.complete,
        "episodes": ending.progress.episodes,
        "calls": ending.progress.usage.calls,
        "fallbacks": ending.progress.fallbacks,
        "wall": wall,
        "cpu": _cpu() - before - start_up,
        "megabytes": memory_used() + workers * memory_used(resource.RUSAGE_CHILDREN),
    }


def _run(plan: Plan, concurrency: int, workers: int) -> tuple[RunResult, float]:
    """How the run ended, and its seconds once every process was ready."""
    timed = _Timed(make_executor(plan, concurrency=concurrency, workers=workers))
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", plan) as store:
        ending = asyncio.run(Engine(store, timed, concurrency=concurrency).run())
    return ending, timed.seconds


class _Timed(Executor):
    """An executor that measures the time between `start` and `close`."""

    def __init__(self, inner: Executor) -> None:
        self._inner, self.seconds = inner, 0.0

    async def start(self, store: Store | None = None) -> None:
        await self._inner.start(store)
        self._began = perf_counter()

    async def play(self, job: Job) -> Outcome:
        return await self._inner.play(job)

    @property
    def usage(self) -> Usage:
        return self._inner.usage

    @property
    def counts(self) -> Counter[str]:
        return self._inner.counts

    async def close(self) -> None:
        self.seconds = perf_counter() - self._began
        await self._inner.close()


def _cpu() -> float:
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, both))


def memory_used(process: int = resource.RUSAGE_SELF) -> float:
    """Peak memory in MB of this process, or of its largest child."""
    status = Path("/proc/self/status")
    if (
        process == resource.RUSAGE_SELF and status.exists()
    ):  # ru_maxrss includes the parent's memory before exec
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 2**10
    return resource.getrusage(process).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    suite, spec, *numbers = sys.argv[1:]
    print(json.dumps(measure(suite, spec, *map(int, numbers))))
