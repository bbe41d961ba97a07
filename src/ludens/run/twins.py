"""Metrics over pairs of twin worlds: a pair counts where the answers in both worlds are right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ludens.core.twins import MARKS, pair_of
from ludens.run.comparisons import Place
from ludens.run.stats import Estimate
from ludens.run.task import EpisodeResult, Metric, Observation, groups_of, mean_over_groups

Marks = str
"""One sign per answer that differs between the worlds: `1` where it is right, else `0`."""


@lru_cache(maxsize=1 << 12)
def pair_score(first: Marks, second: Marks) -> float:
    """The share of the answers that are right in both worlds."""
    both = [*zip(first, second, strict=False)].count(("1", "1"))
    return both / max(len(first), len(second), 1)


def pair_scores(values: Mapping[Place, Marks]) -> dict[Place, float]:
    """The score of each complete pair, under the place of its first world."""
    return {
        (seed, seating, sample): pair_score(marks, values[twin])
        for (seed, seating, sample), marks in values.items()
        if seed % 2 == 0 and (twin := (seed + 1, seating, sample)) in values
    }


def both_of(
    right: Callable[[EpisodeResult], bool | None] | None = None, about: str = "", name: str = "both"
) -> Metric:
    """The share of pairs whose two answers are right; a player that never looks and never throws dice has 0.

    Args:
        right: Whether the answer of an episode is right, where it has one; by default the fact `marks` says
            which of its answers are right, and the share of them that are right in both worlds counts.
        about: What is right, for the legend.
        name: Name of the metric.
    """

    def value(result: EpisodeResult) -> Marks | None:
        if right is None:
            marks: Marks | None = result.episode.facts.get(MARKS)
            return marks
        answer = right(result)
        return None if answer is None else "1" if answer else "0"

    return Metric(
        name, value, _combine, percent=True, paired=False, twins=True,
        about=about or "pairs of twin worlds (same words, other pictures) with the right answer in both",
    )  # fmt: skip


def _combine(observations: Sequence[Observation]) -> Estimate:
    """The mean over pairs; an incomplete pair does not count, and pairs of one cluster count as one."""
    worlds: defaultdict[int, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    clusters: dict[int, str] = {}
    for group, marks in observations:
        assert isinstance(group, tuple)
        seed, cluster = group
        pair = pair_of(seed)
        worlds[pair][seed % 2].append(marks)
        clusters[pair] = cluster
    complete = {
        pair: [pair_score(a, b) for a, b in zip(first, second, strict=True)]
        for pair, (first, second) in worlds.items()
        if first and len(first) == len(second)
    }
    groups = groups_of(list(complete), [clusters[pair] for pair in complete])
    scores: list[Observation] = [
        (group, score) for group, some in zip(groups, complete.values(), strict=True) for score in some
    ]
    return mean_over_groups(scores, rate=all(score in (0.0, 1.0) for _, score in scores))


def with_twins(game: str) -> str:
    """The spec of a game with the option `twins`."""
    return f"{game}{'&' if '?' in game else '?'}twins=true"
