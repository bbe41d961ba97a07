"""Estimates made of estimates: scores between two anchors, averages over games.

The two sides of each interval travel separately (as in the "method of variance estimates recovery" of Zou and
Donner), so that an interval that is not symmetric, like Wilson's near 0 or 1, stays so. What is combined must
come from different episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf, nan, sqrt
from typing import Any

from ludens.run.stats.estimate import Estimate, exactly


def normalised(x: Estimate, low_anchor: Estimate | float, high_anchor: Estimate | float) -> Estimate:
    """Where `x` lies between two anchors, as 100 (x - low) / (high - low), with the doubt about all three.

    The interval is Fieller's for a ratio. When the anchors themselves are not told apart any score would
    do: it is infinite then, and all is NaN when they are equal. An anchor given as a number is exact. A high
    anchor below the low one is right for scores where less is better.
    """
    low, high = _known(low_anchor), _known(high_anchor)
    gap = high.mean - low.mean
    if gap == 0:
        return Estimate(nan, nan, nan, x.n, nan)
    place = (x.mean - low.mean) / gap
    slopes = (1 / gap, (place - 1) / gap, -place / gap)
    ends = [_fieller(x, low, high, slopes, sign) for sign in (-1, 1)]
    if inf in ends or -inf in ends:
        return Estimate(100 * place, -inf, inf, x.n, inf)
    errors = [slope * part.standard_error for slope, part in zip(slopes, (x, low, high), strict=True)]
    return Estimate(100 * place, 100 * ends[0], 100 * ends[1], x.n, 100 * hypot(*errors))


def _fieller(x: Estimate, low: Estimate, high: Estimate, slopes: tuple[float, ...], sign: int) -> float:
    """The end of the interval below (sign -1) or above (sign 1).

    A root t of (D - t g)^2 = dx^2 + (1 - t)^2 dl^2 + t^2 dh^2 with D = x - low and g = high - low; each d is
    how far x, low or high reaches to the side that moves the score this way.
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


@dataclass(frozen=True, slots=True)
class MacroMicro:
    """The average in which every group counts the same, and the one in which every observation does."""

    macro: Estimate
    micro: Estimate


def macro_micro(groups: Mapping[Any, Estimate]) -> MacroMicro:
    """Both averages over groups (games, tasks). A group without observations makes the macro average NaN."""
    parts = list(groups.values())
    total = sum(part.n for part in parts)
    filled = [part for part in parts if part.n]
    return MacroMicro(
        macro=_weighted(parts, [1 / len(parts) for _ in parts]),
        micro=_weighted(filled, [part.n / total for part in filled]),
    )


def _weighted(parts: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """A sum of estimates with positive weights."""
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
    return part.high - part.mean if upwards else part.mean - part.low
