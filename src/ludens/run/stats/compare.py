"""Comparisons: on shared seeds, with swapped seats, with and without pictures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, isnan, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

from ludens.core.random import stream
from ludens.run.stats.estimate import LEVEL, Bounds, Estimate, Z, exactly, mean, rate

if TYPE_CHECKING:
    import numpy as np

# With more differences than this, Student's t and the sign-flip test agree.
FLIP_UP_TO = 100
FLIPS = 9_999

Tally = tuple[int, int]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of a - b over the `difference.n` shared keys, and its p-value."""

    difference: Estimate
    p_value: float


def paired_difference(
    a: Mapping[K, float], b: Mapping[K, float], *, bounds: Bounds | None = None, seed: int = 0
) -> Comparison:
    """Compare two players on shared keys (seeds).

    The p-value is that of a sign-flip test of the mean difference: exact up to 13 nonzero differences, with
    9,999 random flips up to 100, and by Student's t beyond.

    Args:
        a: Result by key.
        b: Result by key.
        bounds: The smallest and the largest possible *difference*, as in `mean`.
        seed: Seed of the resamples and flips.
    """
    import numpy as np

    differences = np.sort(np.asarray([float(a[key]) - float(b[key]) for key in a if key in b]))
    return Comparison(mean(differences, bounds=bounds, seed=seed), _flip_test(differences, seed))


def _flip_test(differences: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> float:
    """The proportion of sign assignments whose mean is at least as far from 0."""
    import numpy as np
    from scipy import stats

    if len(differences) == 0:
        return nan
    nonzero = np.sort(np.abs(differences[differences != 0]))
    if len(nonzero) > FLIP_UP_TO:
        error = float(differences.std(ddof=1)) / sqrt(len(differences))
        if error > 1e-12 * nonzero[-1]:
            return float(2 * stats.t.sf(abs(float(differences.mean())) / error, len(differences) - 1))
        return float(2.0 ** (1 - len(nonzero)))
    exact = 2 ** len(nonzero) <= FLIPS
    if exact:
        flips = np.arange(2 ** len(nonzero))[:, None] >> np.arange(len(nonzero)) & 1
    else:
        dice = np.random.default_rng(stream(seed, "flips").bits())
        flips = dice.integers(0, 2, (FLIPS, len(nonzero)))
    # The tolerance makes sums equal that differ by rounding only.
    extreme = int((np.abs((2 * flips - 1) @ nonzero) >= abs(differences.sum()) - 1e-9 * nonzero.sum()).sum())
    return extreme / len(flips) if exact else (extreme + 1) / (len(flips) + 1)


def seat_swapped(
    deals: Iterable[Sequence[float]], *, bounds: Bounds | None = None, seed: int = 0
) -> Estimate:
    """The mean over deals; a deal is the results of one seed with the player in each seat in turn.

    Results of one deal share their luck, so a deal is one observation: `n` counts deals. If all deals have
    the same mean but single results differ (a win and a loss each time), the interval is that of the single
    results.
    """
    known = [list(results) for results in deals]
    means = [sum(results) / len(results) for results in known]
    singles = [result for results in known for result in results]
    if len(set(means)) == 1 < len(set(singles)):
        return replace(mean(singles, bounds=bounds, seed=seed), n=len(means))
    return mean(means, bounds=bounds, seed=seed)


def seat_swapped_rate(deals: Iterable[Sequence[bool]]) -> Estimate:
    """The proportion of successes over deals as in `seat_swapped`, by Wilson's interval; `n` counts episodes.

    Episodes of one deal may be correlated: the interval is widened by the design effect. It is never narrower
    than that of independent episodes, because few deals cannot show a design effect below 1.
    """
    groups = [deal for deal in deals if deal]
    n, successes = sum(map(len, groups)), sum(map(sum, groups))
    if len(groups) in (0, 1, n) or successes in (0, n):
        return rate(successes, n)
    share = successes / n
    apart = sum((sum(deal) - share * len(deal)) ** 2 for deal in groups) * len(groups) / (len(groups) - 1)
    return rate(successes, n, effect=max(1.0, apart / (n * share * (1 - share))))


def games_needed(a: Estimate, b: Estimate | float, power: float = 0.8) -> int | None:
    """How many more games each player needs until the observed difference is significant.

    0 if it is significant (at 95%) already; None if the means are equal or unknown. For players on shared
    seeds pass their paired difference and 0.0: the answer counts seeds, and is smaller.

    Args:
        a: One player.
        b: The other player, or a number.
        power: The probability that this many games show the difference.
    """
    if not 0 < power < 1:
        raise ValueError(f"power must be between 0 and 1, not {power}")
    other = b if isinstance(b, Estimate) else exactly(b)
    apart = abs(a.mean - other.mean)
    if apart == 0 or isnan(apart) or isnan(a.standard_error) or isnan(other.standard_error):
        return None
    if apart > Z * hypot(a.standard_error, other.standard_error):
        return 0
    # va / (na + g) + vb / (nb + g) = target, solved for g.
    target = (apart / (Z + NormalDist().inv_cdf(power))) ** 2
    va, vb = a.n * a.standard_error**2 / target, other.n * other.standard_error**2 / target
    half = (va + vb - a.n - other.n) / 2
    more = half + sqrt(max(half**2 + va * other.n + vb * a.n - a.n * other.n, 0.0))
    return max(0, ceil(more - 1e-9))


def indistinguishable(
    image: Tally | Mapping[K, bool], blind: Tally | Mapping[K, bool], what: str = "accuracy"
) -> tuple[bool, str]:
    """Whether accuracy with pictures and without cannot be distinguished, and a sentence that says so.

    Tallies (right, asked) are compared by Fisher's exact test; answers by key by McNemar's exact test on the
    shared keys. Both are conservative: they err towards "not distinguishable".
    """
    from scipy import stats

    where = ""
    shared: list[K] = []
    if isinstance(image, Mapping) and isinstance(blind, Mapping):
        shared = [key for key in image if key in blind]
        if shared:
            gained = sum(bool(image[key]) and not blind[key] for key in shared)
            lost = sum(bool(blind[key]) and not image[key] for key in shared)
            p = float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
            image, blind = {key: image[key] for key in shared}, {key: blind[key] for key in shared}
            where = f" on the {len(shared)} shared episodes"
    (right, asked), (blind_right, blind_asked) = _tally(image), _tally(blind)
    if not asked or not blind_asked:
        return True, "there are no answers with and without pictures to compare."
    if not shared:
        table = [[right, asked - right], [blind_right, blind_asked - blind_right]]
        p = float(stats.fisher_exact(table).pvalue)
    seen = f"{right / asked:.1%} with pictures ({right}/{asked})"
    unseen = f"{blind_right / blind_asked:.1%} blind ({blind_right}/{blind_asked})"
    chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if p >= 1 - LEVEL:
        return True, f"{what} {seen} is not distinguishable from {unseen}{where}, {chance}."
    side = "above" if right / asked > blind_right / blind_asked else "below"
    return False, f"{what} {seen} is {side} {unseen}{where}, {chance}."


def _tally(answers: Tally | Mapping[Any, bool]) -> Tally:
    if isinstance(answers, Mapping):
        return sum(map(bool, answers.values())), len(answers)
    right, asked = answers
    if not 0 <= right <= asked:
        raise ValueError(f"{right} right of {asked} asked")
    return int(right), int(asked)
