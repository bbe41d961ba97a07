"""The bootstrap interval of a mean, as `scipy.stats.bootstrap` has it: importing that takes seconds, in the
first run of an installation four."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

Sample = np.ndarray[Any, np.dtype[np.float64]]
_NORMAL = NormalDist()
STUDENT = (
    12.706204736174694,
    4.302652729749462,
    3.1824463052837078,
    2.7764451051977934,
    2.5705818356363146,
    2.4469118511449786,
    2.364624251592784,
    2.306004135204166,
    2.262157162798205,
    2.228138851986274,
    2.200985160091639,
    2.1788128296672284,
    2.1603686564627913,
    2.144786687917804,
    2.131449545559776,
)
"""Student's t for 2, 3, ... values and 95%: importing scipy takes longer than reporting a small run."""


def interval_of_mean(
    sample: Sample, level: float, random: np.random.Generator, resamples: int, at_once: int, *, bca: bool
) -> tuple[float, float]:
    """The percentile interval, or with `bca` that which corrects bias and skewness (Efron and Tibshirani
    1993, 14.3).

    Args:
        sample: Not constant.
        at_once: Resamples drawn at once: the numbers drawn depend on it.
    """
    means = np.concatenate([*_resampled(sample, random, resamples, at_once)])
    ends = [(1 - level) / 2, (1 + level) / 2]
    if bca:
        bias, skewness = _bias(means, sample), _acceleration(sample)
        reaches = [bias + _NORMAL.inv_cdf(end) for end in ends]
        ends = [_NORMAL.cdf(bias + reach / (1 - skewness * reach)) for reach in reaches]
    low, high = np.quantile(means, ends)
    return float(low), float(high)


def _resampled(sample: Sample, random: np.random.Generator, resamples: int, at_once: int) -> Iterator[Sample]:
    for begin in range(0, resamples, at_once):
        shape = min(at_once, resamples - begin), len(sample)
        yield _mean(sample[random.integers(0, len(sample), shape)])


def _mean(values: Sample) -> Sample:
    """Rounded, so that equal means are ties on every machine: BCa counts ties."""
    rounded: Sample = np.round(np.asarray(np.mean(values, axis=-1)), 12)
    return rounded


def _bias(means: Sample, sample: Sample) -> float:
    centre = _mean(sample)
    below = (np.count_nonzero(means < centre) + np.count_nonzero(means <= centre)) / (2 * len(means))
    return _NORMAL.inv_cdf(float(below))


def _acceleration(sample: Sample) -> float:
    """From the means without one value each."""
    n = len(sample)
    without = np.round(np.asarray((sample.sum() - sample) / (n - 1)), 12)
    influence = (n - 1) * (without.mean() - without)
    return float(np.sum(influence**3) / n**3 / (6 * (np.sum(influence**2) / n**2) ** 1.5))
