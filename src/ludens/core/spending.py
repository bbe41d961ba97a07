"""Counts the seconds that this process spends on each kind of work, to measure where time goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

_SPENT: defaultdict[str, float] = defaultdict(float)


@contextmanager
def spending(kind: str) -> Iterator[None]:
    """Count the time spent in the `with` block as this kind of work."""
    began = perf_counter()
    try:
        yield
    finally:
        _SPENT[kind] += perf_counter() - began


def spend(kind: str, seconds: float) -> None:
    """Count time that another process took for this kind of work."""
    _SPENT[kind] += seconds


def spent(kind: str) -> float:
    """Seconds since the process began."""
    return _SPENT[kind]
