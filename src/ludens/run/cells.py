"""One entrant on one task: what is kept of its episodes, and the metrics over them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludens.core.episode import Episode, Status, Usage
from ludens.run.comparisons import MIN_NONZERO, BlindControl, Place
from ludens.run.lines import Head
from ludens.run.replays import read_episode
from ludens.run.reply_stats import ReplyStats, count_replies
from ludens.run.stats import Classification, Estimate, classification, normalised
from ludens.run.task import MODEL, EpisodeResult, LabelPair, Metric, Task


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """What is kept of one finished episode."""

    key: str
    status: Status
    fallbacks: int
    offset: int
    """Offset of its line in the file of episodes."""
    values: tuple[Any, ...]
    """Its value of each metric of the cell; None where it does not count."""


@dataclass(frozen=True)
class Cell:
    """One entrant on one task."""

    task: Task
    folder: Path
    measured: tuple[Metric, ...]
    """The task's metrics, then those that only summaries of the suite use."""
    episodes: Mapping[Place, EpisodeRecord]
    """Finished episodes that are not void, in order of place."""
    planned: int
    voids: Mapping[str, int]
    """How often episodes were void, by reason, including those that were played again."""
    reply_stats: ReplyStats
    usage: Usage
    """Of the entrant's seats, including void episodes."""
    other_usage: Usage
    """Of all other seats, including void episodes."""
    remarks: frozenset[str]
    labels: Mapping[str, Mapping[LabelPair, int]]
    """Counts of (truth, answer) by metric."""
    metrics: Mapping[str, Estimate]
    normalised: Estimate | None = None
    """The first metric between the suite's anchors, 0 to 100."""
    blind: BlindControl | None = None
    voided: tuple[tuple[Place, EpisodeRecord], ...] = ()
    """Void episodes, including those that were played again; they have no values."""

    @property
    def void(self) -> int:
        """How many episodes were void."""
        return sum(self.voids.values())

    @property
    def few(self) -> bool:
        """Whether it has too few seeds to show a difference to anybody."""
        return len({seed for seed, _, _ in self.episodes}) < MIN_NONZERO

    def values(self, metric: Metric) -> dict[Place, Any]:
        """The value of each episode that counts."""
        index = [known.name for known in self.measured].index(metric.name)
        found = ((place, record.values[index]) for place, record in self.episodes.items())
        return {place: value for place, value in found if value is not None}

    def paired_values(self, metric: Metric) -> dict[Place, float]:
        """The metric of each episode; empty if single episodes have none."""
        return self.values(metric) if metric.paired else {}

    def shown(self, metric: Metric | None = None) -> Estimate:
        """A metric as tables show it; the first one (the default) normalised if anchored."""
        metric = metric or self.task.metrics[0]
        if metric.name == self.task.metrics[0].name and self.normalised is not None:
            return self.normalised
        return metric.in_table_units(self.metrics[metric.name])

    def classification(self, metric: Metric) -> Classification | None:
        """Scores of the labels of a metric that has labels."""
        counts = self.labels.get(metric.name)
        return classification(Counter(counts).elements()) if counts else None

    def read(self, place: Place) -> EpisodeResult:
        """The whole episode, from its file."""
        record = self.episodes[place]
        episode = read_episode(self.folder, record.key, record.offset)
        return EpisodeResult(record.key, episode, entrant_seats(self.task, place[1]))


class CellReader:
    """Collects the episodes of one entrant on one task."""

    def __init__(self, task: Task, folder: Path, extra: Sequence[Metric] = ()) -> None:
        self.task, self.folder = task, folder
        # The task's metrics first, and in place of others of the same name.
        named = {metric.name: metric for metric in (*task.metrics, *extra, *task.metrics)}
        self.measured = tuple(named.values())
        self.episodes: dict[Place, EpisodeRecord] = {}
        self.voids: Counter[str] = Counter()
        self.voided: list[tuple[Place, EpisodeRecord]] = []
        self.stats: Counter[str] = Counter()
        self.usage = self.other_usage = Usage(calls=0)
        self.remarks: set[str] = set()
        self.labels: defaultdict[str, Counter[LabelPair]] = defaultdict(Counter)

    def add(self, head: Head, offset: int, episode: Episode) -> None:
        """Keep what the report needs of an episode."""
        seats = entrant_seats(self.task, head.seating)
        for seat in episode.seats:
            if seat in seats:
                self.usage += episode.usage(seat)
            else:
                self.other_usage += episode.usage(seat)
        if episode.status == "void":
            self.voids[episode.error or "unknown reason"] += 1
            record = EpisodeRecord(head.key, episode.status, 0, offset, ())
            self.voided.append(((episode.seed, head.seating, episode.sample), record))
            return
        counts = count_replies(move for move in episode.moves if move.seat in seats)
        self.stats.update(counts)
        self.remarks.update(episode.remarks)
        played = EpisodeResult(head.key, episode, seats)
        for metric in self.measured:
            if metric.labels is not None:
                self.labels[metric.name].update(metric.labels(played))
        values = tuple(_value(metric, played) for metric in self.measured)
        record = EpisodeRecord(head.key, episode.status, counts["fallbacks"], offset, values)
        self.episodes[episode.seed, head.seating, episode.sample] = record

    def cell(self, planned: int, anchors: tuple[float | Estimate, float | Estimate] | None = None) -> Cell:
        """The episodes so far as a cell."""
        episodes, first = dict(sorted(self.episodes.items())), self.task.metrics[0]
        metrics = {}
        for index, metric in enumerate(self.measured):
            values = ((place[0], record.values[index]) for place, record in episodes.items())
            metrics[metric.name] = metric.over([one for one in values if one[1] is not None])
        return Cell(
            self.task,
            self.folder,
            self.measured,
            episodes,
            planned,
            dict(self.voids.most_common()),
            ReplyStats(**self.stats),
            self.usage,
            self.other_usage,
            frozenset(self.remarks),
            self.labels,
            metrics,
            normalised(metrics[first.name], *anchors, first.limits) if anchors else None,
            voided=tuple(self.voided),
        )


def _value(metric: Metric, played: EpisodeResult) -> Any:
    """The value of an episode; one that is a number is a plain one, which every format can write."""
    value = metric.value(played)
    return float(value) if metric.paired and value is not None else value


def entrant_seats(task: Task, seating: int) -> tuple[str, ...]:
    """The seats that the entrant plays."""
    return tuple(seat for seat, who in task.seatings[seating].items() if who == MODEL)
