"""Estimates computed from estimates: normalisation between two anchors, averages over tasks.

The two sides of each interval are propagated separately (the "method of variance estimates recovery" of Zou
and Donner), so that asymmetric intervals, like Wilson's near 0 or 1, stay asymmetric. The estimates must come
from different episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, inf, nan, sqrt
from typing import Any

from ludens.run.stats.estimate import Bounds, Estimate, exactly

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
