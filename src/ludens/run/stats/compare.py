"""Comparisons on shared seeds, with swapped seats, with and without pictures; classification scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil, fsum, hypot, inf, isnan, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

from ludens.core.random import stream
from ludens.run.stats.estimate import LEVEL, Bounds, Estimate, Z, exactly, mean, rate

if TYPE_CHECKING:
    import numpy as np


UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Scores of one label. Precision is NaN if it was never answered, recall if it was never the truth."""

    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True, slots=True)
class Classification:
    """Scores of all answers.

    `confusion` has a row for each of `labels` (the truth) and a column for each of `columns` (the answer):
    the labels, then "unreadable". Macro-F1 is over every label that was the truth or an answer.
    """

    accuracy: Estimate
    per_label: Mapping[str, LabelScore]
    macro_f1: float
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]
    unreadable: int


def classification(pairs: Iterable[tuple[str | Set[str], str | None]]) -> Classification:
    """Score (truth, answer) pairs; an answer of None was unreadable and counts as wrong.

    The truth may be a set of labels that are all right (actions with the same outcome). A right answer then
    counts as the truth; a wrong one is divided equally among the right labels.
    """
    cells: defaultdict[tuple[str, str | None], list[float]] = defaultdict(list)
    right = asked = unreadable = 0
    for truth, answer in pairs:
        accepted = {truth} if isinstance(truth, str) else truth
        if not accepted:
            raise ValueError("the truth needs at least one label")
        asked += 1
        right += answer in accepted
        unreadable += answer is None
        if answer is not None and answer in accepted:
            cells[answer, answer].append(1.0)
        else:
            for label in accepted:
                cells[label, answer].append(1 / len(accepted))
    counts = {cell: fsum(shares) for cell, shares in cells.items()}
    labels = tuple(sorted({name for cell in counts for name in cell if name is not None}))
    answers: tuple[str | None, ...] = (*labels, None)
    confusion = tuple(tuple(counts.get((row, column), 0.0) for column in answers) for row in labels)
    per_label = {label: _score(confusion, i) for i, label in enumerate(labels)}
    macro = fsum(score.f1 for score in per_label.values()) / len(labels) if labels else nan
    return Classification(
        rate(right, asked), per_label, macro, labels, (*labels, UNREADABLE), confusion, unreadable
    )


def _score(confusion: tuple[tuple[float, ...], ...], i: int) -> LabelScore:
    right, support = confusion[i][i], fsum(confusion[i])
    answered = fsum(row[i] for row in confusion)
    return LabelScore(
        precision=right / answered if answered else nan,
        recall=right / support if support else nan,
        f1=2 * right / (support + answered),
        support=support,
    )


MAX_DISTINCT = 200
"""With more distinct differences, Student's t replaces the sign-flip test: they agree."""
SUBSETS = 9_999

Tally = tuple[int, int]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of a - b over the `difference.n` shared keys, and its p-value: below 5% exactly if the
    interval excludes 0."""

    difference: Estimate
    p_value: float


def excludes_zero(difference: Estimate) -> bool:
    """Whether a difference is significant: the one rule behind every verdict."""
    return difference.low > 0 or difference.high < 0


def paired_difference(
    a: Mapping[K, float], b: Mapping[K, float], *, bounds: Bounds | None = None, seed: int = 0
) -> Comparison:
    """Compare two players on shared keys (seeds) by a sign-flip test of the mean difference.

    Interval and p-value come from one test, so they cannot disagree: the interval is the set of all true
    differences that the test does not reject at 5%. Flipping the signs of a subset of the values x - d
    raises their sum exactly if the mean of the subset is below d, so the one-sided p-values at every d are
    proportions of subset means, and the ends of the interval are quantiles of them (Hartigan 1969). All
    subsets are used up to 13 keys and 9,999 random ones beyond; with more than 200 distinct differences
    Student's t gives both. With fewer than 6 keys nothing is significant, and the interval is unbounded.

    Args:
        a: Result by key.
        b: Result by key.
        bounds: The smallest and the largest possible difference; the interval stays inside.
        seed: Seed of the random subsets.
    """
    import numpy as np

    sample = np.sort(np.asarray([float(a[key]) - float(b[key]) for key in a if key in b]))
    if not np.isfinite(sample).all():
        raise ValueError("a comparison needs finite values")
    n = len(sample)
    if n < 2:
        return Comparison(mean(sample), 1.0 if n else nan)
    mirrored = tuple(sample) < tuple(-sample[::-1])  # so that b - a gives the same numbers
    (low, high), p_value = _sign_flip_test(-sample[::-1] if mirrored else sample, seed)
    if mirrored:
        low, high = -high, -low
    centre = min(max(float(sample.mean()), float(sample[0])), float(sample[-1]))
    least, greatest = bounds or (-inf, inf)
    low, high = max(min(low, centre), least), min(max(high, centre), greatest)
    found = Estimate(centre, low, high, n, float(sample.std(ddof=1)) / sqrt(n))
    if low == high and bounds is not None:  # equal differences: the interval of a rate, where it agrees
        wider = mean(sample, bounds=bounds)
        found = wider if excludes_zero(wider) == excludes_zero(found) else found
    return Comparison(found, p_value)


def _sign_flip_test(sample: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> tuple[Bounds, float]:
    """The 95% interval of the mean of at least two sorted values, and the p-value of a mean of 0."""
    import numpy as np
    from scipy import stats

    n, largest = len(sample), float(np.abs(sample).max())
    values, counts = np.unique(sample, return_counts=True)
    dice = np.random.default_rng(stream(seed, "subsets").bits())
    if len(values) > MAX_DISTINCT:
        centre, error = float(sample.mean()), float(sample.std(ddof=1)) / sqrt(n)
        reach = float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * error
        return (centre - reach, centre + reach), float(2 * stats.t.sf(abs(centre) / error, n - 1))
    if 2**n <= SUBSETS:
        members = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
    elif n <= MAX_DISTINCT:
        members = dice.integers(0, 2, (SUBSETS, n))
    else:  # how many of the equal values belong to a subset
        sample, members = values, dice.binomial(counts, 0.5, (SUBSETS, len(values)))
    sums, sizes = members @ sample, members.sum(axis=1)
    # The empty subset, which flips nothing, is as extreme as any true difference.
    always, total = 1 + int((sizes == 0).sum()), 1 + len(sums)
    means = np.sort(np.clip(sums[sizes > 0] / sizes[sizes > 0], values[0], values[-1]))
    means[np.abs(means) <= 1e-9 * largest] = 0.0  # sums that differ from 0 by rounding only
    rejected = -(-total // 40) - 1 - always  # index of the first mean that is not in the tail of 2.5%
    interval = (-inf, inf) if rejected < 0 else (float(means[rejected]), float(means[-1 - rejected]))
    extreme = always + min(int((means <= 0).sum()), int((means >= 0).sum()))
    return interval, min(1.0, 2 * extreme / total)


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
