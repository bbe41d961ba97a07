"""One entrant on one task: the rows of its episodes as columns, and what is computed from them."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import nan
from pathlib import Path
from sys import intern
from typing import Any, TypeVar, get_args

from ludens.core.episode import Status, Usage
from ludens.run.comparisons import MIN_NONZERO, BlindControl, Place
from ludens.run.index import RowDict
from ludens.run.lines import read_episode
from ludens.run.plan import job_key
from ludens.run.rows import DEFAULTS, STATS, EpisodeRow, decoded, label_counts
from ludens.run.stats import Classification, Estimate, classification, normalised
from ludens.run.task import (
    EpisodeResult,
    Group,
    LabelPair,
    Metric,
    Observation,
    Task,
    entrant_seats,
)
from ludens.run.twins import pair_scores

K = TypeVar("K")

TRUNCATED_LIMIT = 0.02
"""The proportion of truncated replies above which results have a warning."""


@dataclass(frozen=True, slots=True)
class ReplyStats:
    """Counts of moves and of replies."""

    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    replies: int = 0
    """Replies of models and people; bots choose actions without replying."""
    illegal: int = 0
    unreadable: int = 0
    late: int = 0
    truncated: int = 0
    """Replies cut off by the length limit (`max_tokens`)."""

    @property
    def fallback_rate(self) -> float:
        """The proportion of moves made by the fallback."""
        return self.fallbacks / self.moves if self.moves else nan

    @property
    def retried_rate(self) -> float:
        """The proportion of moves that needed more than one reply."""
        return self.retried / self.moves if self.moves else nan

    @property
    def truncated_rate(self) -> float:
        """The proportion of replies cut off by the length limit."""
        return self.truncated / self.replies if self.replies else nan


STATUSES: tuple[Status, ...] = get_args(Status)
_STATUS_NUMBERS: dict[str, int] = {status: number for number, status in enumerate(STATUSES)}


class EpisodeTable(Mapping[Place, EpisodeRow]):
    """The finished episodes of a cell in order of place, as columns; rows are made when they are looked at.

    Args:
        cell: Entrant and task.
        columns: `seed`, `seating`, `sample`, `status`, `fallbacks`, `shard`, `offset`, `cluster` of each
            episode.
        shards: The names of the shards.
        clusters: The names of the clusters, the first one empty; the column `cluster` has their numbers.
        values: The values of each metric; NaN or None where an episode does not count.
    """

    def __init__(
        self,
        cell: tuple[str, str],
        columns: Mapping[str, Sequence[int]],
        shards: Sequence[str],
        clusters: Sequence[str],
        values: Sequence[Sequence[Any]],
    ) -> None:
        import numpy as np

        self._cell, self._shards, self._clusters = cell, shards, clusters
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        order = np.lexsort((arrays["sample"], arrays["seating"], arrays["seed"]))
        self._columns = {name: column[order] for name, column in arrays.items()}
        self._values = [
            np.asarray(column)[order] if isinstance(column, array) else [column[i] for i in order.tolist()]
            for column in values
        ]

    @cached_property
    def _numbers(self) -> dict[Place, int]:
        return {place: number for number, place in enumerate(self)}

    def __len__(self) -> int:
        return len(self._columns["seed"])

    def __iter__(self) -> Iterator[Place]:
        return zip(*(self._columns[name].tolist() for name in ("seed", "seating", "sample")), strict=True)

    def __getitem__(self, place: Place) -> EpisodeRow:
        number = self._numbers[place]
        return next(self.rows(number, number + 1))

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[EpisodeRow]:
        """Rows in order of place, from one number to another."""
        columns = [column[start:stop].tolist() for column in self._columns.values()]
        values = zip(*(self._column(number, start, stop) for number in range(len(self._values))), strict=True)
        for (seed, seating, sample, status, fallbacks, shard, offset, cluster), metrics in zip(
            zip(*columns, strict=True), values, strict=True
        ):
            yield EpisodeRow(
                job_key(*self._cell, seed, seating, sample), *self._cell, seed, seating, sample,
                STATUSES[status], fallbacks=fallbacks, values=metrics, shard=self._shards[shard],
                offset=offset, cluster=self._clusters[cluster],
            )  # fmt: skip

    def _column(self, metric: int, start: int = 0, stop: int | None = None) -> list[Any]:
        """The values of a metric; None where an episode does not count."""
        column = self._values[metric][start:stop]
        return column if isinstance(column, list) else [v if v == v else None for v in column.tolist()]

    def seeds(self) -> list[int]:
        """The seed of each episode."""
        seeds: list[int] = self._columns["seed"].tolist()
        return seeds

    def fallbacks(self) -> dict[Place, int]:
        """The number of fallbacks of the episodes that have some."""
        pairs = zip(self, self._columns["fallbacks"].tolist(), strict=True)
        return {place: number for place, number in pairs if number}

    @property
    def repeats(self) -> bool:
        """Whether episodes of several seeds are the same game, or share a world."""
        return bool(self._shared)

    def groups(self) -> list[Group]:
        """The cluster of each episode where other seeds have it too, else its seed."""
        seeds, shared = self.seeds(), self._shared
        if not shared:
            return list(seeds)
        numbers = self._columns["cluster"].tolist()
        return [shared.get(number, seed) for number, seed in zip(numbers, seeds, strict=True)]

    @cached_property
    def _shared(self) -> dict[int, str]:
        """Number and name of each cluster that several seeds have."""
        import numpy as np

        seeds, numbers = self._columns["seed"], self._columns["cluster"]
        first, last = np.zeros((2, len(self._clusters)), np.int64)
        first[numbers[::-1]], last[numbers] = seeds[::-1], seeds  # of several seeds the last one stays
        return {number: self._clusters[number] for number in np.flatnonzero(first != last).tolist() if number}

    def clusters(self) -> dict[int, str]:
        """The clusters of each seed that shares one, of all its seatings."""
        shared: dict[int, set[str]] = {}
        for seed, group in zip(self.seeds(), self.groups(), strict=True) if self.repeats else ():
            if isinstance(group, str):
                shared.setdefault(seed, set()).add(group)
        return {seed: " ".join(sorted(groups)) for seed, groups in shared.items()}

    @property
    def distinct(self) -> int:
        """How many different games, or worlds that seeds share, the episodes are."""
        return len({*zip(self.groups(), self._columns["seating"].tolist(), strict=True)})

    def observations(self, metric: int, twins: bool = False) -> list[Observation]:
        """Group and value of each episode that counts; with `twins` the seed, which tells the pair, and the
        cluster."""
        names = map(self._clusters.__getitem__, self._columns["cluster"].tolist())
        return list(
            self._valid_pairs(zip(self.seeds(), names, strict=True) if twins else self.groups(), metric)
        )

    def values_of(self, metric: int) -> dict[Place, Any]:
        """The value of each episode that counts."""
        return dict(self._valid_pairs(self, metric))

    def _valid_pairs(self, keys: Iterable[K], metric: int) -> Iterator[tuple[K, Any]]:
        """The key and the value of each episode that counts."""
        column = self._column(metric)
        pairs = zip(keys, column, strict=True)
        return (pair for pair in pairs if pair[1] is not None) if None in column else pairs


@dataclass(frozen=True)
class Cell:
    """One entrant on one task."""

    task: Task
    folder: Path
    all_metrics: tuple[Metric, ...]
    """The task's metrics, then those that only summaries of the suite use."""
    episodes: EpisodeTable
    """Finished episodes that are not void."""
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
    voided: tuple[EpisodeRow, ...] = ()
    """Void episodes, including those that were played again; they have no values."""

    @property
    def void(self) -> int:
        """How many episodes were void."""
        return sum(self.voids.values())

    @property
    def few(self) -> bool:
        """Whether it has too few seeds, or clusters of them, for any significant difference."""
        return len(set(self.episodes.groups())) < MIN_NONZERO

    def values(self, metric: Metric) -> dict[Place, Any]:
        """The value of each episode that counts."""
        return self.episodes.values_of(self._number(metric))

    def observations(self, metric: Metric) -> list[Observation]:
        """Group and value of each episode that counts."""
        return self.episodes.observations(self._number(metric), metric.twins)

    def _number(self, metric: Metric) -> int:
        return [each.name for each in self.all_metrics].index(metric.name)

    def paired_values(self, metric: Metric) -> dict[Place, float]:
        """The metric of each episode or pair of twin worlds; empty if it has no value for one of them."""
        if metric.twins:
            return pair_scores(self.values(metric))
        return self.values(metric) if metric.paired else {}

    def table_estimate(self, metric: Metric | None = None) -> Estimate:
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
        row = self.episodes[place]
        episode = read_episode(self.folder, row.key, row.location)
        return EpisodeResult(row.key, episode, entrant_seats(self.task, row.seating))


