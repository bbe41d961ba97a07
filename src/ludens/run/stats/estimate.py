"""Numbers with 95% intervals: rates by Wilson's interval, means by the bootstrap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from ludens.core.random import stream

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

# With fewer values resamples are too similar to estimate the tails; with more than BCA_UP_TO values the
# correction of BCa is negligible, and its jackknife takes quadratic time.
BOOTSTRAP_FROM = 8
BCA_UP_TO = 2_000
RESAMPLES = 9_999
DRAWS_IN_ALL = 20_000_000
DRAWS_AT_ONCE = 2_000_000

Bounds = tuple[float, float]
"""The smallest and the largest possible value; infinite where there is none."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, its 95% interval and the number of observations.

    Without observations everything but `n` is NaN; with one, only the mean is known. Numbers of numpy become
    plain ones, which every format can write.
    """

    mean: float
    low: float
    high: float
    n: int
    standard_error: float

    def __post_init__(self) -> None:
        for name in ("mean", "low", "high", "standard_error"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "n", int(self.n))

    def scaled(self, factor: float) -> Estimate:
        """The estimate in another unit."""
        return Estimate(
            factor * self.mean,
            factor * self.low,
            factor * self.high,
            self.n,
            factor * self.standard_error,
        )

    def within(self, bounds: Bounds) -> Estimate:
        """The estimate with an interval that does not leave the bounds, unless the mean itself does."""
        low = self.low if isnan(self.low) else max(self.low, min(bounds[0], self.mean))
        high = self.high if isnan(self.high) else min(self.high, max(bounds[1], self.mean))
        return replace(self, low=low, high=high)


def exactly(value: float) -> Estimate:
    """A number without uncertainty: a published anchor, the optimum of a game."""
    return Estimate(float(value), float(value), float(value), 0, 0.0)


def rate(successes: int, n: int, *, effect: float = 1.0) -> Estimate:
    """A proportion of successes with Wilson's interval.

    The standard error is that at the centre of the interval, so that n of n does not appear certain.

    Args:
        successes: Number of successes.
        n: Number of trials.
        effect: Design effect: correlated trials are worth n / effect independent ones.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials")
    if n == 0:
        return Estimate(nan, nan, nan, 0, nan)
    return replace(wilson(successes / n, n / effect), n=int(n))


def mean(values: Iterable[float], *, bounds: Bounds | None = None, seed: int = 0) -> Estimate:
    """A mean with its bootstrap interval (BCa, the level widened as Student's t widens a normal interval).

    Without the widening, a bootstrap of ten values covers nearer 90% than 95%. Fewer than 8 values use
    Student's t; between two `bounds` they use Wilson's interval of as many independent things as have the
    same variance, widened likewise, which cannot leave the bounds. If all values are equal, the interval is a
    point, or, between two bounds, as wide as that of a rate of the same size.

    Args:
        values: Independent observations, finite.
        bounds: Of single values; the interval stays inside.
        seed: Seed of the resamples. The order of the values does not matter.
    """
    import numpy as np

    sample = np.sort(np.asarray([float(value) for value in values]))
    n = len(sample)
    if not np.isfinite(sample).all():
        raise ValueError("a mean needs finite values")
    if bounds is not None and n and not bounds[0] <= sample[0] <= sample[-1] <= bounds[1]:
        raise ValueError(f"values outside their bounds {bounds}")
    if n == 0:
        return Estimate(nan, nan, nan, 0, nan)
    centre, limits = float(sample.mean()), bounds or (-inf, inf)
    if n == 1:
        return Estimate(centre, nan, nan, 1, nan)
    spread = float(sample.std(ddof=1))
    if spread <= 1e-12 * float(np.abs(sample).max()):
        return _constant(centre, n, limits)
    if n >= BOOTSTRAP_FROM:
        low, high = _bootstrap(sample, centre, spread, seed)
    else:
        low, high = _student(centre, spread / sqrt(n), n, limits)
    return Estimate(centre, min(low, centre), max(high, centre), n, spread / sqrt(n)).within(limits)


def wilson(share: float, n: float) -> Estimate:
    """Wilson's interval of a share of n independent things; n need not be whole."""
    centre = (share * n + Z**2 / 2) / (n + Z**2)
    reach = Z * sqrt(n * share * (1 - share) + Z**2 / 4) / (n + Z**2)
    # Rounding must not leave 0 of n, or n of n, outside its own interval.
    low, high = min(max(centre - reach, 0.0), share), max(min(centre + reach, 1.0), share)
    return Estimate(share, low, high, int(n), sqrt(centre * (1 - centre) / n))


def _constant(value: float, n: int, bounds: Bounds) -> Estimate:
    width = bounds[1] - bounds[0]
    if not isfinite(width) or not width:
        return Estimate(value, value, value, n, 0.0)
    share = wilson(min(max((value - bounds[0]) / width, 0.0), 1.0), n)
    low, high = (min(max(bounds[0] + width * end, bounds[0]), bounds[1]) for end in (share.low, share.high))
    return Estimate(value, min(low, value), max(high, value), n, width * share.standard_error)


def _student(centre: float, error: float, n: int, bounds: Bounds) -> Bounds:
    """The interval of few values with this mean and standard error."""
    reach, width = student(n), bounds[1] - bounds[0]
    share = (centre - bounds[0]) / width if isfinite(width) and width else 0.0
    if not 0 < share < 1:
        return centre - reach * error, centre + reach * error
    found = wilson(share, share * (1 - share) / (reach / Z * error / width) ** 2)
    return bounds[0] + width * found.low, bounds[0] + width * found.high


def student(n: int) -> float:
    """How many standard errors of n values reach to the end of an interval."""
    from scipy import stats

    return float(stats.t.ppf((1 + LEVEL) / 2, n - 1))


def _bootstrap(
    sample: np.ndarray[Any, np.dtype[np.float64]], centre: float, spread: float, seed: int
) -> Bounds:
    """The interval of a sorted sample that is not constant."""
    import numpy as np
    from scipy import stats

    n = len(sample)
    found = stats.bootstrap(
        ((sample - centre) / spread,),
        # Rounded, so that equal means are ties on every machine: BCa counts ties.
        lambda resample, axis: np.round(np.mean(resample, axis=axis), 12),
        vectorized=True,
        # Resamples spread by sqrt((n - 1) / n) too little, and the spread itself is an estimate.
        confidence_level=1 - 2 * NormalDist().cdf(-student(n) * sqrt(n / (n - 1))),
        method="BCa" if n <= BCA_UP_TO else "percentile",
        n_resamples=min(RESAMPLES, max(1_999, DRAWS_IN_ALL // n)),
        batch=max(1, DRAWS_AT_ONCE // n),
        rng=np.random.default_rng(stream(seed, "bootstrap").bits()),
    ).confidence_interval
    low, high = centre + spread * float(found.low), centre + spread * float(found.high)
    return max(low, float(sample[0])), min(high, float(sample[-1]))
