"""`ludens bench runs`: whole runs, saved as they go: many bot games, and many models in flight at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from ludens.bench import Row
from ludens.models.bench import serving
from ludens.run.executor import workers_for

IN_FLIGHT, LATENCY, MEGABYTES = 256, 0.2, 500
BOT_EPISODES_A_SECOND = 1_000
HELD = 0.8
"""The load is held when so much of what the latency allows is reached and no core of ours is always busy."""


def rows(seconds: float) -> Iterator[Row]:
    """Bots alone, and 256 models in flight at a server that takes 200 ms."""
    bots = _child("tic_tac_toe", "x", "o", "bot/random", max(100, round(2000 * seconds)), 16, 1000)
    note = f"{bots['episodes']:,} episodes in {bots['wall']:.1f} s, {bots['megabytes']:.0f} MB at most"
    yield Row("bots, saved", bots["episodes"] / bots["cpu"], "episodes/s", BOT_EPISODES_A_SECOND, note=note)
    fitting = workers_for(IN_FLIGHT)
    with serving(LATENCY) as url:
        for modality in ("image", "text"):
            for workers in dict.fromkeys((0, fitting)):
                spec, horizon = f"vllm/bench@{url}?modality={modality}", max(2, round(32 * seconds))
                taken = _child("breakthrough", "black", "white", spec, IN_FLIGHT, IN_FLIGHT, horizon, workers)
                yield _row(modality, workers, fitting, taken)


def _row(modality: str, workers: int, fitting: int, taken: dict[str, Any]) -> Row:
    """Calls a second of wall clock, with how busy our cores were."""
    calls, count = taken["calls"], workers or 1
    return Row(
        f"{IN_FLIGHT} in flight, {modality}, {count} process{'es' * (count > 1)}",
        calls / taken["wall"],
        "calls/s",
        HELD * IN_FLIGHT / LATENCY if workers == fitting else None,
        note=f"of {IN_FLIGHT / LATENCY:,.0f}; {taken['cpu'] / taken['wall'] / count:.0%} of a core each, "
        f"{taken['cpu'] / calls * 1000:.2f} ms a call; {taken['megabytes']:.0f} of {MEGABYTES} MB",
    )


def _child(
    game: str, first: str, second: str, spec: str, episodes: int, flying: int, horizon: int, workers: int = 0
) -> dict[str, Any]:
    """A run in a process of its own; what it took."""
    suite = f"game={game}&first={first}&second={second}&episodes={episodes}&horizon={horizon}"
    command = [sys.executable, "-m", "ludens.bench.run_child", suite, spec, str(flying), str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    taken: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return taken
