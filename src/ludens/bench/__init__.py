"""Benchmarks: figures of this machine, printed beside what we aim for. Nothing here asserts a time.

A benchmark is a function that yields rows; one line in `BENCHES` adds it to `ludens bench`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ludens.core.errors import UnknownName
from ludens.core.loading import load

BENCHES: dict[str, str] = {
    "draw": "ludens.bench.draw:rows",
    "play": "ludens.bench.play:rows",
    "playground": "ludens.bench.playground:rows",
    "client": "ludens.bench.client:rows",
    "comma": "ludens.bench.comma:rows",
    "runs": "ludens.bench.runs:rows",
    "vs-bench": "ludens.bench.vs_bench:rows",
}
"""Name to "module:function"; the first line of the function's docstring says what is measured."""

USUAL = ("draw", "play")
"""What `ludens bench` runs when none is named."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    what: str
    value: float | None
    """None when it could not be measured; `note` says why."""
    unit: str
    target: float | None = None
    ratio: float | None = None
    """Ours divided by this figure, where it is of another system doing the same work."""
    note: str = ""


class Bench(Protocol):
    """Measures for about `seconds` a figure."""

    def __call__(self, seconds: float) -> Iterable[Row]: ...


def bench(name: str) -> Bench:
    """The benchmark of this name."""
    if name not in BENCHES:
        raise UnknownName("benchmark", name, BENCHES)
    found: Bench = load(BENCHES[name])
    return found
