"""Benchmarks: figures measured on this machine, next to their targets.

A benchmark is a function that yields rows; one entry in `BENCHES` adds it to `ludens bench`. They are not in
the package, so that the same benchmark can measure two checkouts of it (`benchmarks.against`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Protocol

from ludens.core.errors import UnknownName
from ludens.core.loading import load

BENCHES: dict[str, str] = {
    "draw": "benchmarks.draw:rows",
    "frames": "benchmarks.frames:rows",
    "gym": "benchmarks.gym:rows",
    "play": "benchmarks.play:rows",
    "playground": "benchmarks.playground:rows",
    "client": "benchmarks.client:rows",
    "comma": "benchmarks.comma:rows",
    "people": "benchmarks.web_play:people_rows",
    "nano": "benchmarks.nano:rows",
    "rows": "benchmarks.rows:rows",
    "runs": "benchmarks.runs:rows",
    "scenes": "benchmarks.scenes:rows",
    "spy": "benchmarks.spy:rows",
    "train": "benchmarks.train:rows",
    "viki": "benchmarks.viki:rows",
    "vs-bench": "benchmarks.vs_bench:rows",
    "web": "benchmarks.web:rows",
}
"""Name to "module:function"; the first line of the function's docstring says what is measured."""

DEFAULT = ("draw", "frames", "play")
"""What `ludens bench` runs when no name is given."""

SIZED = "train"
"""The benchmark that takes the size of a model."""

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: where a child process finds this package."""

_ROUNDS = 3
_RATES = ("/s", "/min", "/h")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    what: str
    value: float | None
    """None when it could not be measured; `note` says why."""
    unit: str
    target: float | None = None
    ratio: float | None = None
    """Our figure divided by this one, where this is another system doing the same work."""
    note: str = ""

    @property
    def is_rate(self) -> bool:
        """Whether more is better; of times and sizes, less is."""
        return self.unit.endswith(_RATES)

    @property
    def misses_target(self) -> bool:
        """Whether it was measured, has a target and does not reach it."""
        if self.value is None or self.target is None:
            return False
        return self.value < self.target if self.is_rate else self.value > self.target


class Bench(Protocol):
    """A benchmark; spends about `seconds` on each figure."""

    def __call__(self, seconds: float, **options: str) -> Iterable[Row]: ...


def bench(name: str) -> Bench:
    """Return the benchmark with this name."""
    if name not in BENCHES:
        raise UnknownName("benchmark", name, BENCHES)
    benchmark: Bench = load(BENCHES[name])
    return benchmark


def figures_of(module: str, *words: object) -> dict[str, Any]:
    """Run a module in a process of its own: the figures that it prints as JSON in its last line."""
    command = [sys.executable, "-m", module, *map(str, words)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return figures


def rate(work: Callable[[int], int], seconds: float) -> float:
    """Units of work per second of CPU time: the median of three rounds, after one warm-up call.

    CPU time, so that other processes on the machine change the figure little. `work` must be
    single-threaded and must not wait.

    Args:
        work: Takes a seed, does something and returns how many units that was.
        seconds: Time for all rounds together.
    """
    work(0)
    return median(_round(work, seconds / _ROUNDS, 1_000_000 * number) for number in range(_ROUNDS))


def _round(work: Callable[[int], int], seconds: float, seed: int) -> float:
    units, began = 0, process_time()
    while (spent := process_time() - began) < seconds or not units:
        seed += 1
        units += work(seed)
    return units / spent
