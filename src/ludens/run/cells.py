"""One entrant on one task: the rows of its episodes as columns, and what is computed from them."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any, get_args

from ludens.core.episode import Status, Usage
from ludens.run.comparisons import MIN_NONZERO, BlindControl, Place
from ludens.run.index import RowDict
from ludens.run.lines import read_episode
from ludens.run.plan import job_key
from ludens.run.rows import EPISODES, STATS, EpisodeRow, decoded, label_counts
from ludens.run.stats import Classification, Estimate, classification, normalised
from ludens.run.task import (
    EpisodeResult,
    Group,
    LabelPair,
    Metric,
    Observation,
    Task,
    entrant_seats,
    groups_of,
)
from ludens.run.twins import pair_scores

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
_STATUS_NUMBERS = {status: number for number, status in enumerate(STATUSES)}


class EpisodeTable(Mapping[Place, EpisodeRow]):
    """The finished episodes of a cell in order of place, as columns; rows are made when they are looked at.

    Args:
        cell: Entrant and task.
        columns: `seed`, `seating`, `sample`, `status`, `fallbacks`, `shard`, `offset`, `cluster` of each
            episode.
        shards: The names of the shards.
        clusters: The names of the clusters; the column `cluster` has their numbers, -1 for none.
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
        for (seed, seating, sample, status, fallbacks, shard, offset, cluster), known in zip(
            zip(*columns, strict=True), values, strict=True
        ):
            yield EpisodeRow(
                job_key(*self._cell, seed, seating, sample), *self._cell, seed, seating, sample,
                STATUSES[status], fallbacks=fallbacks, values=known, shard=self._shards[shard], offset=offset,
                cluster=self._clusters[cluster] if cluster >= 0 else "",
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

    def groups(self) -> list[Group]:
        """The cluster of each episode where other seeds have it too, else its seed."""
        return groups_of(self.seeds(), self._cluster_names()) if self._clusters else list(self.seeds())

    def _cluster_names(self) -> list[str]:
        names = (*self._clusters, "")  # the last one for -1
        return [names[number] for number in self._columns["cluster"].tolist()]

    def clusters(self) -> dict[int, str]:
        """The clusters of each seed that shares one, of all its seatings."""
        shared: dict[int, set[str]] = {}
        for seed, group in zip(self.seeds(), self.groups(), strict=True):
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
        named = zip(self.seeds(), self._cluster_names(), strict=True)
        pairs = zip(named if twins else self.groups(), self._column(metric), strict=True)
        return [pair for pair in pairs if pair[1] is not None]

    def values_of(self, metric: int) -> dict[Place, Any]:
        """The value of each episode that counts."""
        pairs = zip(self, self._column(metric), strict=True)
        return {place: value for place, value in pairs if value is not None}


@dataclass(frozen=True)
class Cell:
    """One entrant on one task."""

    task: Task
    folder: Path
    measured: tuple[Metric, ...]
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
        """Whether it has too few seeds, or clusters of them, to show a difference to anybody."""
        return len(set(self.episodes.groups())) < MIN_NONZERO

    @property
    def repeats(self) -> bool:
        """Whether episodes of several seeds are the same game, or share a world."""
        return any(isinstance(group, str) for group in self.episodes.groups())

    def values(self, metric: Metric) -> dict[Place, Any]:
        """The value of each episode that counts."""
        return self.episodes.values_of(self._number(metric))

    def observations(self, metric: Metric) -> list[Observation]:
        """Group and value of each episode that counts."""
        return self.episodes.observations(self._number(metric), metric.twins)

    def _number(self, metric: Metric) -> int:
        return [known.name for known in self.measured].index(metric.name)

    def paired_values(self, metric: Metric) -> dict[Place, float]:
        """The metric of each episode or pair of twin worlds; empty if it has no value for one of them."""
        if metric.twins:
            return pair_scores(self.values(metric))
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
        row = self.episodes[place]
        episode = read_episode(self.folder, row.key, row.location)
        return EpisodeResult(row.key, episode, entrant_seats(self.task, row.seating))


class CellReader:
    """Collects the rows of one entrant on one task, as columns: a million of them fit into memory."""

    def __init__(self, entrant: str, task: Task, folder: Path, measured: tuple[Metric, ...]) -> None:
        self.entrant, self.task, self.folder, self.measured = entrant, task, folder, measured
        self.voids: Counter[str] = Counter()
        self.voided: list[EpisodeRow] = []
        self.stats = dict.fromkeys(STATS, 0)
        self.usage = self.other_usage = Usage(calls=0)
        self.remarks: set[str] = set()
        self.labels: defaultdict[str, Counter[LabelPair]] = defaultdict(Counter)
        self._columns = {name: array(code) for name, code in _COLUMNS.items()}
        self._appends = tuple(column.append for column in self._columns.values())
        self._shards: dict[str, int] = {}
        self._clusters: dict[str, int] = {}
        self._values: list[Any] = [array("d") if metric.paired else [] for metric in measured]

    def add(self, row: RowDict) -> None:
        """Add a row, which must be correct: an exception leaves this half changed."""
        get = row.get
        if "usage" in row:
            self.usage += Usage(*row["usage"])
        if "other_usage" in row:
            self.other_usage += Usage(*row["other_usage"])
        status = get("status", "done")
        if status == "void":
            self.voids[get("error") or "unknown reason"] += 1
            self.voided.append(replace(EpisodeRow.from_dict(row), fallbacks=0))
            return
        stats = self.stats
        for name in STATS:
            if name in row:
                stats[name] += row[name]
        if "remarks" in row:
            self.remarks.update(row["remarks"])
        measured: EpisodeRow | None = get("measured")
        values = row["values"] if measured is None else measured.values
        for metric, counts in (measured.labels if measured is not None else get("labels", {})).items():
            self.labels[metric].update(dict(label_counts(counts)) if isinstance(counts, list) else counts)
        for column, value in zip(self._values, values or (), strict=True):
            if type(value) is float:  # nearly always
                column.append(value)
            elif type(column) is array:
                column.append(nan if value is None else decoded(value))
            else:
                column.append(decoded(value) if measured is None else value)
        (
            add_seed, add_seating, add_sample, add_status, add_fallbacks, add_shard, add_offset, add_cluster,
        ) = self._appends  # fmt: skip
        add_seed(row["seed"])
        add_seating(row["seating"])
        add_sample(get("sample", 0))
        add_status(_STATUS_NUMBERS[status])
        add_fallbacks(get("fallbacks", 0))
        shard = get("shard", EPISODES)
        add_shard(self._shards.setdefault(shard, len(self._shards)))
        add_offset(get("offset", 0))
        cluster = get("cluster", "")
        add_cluster(self._clusters.setdefault(cluster, len(self._clusters)) if cluster else -1)

    def cell(self, planned: int, anchors: tuple[float | Estimate, float | Estimate] | None = None) -> Cell:
        """The episodes so far as a cell."""
        first = self.task.metrics[0]
        names, shards, clusters = (self.entrant, self.task.name), tuple(self._shards), tuple(self._clusters)
        episodes = EpisodeTable(names, self._columns, shards, clusters, self._values)
        metrics = {
            metric.name: metric.over(episodes.observations(index, metric.twins))
            for index, metric in enumerate(self.measured)
        }
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


_INTEGERS = {"seating": "i", "sample": "i", "status": "b", "fallbacks": "i", "shard": "i"}
_COLUMNS = {"seed": "q", **_INTEGERS, "offset": "q", "cluster": "i"}
