"""One entrant at one task: the episodes that count, what was measured over them, how the entrant behaved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from ludens.core.episode import Episode, Usage
from ludens.core.spec import parse_spec
from ludens.models import MODELS
from ludens.run.against import Control, is_blind
from ludens.run.stats import Estimate
from ludens.run.task import EpisodeResult, Metric, Task

Place = tuple[int, int]
"""Seed and seating: episodes of two entrants with the same place can be compared."""


@dataclass(frozen=True, slots=True)
class ReplyStats:
    """How an entrant kept to the rules: its moves, and its tries that were none."""

    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    illegal: int = 0
    unreadable: int = 0
    late: int = 0

    @property
    def fallback_rate(self) -> float:
        """The share of moves that the table made, not the entrant."""
        return self.fallbacks / self.moves if self.moves else nan

    @property
    def retried_rate(self) -> float:
        """The share of moves that needed more than one try and then were the entrant's own."""
        return self.retried / self.moves if self.moves else nan

    def __add__(self, other: ReplyStats) -> ReplyStats:
        return ReplyStats(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True)
class Cell:
    """One entrant at one task."""

    task: Task
    episodes: Mapping[Place, EpisodeResult]
    """What counts: finished episodes, none of them void, in order of place."""
    planned: int
    voids: Mapping[str, int]
    """Reasons why episodes were void, and how often; those played again later are counted too."""
    reply_stats: ReplyStats
    usage: Usage
    """Of the entrant's own seats, void episodes included: they cost as much."""
    metrics: Mapping[str, Estimate]
    normalised: Estimate | None = None
    """The first metric between the suite's anchors, 0..100."""
    blind: Control | None = None

    @property
    def void(self) -> int:
        """How many episodes were void."""
        return sum(self.voids.values())

    def values(self, metric: Metric) -> dict[Place, float]:
        """The metric of each episode that has one."""
        if metric.value is None:
            return {}
        found = {place: metric.value(played) for place, played in self.episodes.items()}
        return {place: value for place, value in found.items() if value is not None}

    def shown(self, metric: Metric | None = None) -> Estimate:
        """As tables show it: the first metric normalised where it can be; shares times 100."""
        metric = metric or self.task.metrics[0]
        if metric.name == self.task.metrics[0].name and self.normalised is not None:
            return self.normalised
        return in_table_units(self.metrics[metric.name], metric)


@dataclass(frozen=True)
class Row:
    """One entrant: a line of a table."""

    name: str
    spec: str
    folders: tuple[Path, ...]
    render: tuple[str, int, str]
    """Theme, size and words folder of everything it saw."""
    cells: Mapping[str, Cell]
    overall: Estimate | None = None
    scores: Mapping[str, Estimate] = field(default_factory=dict)
    """The suite's numbers made of several tasks, those whose tasks were all played."""
    digest: Mapping[str, Estimate] = field(default_factory=dict)
    """The suite's further numbers over all episodes."""

    @property
    def blind(self) -> bool:
        """Whether it was shown blank pictures: a control."""
        return is_blind(self.spec)

    @property
    def model(self) -> bool:
        """Whether it is a model and not a bot or a person."""
        return parse_spec(self.spec).kind in MODELS.names()

    @property
    def reply_stats(self) -> ReplyStats:
        """Over all tasks."""
        return sum((cell.reply_stats for cell in self.cells.values()), ReplyStats())

    @property
    def usage(self) -> Usage:
        """Over all tasks."""
        return sum((cell.usage for cell in self.cells.values()), Usage(calls=0))


def in_table_units(estimate: Estimate, metric: Metric) -> Estimate:
    """Shares become percent."""
    if not metric.percent:
        return estimate
    return Estimate(
        100 * estimate.mean,
        100 * estimate.low,
        100 * estimate.high,
        estimate.n,
        100 * estimate.standard_error,
    )


def reply_stats_of(episode: Episode, seats: Sequence[str]) -> ReplyStats:
    """How these seats behaved in one episode."""
    moves = [move for move in episode.moves if move.seat in seats]
    tries = Counter(attempt.verdict for move in moves for attempt in move.tries)
    verdicts = Counter(move.verdict for move in moves)
    return ReplyStats(
        len(moves),
        verdicts["fallback"],
        verdicts["retried"],
        tries["illegal"],
        tries["unreadable"],
        tries["late"],
    )
