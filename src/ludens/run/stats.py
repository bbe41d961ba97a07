"""Statistics of results: estimates with intervals, comparisons, classification scores.

Pure functions from numbers to small frozen results. Every interval is 95%; random draws use a generator made
from a fixed seed, and no result depends on the order of the episodes. What is not known is NaN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil, fsum, hypot, inf, isfinite, isnan, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

from ludens.core.random import stream

if TYPE_CHECKING:
    import numpy as np

LEVEL, POWER = 0.95, 0.8
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
        mean, low, high, error = (factor * x for x in (self.mean, self.low, self.high, self.standard_error))
        return Estimate(mean, low, high, self.n, error)

    def within(self, bounds: Bounds) -> Estimate:
        """The estimate with an interval that does not leave the bounds, unless the mean itself does."""
        low = self.low if isnan(self.low) else max(self.low, min(bounds[0], self.mean))
        high = self.high if isnan(self.high) else min(self.high, max(bounds[1], self.mean))
        return replace(self, low=low, high=high)

    def interval(self) -> dict[str, float | None]:
        """Mean, low and high end; None where a number is not finite."""
        return {name: finite(getattr(self, name)) for name in ("mean", "low", "high")}


def finite(number: float) -> float | None:
    return number if isfinite(number) else None


UNKNOWN = Estimate(nan, nan, nan, 0, nan)


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
        return UNKNOWN
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
        return UNKNOWN
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
    interval = wilson(share, share * (1 - share) / (reach / Z * error / width) ** 2)
    return bounds[0] + width * interval.low, bounds[0] + width * interval.high


def student(n: int) -> float:
    """How many standard errors of n values reach to the end of an interval."""
    from ludens.run.bootstrap import STUDENT

    if n - 2 < len(STUDENT):
        return STUDENT[n - 2]
    from scipy.special import stdtrit  # scipy.stats takes a second longer

    return float(stdtrit(n - 1, (1 + LEVEL) / 2))


def _bootstrap(
    sample: np.ndarray[Any, np.dtype[np.float64]], centre: float, spread: float, seed: int
) -> Bounds:
    """The interval of a sorted sample that is not constant."""
    import numpy as np

    from ludens.run.bootstrap import interval_of_mean

    n = len(sample)
    low, high = interval_of_mean(
        (sample - centre) / spread,
        # Resamples spread by sqrt((n - 1) / n) too little, and the spread itself is an estimate.
        1 - 2 * NormalDist().cdf(-student(n) * sqrt(n / (n - 1))),
        np.random.default_rng(stream(seed, "bootstrap").bits()),
        min(RESAMPLES, max(1_999, DRAWS_IN_ALL // n)),
        max(1, DRAWS_AT_ONCE // n),
        bca=n <= BCA_UP_TO,
    )
    low, high = centre + spread * low, centre + spread * high
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
    low, high = _as_estimate(low_anchor), _as_estimate(high_anchor)
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
    parts = zip((x, low, high), slopes, strict=True)
    to_x, to_low, to_high = (_reach(part, upwards=slope * sign > 0) for part, slope in parts)
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
        return UNKNOWN
    pairs = list(zip(weights, parts, strict=True))
    centre = sum(weight * part.mean for weight, part in pairs)
    down = hypot(*(weight * _reach(part, upwards=False) for weight, part in pairs))
    up = hypot(*(weight * _reach(part, upwards=True) for weight, part in pairs))
    error = hypot(*(weight * part.standard_error for weight, part in pairs))
    return Estimate(centre, centre - down, centre + up, sum(part.n for part in parts), error)


def _as_estimate(anchor: Estimate | float) -> Estimate:
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
    nonempty = [c for c in clusters if any(total for _, total in c.values())]
    classes = {kind for cluster in nonempty for kind, (_, total) in cluster.items() if total}
    n = len(nonempty)
    if not n:
        return UNKNOWN
    sums = {kind: [sum(c.get(kind, (0, 0))[i] for c in nonempty) for i in (0, 1)] for kind in classes}
    shares = {kind: part / total for kind, (part, total) in sums.items()}
    share = min(max(sum(shares.values()) / len(classes), 0.0), 1.0)
    if n == 1:
        return Estimate(share, nan, nan, 1, nan)
    apart = [
        sum((part - shares[kind] * total) / sums[kind][1] for kind, (part, total) in c.items() if total)
        for c in nonempty
    ]
    variance = sum(each**2 for each in apart) / len(classes) ** 2 * n / (n - 1)
    if not variance or isnan(variance):
        return replace(wilson(share, n), n=n)
    widened = variance * (student(n) / Z) ** 2
    return replace(wilson(share, share * (1 - share) / widened), n=n, standard_error=sqrt(variance))


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
    right = total = unreadable = 0
    for truth, answer in pairs:
        accepted = {truth} if isinstance(truth, str) else truth
        if not accepted:
            raise ValueError("the truth needs at least one label")
        total += 1
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
        rate(right, total), per_label, macro, labels, (*labels, UNREADABLE), confusion, unreadable
    )


def _score(confusion: tuple[tuple[float, ...], ...], i: int) -> LabelScore:
    right, support = confusion[i][i], fsum(confusion[i])
    answered = fsum(row[i] for row in confusion)
    precision, recall = right / answered if answered else nan, right / support if support else nan
    return LabelScore(precision, recall, 2 * right / (support + answered), support)


MAX_DISTINCT = 200
"""With more distinct differences, Student's t replaces the sign-flip test: they agree."""
SUBSETS = 9_999

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
    difference = Estimate(centre, low, high, n, float(sample.std(ddof=1)) / sqrt(n))
    if low == high and bounds is not None:  # equal differences: the interval of a rate, where it agrees
        wider = mean(sample, bounds=bounds)
        difference = wider if excludes_zero(wider) == excludes_zero(difference) else difference
    return Comparison(difference, p_value)