class CellReader:
    """Collects the rows of one entrant on one task, as columns: a million of them fit into memory."""

    def __init__(self, entrant: str, task: Task, folder: Path, metrics: tuple[Metric, ...]) -> None:
        self.entrant, self.task, self.folder, self.all_metrics = entrant, task, folder, metrics
        self.voids: Counter[str] = Counter()
        self.voided: list[EpisodeRow] = []
        self.stats = dict.fromkeys(STATS, 0)
        self.usage = self.other_usage = Usage(calls=0)
        self.remarks: set[str] = set()
        self.labels: defaultdict[str, Counter[LabelPair]] = defaultdict(Counter)
        self._columns = {name: array(code) for name, code in _COLUMNS.items()}
        self._shards: defaultdict[str, int] = defaultdict(count().__next__)
        self._clusters: defaultdict[str, int] = defaultdict(count(1).__next__, {"": 0})
        self._numbers = {"status": _STATUS_NUMBERS, "shard": self._shards, "cluster": self._clusters}
        self._values: list[Any] = [array("d") if metric.paired else [] for metric in metrics]

    def add(self, rows: Sequence[RowDict]) -> None:
        """Add rows, which must be correct: an exception leaves this half changed."""
        fields = set[str]().union(*rows)
        if "usage" in fields:
            self.usage = sum((Usage(*row["usage"]) for row in rows if "usage" in row), self.usage)
        if "other_usage" in fields:
            usages = (Usage(*row["other_usage"]) for row in rows if "other_usage" in row)
            self.other_usage = sum(usages, self.other_usage)
        if "status" in fields:
            voided = [EpisodeRow.from_dict(row) for row in rows if row.get("status") == "void"]
            self.voids.update(row.error or "unknown reason" for row in voided)
            self.voided += [replace(row, fallbacks=0) for row in voided]
            rows = [row for row in rows if row.get("status") != "void"]
            if not rows:
                return
        for name in fields.intersection(STATS):
            self.stats[name] += sum(row.get(name, 0) for row in rows)
        if "remarks" in fields:
            self.remarks.update(*(row.get("remarks", ()) for row in rows))
        if fields & {"labels", "measured"}:
            for row in rows:
                for metric, counts in _labels(row).items():
                    self.labels[metric].update(counts)
        value_rows = [row["measured"].values if "measured" in row else row["values"] for row in rows]
        for column, values in zip(self._values, zip(*value_rows, strict=True), strict=True):
            if type(column) is array:
                column.fromlist([v if type(v) is float else nan if v is None else decoded(v) for v in values])
            else:
                pairs = zip(values, rows, strict=True)
                # Texts are few and short: one of each is kept.
                column += [
                    intern(v) if type(v) is str else v if "measured" in row else decoded(v)
                    for v, row in pairs
                ]
        columns = self._columns
        columns["seed"].fromlist([row["seed"] for row in rows])
        columns["seating"].fromlist([row["seating"] for row in rows])
        for name, default in _DEFAULTS.items():
            some = [row.get(name, default) for row in rows] if name in fields else [default] * len(rows)
            numbers = self._numbers.get(name)
            columns[name].fromlist(some if numbers is None else [numbers[text] for text in some])

    def cell(self, planned: int, anchors: tuple[float | Estimate, float | Estimate] | None = None) -> Cell:
        """The episodes so far as a cell."""
        first = self.task.metrics[0]
        names, shards, clusters = (self.entrant, self.task.name), tuple(self._shards), tuple(self._clusters)
        episodes = EpisodeTable(names, self._columns, shards, clusters, self._values)
        metrics = {
            metric.name: metric.over(episodes.observations(index, metric.twins))
            for index, metric in enumerate(self.all_metrics)
        }
        return Cell(
            self.task,
            self.folder,
            self.all_metrics,
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


_INTEGERS = {"seating": "i", "sample": "i", "status": "b", "fallbacks": "i", "shard": "i"}
_COLUMNS = {"seed": "q", **_INTEGERS, "offset": "q", "cluster": "i"}
_DEFAULTS: dict[str, Any] = {name: DEFAULTS[name] for name in _COLUMNS if name not in ("seed", "seating")}


def _labels(row: RowDict) -> Mapping[str, Mapping[LabelPair, int]]:
    whole: EpisodeRow | None = row.get("measured")
    if whole is not None:
        return whole.labels
    return {metric: dict(label_counts(pairs)) for metric, pairs in row.get("labels", {}).items()}
