"""One run of `ludens bench runs`, in a process of its own so that its memory is its own."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from ludens.core.table import Table
from ludens.run.engine import Ending, Engine
from ludens.run.executor import Here
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store
from ludens.run.task import MODEL, SUITES, Suite, Task


def suite_of(game: str, seats: tuple[str, str], episodes: int, horizon: int) -> Suite:
    """One task: the entrant against random moves, so many times and no longer than the horizon."""
    seating = {seats[0]: MODEL, seats[1]: "bot/random"}
    return Suite("bench", "", (Task("bench", game, (seating,), episodes, table=Table(horizon=horizon)),))


def played(suite: Suite, spec: str, concurrency: int) -> dict[str, Any]:
    """Play it all; what it took, once everything that happens only once has happened."""
    SUITES.register("bench", suite)
    _run(make_plan("bench", {"bench": spec}, limit=1), 1)
    wall, cpu = perf_counter(), process_time()
    ending = _run(make_plan("bench", {"bench": spec}), concurrency)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tally = ending.tally
    return {
        "complete": ending.complete,
        "episodes": tally.episodes,
        "calls": tally.meter.calls,
        "fallbacks": tally.fallbacks,
        "wall": wall,
        "cpu": cpu,
        "megabytes": peak / (2**20 if sys.platform == "darwin" else 2**10),
    }


def _run(plan: Plan, concurrency: int) -> Ending:
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", plan) as store:
        return asyncio.run(Engine(store, Here(plan, concurrency), concurrency=concurrency).run())


if __name__ == "__main__":
    game, first, second, spec = sys.argv[1:5]
    number, flying, horizon = map(int, sys.argv[5:8])
    print(json.dumps(played(suite_of(game, (first, second), number, horizon), spec, flying)))