def _sign_flip_test(sample: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> tuple[Bounds, float]:
    """The 95% interval of the mean of at least two sorted values, and the p-value of a mean of 0."""
    import numpy as np

    n, largest = len(sample), float(np.abs(sample).max())
    values, counts = np.unique(sample, return_counts=True)
    dice = np.random.default_rng(stream(seed, "subsets").bits())
    if len(values) > MAX_DISTINCT:
        from scipy.special import stdtr

        centre, error = float(sample.mean()), float(sample.std(ddof=1)) / sqrt(n)
        reach = student(n) * error
        return (centre - reach, centre + reach), float(2 * stdtr(n - 1, -abs(centre) / error))
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


def seat_swapped(deals: Iterable[Sequence[float]], *, bounds: Bounds | None = None) -> Estimate:
    """The mean over deals; a deal is the results of one seed with the player in each seat in turn.

    Results of one deal share their luck, so a deal is one observation: `n` counts deals. If all deals have
    the same mean but single results differ (a win and a loss each time), the interval is that of the single
    results.
    """
    deals = [list(results) for results in deals]
    means = [sum(results) / len(results) for results in deals]
    singles = [result for results in deals for result in results]
    if len(set(means)) == 1 < len(set(singles)):
        return replace(mean(singles, bounds=bounds), n=len(means))
    return mean(means, bounds=bounds)


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


def clustered_mean(clusters: Iterable[Sequence[float]], *, bounds: Bounds | None = None) -> Estimate:
    """The mean over the episodes of all clusters, which may have different sizes; `n` counts clusters.

    Episodes of one cluster share what decides them (a picture), so the clusters are the observations: the
    variance is that of a ratio of sums, linearised, and the interval is that of as few values as there are
    clusters, never narrower than that of independent episodes. If all values are equal, the interval is a
    point, or, between two bounds, as wide as that of a rate of as many clusters.
    """
    groups = [list(cluster) for cluster in clusters if cluster]
    values = [value for cluster in groups for value in cluster]
    n, size, limits = len(groups), len(values), bounds or (-inf, inf)
    if not n:
        return UNKNOWN
    centre = fsum(values) / size
    if n == 1:
        return Estimate(centre, nan, nan, 1, nan)
    if max(values) == min(values):
        return _constant(centre, n, limits)
    apart = fsum(fsum(value - centre for value in cluster) ** 2 for cluster in groups)
    alone = fsum((value - centre) ** 2 for value in values) / (size - 1) / size
    error = sqrt(max(apart * n / (n - 1) / size**2, alone))
    low, high = _student(centre, error, n, limits)
    return Estimate(centre, min(low, centre), max(high, centre), n, error).within(limits)


def games_needed(a: Estimate, b: Estimate | float) -> int | None:
    """How many more games each player needs to show the observed difference with 80% probability.

    0 if it is significant (at 95%) already; None if the means are equal or unknown. For players on shared
    seeds pass their paired difference and 0.0: the answer counts seeds, and is smaller.

    Args:
        a: One player.
        b: The other player, or a number.
    """
    second = _as_estimate(b)
    apart = abs(a.mean - second.mean)
    if apart == 0 or isnan(apart) or isnan(a.standard_error) or isnan(second.standard_error):
        return None
    if apart > Z * hypot(a.standard_error, second.standard_error):
        return 0
    # va / (na + g) + vb / (nb + g) = target, solved for g.
    target = (apart / (Z + NormalDist().inv_cdf(POWER))) ** 2
    va, vb = a.n * a.standard_error**2 / target, second.n * second.standard_error**2 / target
    half = (va + vb - a.n - second.n) / 2
    more = half + sqrt(max(half**2 + va * second.n + vb * a.n - a.n * second.n, 0.0))
    return max(0, ceil(more - 1e-9))


def indistinguishable(
    image: Mapping[K, bool], blind: Mapping[K, bool], metric: str = "accuracy"
) -> tuple[bool, str]:
    """Whether accuracy with pictures and without cannot be distinguished, and a sentence that says so.

    Answers (right or wrong, by key) are compared by McNemar's exact test on the shared keys; where no key is
    shared, all of them by Fisher's exact test. Both are conservative: they err towards "not distinguishable".
    """
    if not image or not blind:
        return True, "there are no answers with and without pictures to compare."
    shared = [key for key in image if key in blind]
    if shared:
        image, blind = {key: image[key] for key in shared}, {key: blind[key] for key in shared}
    (right, total), (blind_right, blind_total) = ((sum(each.values()), len(each)) for each in (image, blind))
    if shared:
        gained = sum(image[key] and not blind[key] for key in shared)
        lost = sum(blind[key] and not image[key] for key in shared)
        n = gained + lost
        # Subsets of n by size, up to the rarer outcome: importing scipy.stats takes a second.
        subsets = accumulate(range(min(gained, lost)), lambda c, k: c * (n - k) // (k + 1), initial=1)
        p, where = min(1.0, 2 * sum(subsets) / 2**n), f" on the {len(shared)} shared episodes"
    else:
        from scipy import stats

        table = [[right, total - right], [blind_right, blind_total - blind_right]]
        p, where = float(stats.fisher_exact(table).pvalue), ""
    with_pictures = f"{right / total:.1%} with pictures ({right}/{total})"
    without = f"{blind_right / blind_total:.1%} blind ({blind_right}/{blind_total})"
    chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if p >= 1 - LEVEL:
        return True, f"{metric} {with_pictures} is not distinguishable from {without}{where}, {chance}."
    side = "above" if right / total > blind_right / blind_total else "below"
    return False, f"{metric} {with_pictures} is {side} {without}{where}, {chance}."
