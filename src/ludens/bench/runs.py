"""`ludens bench runs`: whole runs, saved as they go: many bot games, and many models in flight at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ludens.bench import Row

IN_FLIGHT, LATENCY, MEGABYTES = 256, 0.2, 500
BOT_EPISODES_A_SECOND = 1_000
_FOLDER = Path(__file__).parent


def rows(seconds: float) -> Iterator[Row]:
    """Bots alone, and 256 models in flight at a server that takes 200 ms, per second of one core."""
    bots = _child("tic_tac_toe", "x", "o", "bot/random", max(100, round(2000 * seconds)), 16, 1000)
    note = f"{bots['episodes']:,} episodes in {bots['wall']:.1f} s, {bots['megabytes']:.0f} MB at most"
    yield Row("bots, saved", bots["episodes"] / bots["cpu"], "episodes/s", BOT_EPISODES_A_SECOND, note=note)
    with _server() as url:
        for modality in ("image", "text"):
            spec = f"vllm/bench@{url}?modality={modality}"
            horizon = max(2, round(8 * seconds))
            taken = _child("breakthrough", "black", "white", spec, IN_FLIGHT, IN_FLIGHT, horizon)
            calls, wall, busy = taken["calls"], taken["wall"], taken["cpu"] / taken["wall"]
            yield Row(
                f"{IN_FLIGHT} in flight, {modality}",
                calls / taken["cpu"],
                "calls/s",
                IN_FLIGHT / LATENCY,
                note=f"{calls:,} calls in {wall:.1f} s ({calls / wall:,.0f}/s), core {busy:.0%} busy, "
                f"{taken['megabytes']:.0f} of {MEGABYTES} MB",
            )


def _child(game: str, first: str, second: str, spec: str, *numbers: int) -> dict[str, Any]:
    """A run in a process of its own; what it took."""
    command = [sys.executable, "-m", "ludens.bench.run_child", game, first, second, spec, *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    taken: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return taken


@contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, str(_FOLDER / "run_server.py"), str(LATENCY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.stdin.close()
