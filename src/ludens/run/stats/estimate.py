"""Numbers with 95% intervals: rates by Wilson's interval, means by the bootstrap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, isnan, nan, sqrt
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


OPTIMUM = 100.0


def normalised(
    x: Estimate,
    low_anchor: Estimate | float,
    high_anchor: Estimate | float,
    bounds: Bounds | None = None,
) -> Estimate:
    """Position of `x` between two anchors, 100 (x - low) / (high - low), with the uncertainty of all three.

    The interval is Fieller's for a ratio, which is infinite when the intervals of the anchors overlap too
    much. It ends at the `bounds` of single values of `x`, and at 100, optimal play, unless the mean is above
    that: then the anchor is the best known player and not the optimum. Everything is NaN when the anchors are
    equal. An anchor given as a number is exact. The high anchor may be below the low one, for scores where
    lower is better.
    """
    low, high = _known(low_anchor), _known(high_anchor)
    gap = high.mean - low.mean
    if gap == 0:
        return Estimate(nan, nan, nan, x.n, nan)
    place = (x.mean - low.mean) / gap
    slopes = (1 / gap, (place - 1) / gap, -place / gap)
    ends = [_fieller(x, low, high, slopes, sign) for sign in (-1, 1)]
    least, greatest = sorted(OPTIMUM * (bound - low.mean) / gap for bound in bounds or (-inf, inf))
    limits = least, min(greatest, OPTIMUM) if place <= 1 else greatest
    if inf in ends or -inf in ends:
        return Estimate(100 * place, -inf, inf, x.n, inf).within(limits)
    errors = [slope * part.standard_error for slope, part in zip(slopes, (x, low, high), strict=True)]
    return Estimate(100 * place, 100 * ends[0], 100 * ends[1], x.n, 100 * hypot(*errors)).within(limits)


def _fieller(x: Estimate, low: Estimate, high: Estimate, slopes: tuple[float, ...], sign: int) -> float:
    """The lower (sign -1) or upper (sign 1) end of the interval.

    A root t of (D - t g)^2 = dx^2 + (1 - t)^2 dl^2 + t^2 dh^2 with D = x - low and g = high - low; each d is
    the half-width of the interval of x, low or high on the side that moves the score in this direction.
    """
    to_x, to_low, to_high = (
        _reach(part, upwards=slope * sign > 0) for part, slope in zip((x, low, high), slopes, strict=True)
    )
    over, gap = x.mean - low.mean, high.mean - low.mean
    square = gap**2 - to_low**2 - to_high**2
    if square <= 0:
        return sign * inf
    half = over * gap - to_low**2
    rest = over**2 - to_x**2 - to_low**2
    return (half + sign * sqrt(max(half**2 - square * rest, 0.0))) / square


def macro_average(groups: Mapping[Any, Estimate]) -> Estimate:
    """The mean in which every group (game, task) has the same weight; NaN if one has no observations."""
    return weighted_sum(list(groups.values()), [1 / len(groups) for _ in groups])


def micro_average(groups: Mapping[Any, Estimate]) -> Estimate:
    """The mean in which every observation has the same weight."""
    parts = [part for part in groups.values() if part.n]
    total = sum(part.n for part in parts)
    return weighted_sum(parts, [part.n / total for part in parts])


def weighted_sum(parts: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """A sum of independent estimates with positive weights."""
    if not parts:
        return Estimate(nan, nan, nan, 0, nan)
    pairs = list(zip(weights, parts, strict=True))
    centre = sum(weight * part.mean for weight, part in pairs)
    down = hypot(*(weight * _reach(part, upwards=False) for weight, part in pairs))
    up = hypot(*(weight * _reach(part, upwards=True) for weight, part in pairs))
    error = hypot(*(weight * part.standard_error for weight, part in pairs))
    return Estimate(centre, centre - down, centre + up, sum(part.n for part in parts), error)


def _known(anchor: Estimate | float) -> Estimate:
    return anchor if isinstance(anchor, Estimate) else exactly(anchor)


def _reach(part: Estimate, *, upwards: bool) -> float:
    """Half-width of the interval on one side."""
    return part.high - part.mean if upwards else part.mean - part.low


Counts = Mapping[str, tuple[int, int]]
"""For each class, how many hold and how many there are."""


def pooled_share(clusters: Iterable[Counts]) -> Estimate:
    """The share over all clusters of those that hold: the mean over classes where there are several.

    Not the mean of each cluster's share: a game of forty moves counts ten times as much as one of four. What
    belongs to one cluster is correlated, so clusters are the observations (`n`): the variance is that of a
    ratio of sums, linearised, and Wilson's interval is that of as many independent things as have it, widened
    as Student's t widens a normal interval. Where all or none hold, clusters count as single things.
    """
    known = [c for c in clusters if any(whole for _, whole in c.values())]
    classes = {kind for cluster in known for kind, (_, whole) in cluster.items() if whole}
    n = len(known)
    if not n:
        return Estimate(nan, nan, nan, 0, nan)
    sums = {kind: [sum(c.get(kind, (0, 0))[i] for c in known) for i in (0, 1)] for kind in classes}
    shares = {kind: part / whole for kind, (part, whole) in sums.items()}
    share = min(max(sum(shares.values()) / len(classes), 0.0), 1.0)
    if n == 1:
        return Estimate(share, nan, nan, 1, nan)
    apart = [
        sum((part - shares[kind] * whole) / sums[kind][1] for kind, (part, whole) in c.items() if whole)
        for c in known
    ]
    variance = sum(each**2 for each in apart) / len(classes) ** 2 * n / (n - 1)
    if not variance or isnan(variance):
        return replace(wilson(share, n), n=n)
    widened = variance * (student(n) / Z) ** 2
    found = wilson(share, share * (1 - share) / widened)
    return replace(found, n=n, standard_error=sqrt(variance))
