"""Counting how often something can be done in a second of one core.

The clock is the processor's, not the wall's, so that what else runs on the machine changes a figure little.
Everything measured here works in one thread and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time

ROUNDS = 3


def rate(work: Callable[[int], int], seconds: float) -> float:
    """How much `work` gets done a second: the median of three rounds, after one call to warm up.

    Args:
        work: Takes a seed, does something, and returns how many units that was.
        seconds: Time for all rounds together.
    """
    work(0)
    return median(_round(work, seconds / ROUNDS, 1_000_000 * number) for number in range(ROUNDS))


def _round(work: Callable[[int], int], seconds: float, seed: int) -> float:
    done, started = 0, process_time()
    while (spent := process_time() - started) < seconds or not done:
        seed += 1
        done += work(seed)
    return done / spent
