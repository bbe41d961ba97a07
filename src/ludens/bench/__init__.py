"""Benchmarks: figures measured on this machine, next to their targets. No benchmark fails because it is slow.

A benchmark is a function that yields rows; one entry in `BENCHES` adds it to `ludens bench`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Protocol

from ludens.core.errors import UnknownName
from ludens.core.loading import load

BENCHES: dict[str, str] = {
    "draw": "ludens.bench.draw:rows",
    "play": "ludens.bench.play:rows",
    "playground": "ludens.bench.playground:rows",
    "client": "ludens.bench.client:rows",
    "comma": "ludens.bench.comma:rows",
    "nano": "ludens.bench.nano:rows",
    "runs": "ludens.bench.runs:rows",
    "scenes": "ludens.bench.scenes:rows",
    "spy": "ludens.bench.spy:rows",
    "train": "ludens.bench.train:rows",
    "viki": "ludens.bench.viki:rows",
    "vs-bench": "ludens.bench.vs_bench:rows",
    "web": "ludens.bench.web:rows",
}
"""Name to "module:function"; the first line of the function's docstring says what is measured."""

DEFAULT = ("draw", "play")
"""What `ludens bench` runs when no name is given."""

SIZED = "train"
"""The benchmark that takes the size of a model."""

_ROUNDS = 3


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


class Bench(Protocol):
    """A benchmark; spends about `seconds` on each figure."""

    def __call__(self, seconds: float, **options: str) -> Iterable[Row]: ...


def bench(name: str) -> Bench:
    """Return the benchmark with this name."""
    if name not in BENCHES:
        raise UnknownName("benchmark", name, BENCHES)
    found: Bench = load(BENCHES[name])
    return found


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
    done, started = 0, process_time()
    while (spent := process_time() - started) < seconds or not done:
        seed += 1
        done += work(seed)
    return done / spent
