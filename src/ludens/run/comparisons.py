"""Compares entrants on shared seeds, and models with their blind controls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import ceil, isfinite, isnan
from types import MappingProxyType
from typing import Literal

from ludens.run.stats import Estimate, excludes_zero, games_needed, indistinguishable, paired_difference
from ludens.run.task import Group, Metric

MIN_NONZERO = 6
"""With fewer nonzero differences no sign-flip test falls below 5%: 2 / 2**5 = 6.25%."""

ALL_PAIRS_UP_TO = 6
"""With more entrants than this, each is compared only with the best of its task."""

Place = tuple[int, int, int]
"""Seed, seating and sample: episodes of two entrants with the same place can be compared."""
Values = Mapping[Place, float]
SeedMeans = Mapping[int, float]
Clusters = Mapping[int, str]
"""The cluster of each seed that has one."""
Verdict = Literal["a", "b", "open", "unpaired"]


@dataclass(frozen=True)
class Pair:
    """Two entrants on one task; all seatings of one seed, or of one cluster of seeds, are one observation."""

    a: str
    b: str
    task: str
    metric: Metric
    difference: Estimate
    """Of a - b; `n` counts seeds, or clusters of them."""
    p_value: float
    missing_episodes: int | None
    """Further episodes each needs until the difference is significant; None if that is unknown."""

    @property
    def verdict(self) -> Verdict:
        """Which entrant is better; open unless the interval excludes 0."""
        if self.difference.n == 0:
            return "unpaired"
        if not excludes_zero(self.difference):
            return "open"
        return "a" if (self.difference.mean > 0) == self.metric.higher_is_better else "b"


@dataclass(frozen=True)
class BlindControl:
    """The same model with blank pictures."""

    name: str
    estimate: Estimate
    """Of the task's first metric."""
    sees: bool
    """Whether the model is significantly better with pictures."""
    sentence: str


def pairs_to_compare(means: Mapping[str, float], higher_is_better: bool) -> list[tuple[str, str]]:
    """All pairs of entrants, or the best with each other one if there are many."""
    if len(means) <= ALL_PAIRS_UP_TO:
        return list(combinations(means, 2))
    sign = 1 if higher_is_better else -1
    best = max(means, key=lambda name: float("-inf") if isnan(means[name]) else sign * means[name])
    return [(best, name) for name in means if name != best]


def compare(
    metric: Metric,
    first: Values,
    second: Values,
    seatings: int,
    clusters: Clusters = MappingProxyType({}),
) -> Pair:
    """Compare the values of two entrants on the seeds that both played in all seatings."""
    return compare_seeds(
        metric, seed_means(first, seatings), seed_means(second, seatings), seatings, clusters
    )


def joint_clusters(first: Clusters, second: Clusters) -> Clusters:
    """The clusters of the seeds of two entrants: two seeds are alike where they are so for both."""
    return {
        seed: f"{first.get(seed, seed)} / {second.get(seed, seed)}" for seed in first.keys() & second.keys()
    }


def compare_seeds(
    metric: Metric,
    first: SeedMeans,
    second: SeedMeans,
    seatings: int,
    clusters: Clusters,
    *,
    a: str = "",
    b: str = "",
    task: str = "",
) -> Pair:
    """Compare the means of two entrants on the seeds that both have."""
    ours, theirs = _by_group(first, second, clusters), _by_group(second, first, clusters)
    least, greatest = metric.limits
    inside = all(least <= value <= greatest for value in (*ours.values(), *theirs.values()))
    bounded = inside and isfinite(width := greatest - least)
    comparison = paired_difference(ours, theirs, bounds=(-width, width) if bounded else None)
    episodes: int | None = 0
    if not excludes_zero(comparison.difference):
        nonzero = sum(value != theirs[group] for group, value in ours.items() if group in theirs)
        # More seeds of the same clusters need not show more.
        seeds = None if clusters else _seeds_needed(comparison.difference, nonzero)
        episodes = None if seeds is None else seeds * seatings
    return Pair(a, b, task, metric, comparison.difference, comparison.p_value, episodes)


def _seeds_needed(difference: Estimate, nonzero: int) -> int | None:
    """Enough further seeds for the normal approximation, and for the sign-flip test."""
    by_size = games_needed(difference, 0.0)
    if by_size is None or not nonzero:
        return None
    return max(by_size, ceil(difference.n * MIN_NONZERO / nonzero) - difference.n, 1)


def _by_group(means: SeedMeans, partner_means: SeedMeans, clusters: Clusters) -> Mapping[Group, float]:
    """The mean of each seed that others played too, or of the seeds of each cluster."""
    if not clusters:
        return {seed: value for seed, value in means.items() if seed in partner_means}
    groups: defaultdict[Group, list[float]] = defaultdict(list)
    for seed, value in means.items():
        if seed in partner_means:
            groups[clusters.get(seed, seed)].append(value)
    return {group: sum(some) / len(some) for group, some in groups.items()}


def seed_means(values: Values, seatings: int) -> SeedMeans:
    """The mean of each seed that was played in all seatings."""
    seeds: defaultdict[int, list[float]] = defaultdict(list)
    seatings_of: defaultdict[int, set[int]] = defaultdict(set)
    for (seed, seating, _), value in values.items():
        seeds[seed].append(value)
        seatings_of[seed].add(seating)
    return {seed: sum(some) / len(some) for seed, some in seeds.items() if len(seatings_of[seed]) == seatings}


def blind_control(
    name: str,
    metric: Metric,
    ours: tuple[Estimate, Values],
    blind: tuple[Estimate, Values],
    seatings: int,
    clusters: Clusters = MappingProxyType({}),
) -> BlindControl:
    (estimate, sighted), (control, blank) = ours, blind
    if sighted and blank and not clusters and {*sighted.values(), *blank.values()} <= {0.0, 1.0}:
        unclear, sentence = indistinguishable(_answers(sighted), _answers(blank), metric.name)
    else:
        unclear, sentence = _compare_means(metric, ours, blind, seatings, clusters)
    gain = estimate.mean - control.mean
    better = gain > 0 if metric.higher_is_better else gain < 0
    return BlindControl(name, control, better and not unclear, sentence)


def _answers(values: Values) -> dict[Place, bool]:
    return {place: value == 1.0 for place, value in values.items()}


def _compare_means(
    metric: Metric,
    ours: tuple[Estimate, Values],
    blind: tuple[Estimate, Values],
    seatings: int,
    clusters: Clusters,
) -> tuple[bool, str]:
    """As `indistinguishable`, for numbers other than right or wrong: paired if seeds are shared."""
    (a, sighted), (b, blank) = ours, blind
    paired = compare(metric, sighted, blank, seatings, clusters)
    if paired.difference.n:
        unclear, p = paired.verdict == "open", paired.p_value
        chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        detail = f" on the {paired.difference.n} shared {'clusters' if clusters else 'seeds'}, {chance}"
    else:
        unclear, detail = games_needed(a, b) != 0, ""
    scale, unit = (100, "%") if metric.percent else (1, "")
    with_pictures = f"{scale * a.mean:.3g}{unit} with pictures"
    without = f"{scale * b.mean:.3g}{unit} blind"
    relation = "not distinguishable from" if unclear else "above" if a.mean > b.mean else "below"
    return unclear, f"{metric.name} {with_pictures} is {relation} {without}{detail}."
