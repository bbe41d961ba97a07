"""Results of runs: reads the rows of their episodes, and computes metrics, controls and comparisons.

Whole episodes are read only where a report shows them.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isnan, nan
from pathlib import Path
from time import monotonic
from typing import Any, get_args

from ludens.core.episode import Status, Usage
from ludens.core.errors import BadOption
from ludens.core.spec import parse_spec
from ludens.models.trained import trained_remark
from ludens.run.comparisons import (
    MIN_NONZERO,
    BlindControl,
    Pair,
    Place,
    blind_control,
    compare,
    pairs_to_compare,
)
from ludens.run.index import RowDict, RowReader, StaleIndex
from ludens.run.lines import read_episode
from ludens.run.plan import Plan, control_key, is_blind, job_key, seated_name, settings_text
from ludens.run.rows import EPISODES, STATS, EpisodeRow, RowMaker, decoded, label_counts
from ludens.run.stats import Classification, Estimate, classification, exactly, normalised
from ludens.run.store import read_plan
from ludens.run.task import (
    OVERALL,
    EpisodeResult,
    LabelPair,
    Metric,
    Published,
    Suite,
    Summary,
    Task,
    entrant_seats,
    suite,
)

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


class EpisodeTable(Mapping[Place, EpisodeRow]):
    """The finished episodes of a cell in order of place, as columns; rows are made when they are looked at.

    Args:
        cell: Entrant and task.
        columns: `seed`, `seating`, `sample`, `status`, `fallbacks`, `shard`, `offset` of each episode.
        shards: The names of the shards.
        values: The values of each metric; NaN or None where an episode does not count.
    """

    def __init__(
        self,
        cell: tuple[str, str],
        columns: Mapping[str, Sequence[int]],
        shards: Sequence[str],
        values: Sequence[Sequence[Any]],
    ) -> None:
        import numpy as np

        self._cell, self._shards = cell, shards
        arrays = {name: np.array(column) for name, column in columns.items()}
        order = np.lexsort((arrays["sample"], arrays["seating"], arrays["seed"]))
        self._columns = {name: column[order] for name, column in arrays.items()}
        self._values = [
            np.array(column)[order] if isinstance(column, array) else [column[i] for i in order.tolist()]
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
        for (seed, seating, sample, status, fallbacks, shard, offset), known in zip(
            zip(*columns, strict=True), values, strict=True
        ):
            yield EpisodeRow(
                job_key(*self._cell, seed, seating, sample), *self._cell, seed, seating, sample,
                STATUSES[status], fallbacks=fallbacks, values=known, shard=self._shards[shard], offset=offset,
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

    def observations(self, metric: int) -> list[tuple[int, Any]]:
        """Seed and value of each episode that counts."""
        pairs = zip(self.seeds(), self._column(metric), strict=True)
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
        """Whether it has too few seeds to show a difference to anybody."""
        return len(set(self.episodes.seeds())) < MIN_NONZERO

    def values(self, metric: Metric) -> dict[Place, Any]:
        """The value of each episode that counts."""
        index = [known.name for known in self.measured].index(metric.name)
        return self.episodes.values_of(index)

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
        self._shards: dict[str, int] = {}
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
        shard = get("shard", EPISODES)
        columns = self._columns
        columns["seed"].append(row["seed"])
        columns["seating"].append(row["seating"])
        columns["sample"].append(get("sample", 0))
        columns["status"].append(STATUSES.index(status))
        columns["fallbacks"].append(get("fallbacks", 0))
        columns["shard"].append(self._shards.setdefault(shard, len(self._shards)))
        columns["offset"].append(get("offset", 0))

    def cell(self, planned: int, anchors: tuple[float | Estimate, float | Estimate] | None = None) -> Cell:
        """The episodes so far as a cell."""
        first = self.task.metrics[0]
        shards = tuple(self._shards)
        episodes = EpisodeTable((self.entrant, self.task.name), self._columns, shards, self._values)
        metrics = {
            metric.name: metric.over(episodes.observations(index))
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
_COLUMNS = {"seed": "q", **_INTEGERS, "offset": "q"}


_NAMED = 5
"""Episodes that are named where some are left out."""


@dataclass(frozen=True)
class Row:
    """One entrant on all tasks."""

    name: str
    spec: str
    folders: tuple[Path, ...]
    render: tuple[str, int, str]
    """Theme, size and template folder."""
    seated: Mapping[str, str]
    """The seats that the user gave to other players; they are part of the name."""
    cells: Mapping[str, Cell]
    summaries: Mapping[str, Estimate] = field(default_factory=dict)
    """The summaries of the suite whose tasks were played."""

    @property
    def overall(self) -> Estimate | None:
        """The suite's overall number, if all its tasks were played."""
        return self.summaries.get(OVERALL)

    @property
    def blind(self) -> bool:
        """Whether it is a blind control."""
        return is_blind(self.spec)

    @property
    def trained(self) -> frozenset[str]:
        """The tasks on whose games it was trained by Ludens, as its checkpoint said when it played."""
        name = parse_spec(self.spec).name
        return frozenset(
            task
            for task, cell in self.cells.items()
            if trained_remark(name, parse_spec(cell.task.game).name) in cell.remarks
        )

    @property
    def label(self) -> str:
        """The name, with the prompt settings that differ from the suite's: `gpt-4.1 (modality text, cot)`."""
        return f"{self.name} ({self.settings})" if self.settings else self.name

    @property
    def settings(self) -> str:
        """The prompt settings that differ from the suite's, unless the name has them."""
        return settings_text(self.name, self.spec)


@dataclass(frozen=True)
class SuiteResults:
    """Everything measured on one suite."""

    suite: Suite
    tasks: Mapping[str, Task]
    """The tasks that were played, in the suite's order."""
    rows: tuple[Row, ...]
    cautions: tuple[str, ...] = ()
    """Differences between the runs and what would be played today."""

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Comparisons of entrants, except blind controls, on the first metric of each task."""
        return tuple(pair for task in self.tasks.values() for pair in self._pairs(task))

    @cached_property
    def comparable(self) -> frozenset[str]:
        """The tasks that an entrant played with the players whom the suite seats, as others did."""
        return frozenset(
            name
            for row in self.rows
            for name, cell in row.cells.items()
            if cell.task.seatings == self.tasks[name].seatings
        )

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """What others published on the tasks that are comparable; their overall number if all tasks are."""
        known = self.comparable if self.tasks.keys() - self.comparable else {*self.comparable, OVERALL}
        return tuple(
            replace(
                source,
                values={name: value for name, value in source.values.items() if name in known},
                deviations={name: value for name, value in source.deviations.items() if name in known},
                further={key: value for key, value in source.further.items() if key[0] in known},
            )
            for source in self.suite.published
        )

    def _pairs(self, task: Task) -> Iterator[Pair]:
        metric = task.metrics[0]
        rows = [row for row in self.rows if not row.blind and task.name in row.cells]
        cells = {row.name: row.cells[task.name] for row in rows}
        means = {name: cell.metrics[metric.name].mean for name, cell in cells.items() if cell.episodes}
        for a, b in pairs_to_compare(means, metric.higher_is_better):
            ours, theirs = (cells[name].paired_values(metric) for name in (a, b))
            seatings = max(len(cells[name].task.seatings) for name in (a, b))
            yield compare(metric, ours, theirs, seatings, a=a, b=b, task=task.name)


@dataclass(frozen=True)
class Results:
    """The results of one or several runs."""

    plans: Mapping[Path, Plan]
    suites: tuple[SuiteResults, ...]
    left_out: Mapping[Path, frozenset[str]] = field(default_factory=dict)
    """The keys of finished episodes that are no part of the results; see `Suite.left_out`."""


def load_results(folders: Sequence[Path], options: Mapping[str, str] | None = None) -> Results:
    """Read the folders of runs.

    Args:
        folders: The folders.
        options: Suite options that replace those of the runs, such as how tasks are weighted.
    """
    readers: dict[Path, RunReader] = {}
    for folder in folders:
        if folder in readers:
            raise BadOption(f"the run {str(folder)!r} is given more than once.")
        readers[folder] = RunReader(folder, options)
    for reader in readers.values():
        reader.read()
    return results_of(tuple(readers.values()))


def results_of(readers: Sequence[RunReader]) -> Results:
    """The results of runs, as far as they were read."""
    suites: dict[str, list[RunReader]] = {}
    for reader in readers:
        suites.setdefault(reader.suite_name, []).append(reader)
    plans = {reader.folder: reader.plan for reader in readers}
    left_out = {reader.folder: reader.left_out for reader in readers}
    return Results(plans, tuple(_suite_results(some) for some in suites.values()), left_out)


def _suite_results(readers: Sequence[RunReader]) -> SuiteResults:
    whole, rows = readers[0].whole, list[Row]()
    for reader in readers:
        for row in reader.rows():
            _merge(row, rows)
    rows = _with_unique_names(rows)
    rows = [_with_controls(row, rows) for row in rows]
    rows = [replace(row, summaries=summarise(whole, row.cells)) for row in rows]
    tasks = {task.name: task for task in whole.tasks if any(task.name in row.cells for row in rows)}
    return SuiteResults(whole, tasks, tuple(rows), tuple(_cautions(readers)))


def _cautions(readers: Sequence[RunReader]) -> Iterator[str]:
    for reader in readers:
        try:
            reader.plan.check_unchanged()
        except BadOption as error:
            yield f"Caution, {reader.folder}: {error}"
        if reader.left_out:
            keys = ", ".join(sorted(reader.left_out)[:_NAMED]) + (
                ", ..." if len(reader.left_out) > _NAMED else ""
            )
            yield f"Left out, {reader.folder}: episodes of excluded participants ({keys})."


class RunReader:
    """Reads one run, also while it is played: each `read` continues where the last one ended."""

    def __init__(self, folder: Path, options: Mapping[str, str] | None = None) -> None:
        self.folder, self.plan = folder, read_plan(folder)
        spec = parse_spec(self.plan.suite)
        changed = str(replace(spec, options={**spec.options, **options})) if options else self.plan.suite
        self.suite_name, self.whole = changed, suite(changed)
        # Suite options given to the report may have changed the order of the metrics.
        metrics = {task.name: task.metrics for task in self.whole.tasks}
        tasks = {
            name: replace(task, metrics=metrics.get(name, task.metrics))
            for name, task in self.plan.chosen.items()
        }
        self._maker = RowMaker(tasks, self.whole.summary_metrics)
        self.left_out = self.whole.left_out(folder) if self.whole.left_out else frozenset()
        # The index has the metrics of the plan's own suite.
        self._open(direct=changed != self.plan.suite)

    def _open(self, direct: bool) -> None:
        maker = self._maker
        self._cells = {
            (entrant, name): CellReader(entrant, task, self.folder, maker.measured[name])
            for name, task in maker.tasks.items()
            for entrant in self.plan.playing(task)
        }
        self._reader = RowReader(self.folder, self.plan, maker, direct=direct)
        self._rows: Iterator[RowDict] | None = None
        self.lines = self._reader.lines

    def read(self, seconds: float = inf) -> bool:
        """Read for so long, but at least one row; returns whether everything written so far was read."""
        until, cells, left_out = inf, self._cells, self.left_out
        try:
            self._rows = self._rows or self._reader.read()
            for number, row in enumerate(self._rows):
                if row["key"] not in left_out or row.get("status") == "void":
                    cells[row["entrant"], row["task"]].add(row)
                if number % 16 == 0:
                    until = min(until, monotonic() + seconds)  # the first line takes longer: jobs are listed
                    if monotonic() >= until:
                        return False
        except (StaleIndex, LookupError, TypeError, ValueError, AttributeError, OverflowError):
            if self._reader.direct:
                raise
            self._open(direct=True)
            return self.read(seconds)
        self._rows = None
        if self.suite_name == self.plan.suite and self._reader.write_index():
            from ludens.run.verify import note_index

            note_index(self.folder)
        return True

    def rows(self) -> Iterator[Row]:
        """The entrants of the run."""
        plan = self.plan
        for entrant, spec in plan.entrants.items():
            cells = {
                name: self._cells[entrant, name].cell(plan.count(task), self.whole.anchors.get(name))
                for name, task in plan.chosen.items()
                if (entrant, name) in self._cells
            }
            name, render = seated_name(entrant, plan.seated), (plan.theme, plan.size, plan.templates)
            yield Row(name, spec, (self.folder,), render, plan.seated, cells)


def _merge(row: Row, rows: list[Row]) -> None:
    """Add a row; if the same entrant has a row with other tasks, merge them."""
    for index, other in enumerate(rows):
        same = replace(other, cells={}, folders=()) == replace(row, cells={}, folders=())
        if same and not other.cells.keys() & row.cells.keys():
            folders, cells = (*other.folders, *row.folders), {**other.cells, **row.cells}
            rows[index] = replace(other, folders=folders, cells=cells)
            return
    rows.append(row)


def _with_unique_names(rows: Sequence[Row]) -> list[Row]:
    """Append the name of the run's folder to repeated names, or its path where that is not enough."""
    names = [
        (row.name, f"{row.name} ({row.folders[0].name})", f"{row.name} ({row.folders[0]})") for row in rows
    ]
    counts = Counter(name for choices in names for name in choices[:2])
    unique = [next((n for n in choices[:2] if counts[n] == 1), choices[2]) for choices in names]
    return [replace(row, name=name) for row, name in zip(rows, unique, strict=True)]


def _with_controls(row: Row, rows: Sequence[Row]) -> Row:
    """The row with its blind controls: entrants with the same spec but for `blind`, with shared episodes."""
    if row.blind:
        return row
    common = (control_key(row.spec), row.seated)
    controls = [other for other in rows if other.blind and (control_key(other.spec), other.seated) == common]
    cells = dict(row.cells)
    for name, cell in row.cells.items():
        found = [other for other in controls if name in other.cells and other.cells[name].episodes]
        if not (found and cell.episodes and cell.task.blindable):
            continue
        best = max(found, key=lambda other: len(cell.episodes.keys() & other.cells[name].episodes.keys()))
        metric = cell.task.metrics[0]
        ours, theirs = ((c.metrics[metric.name], c.paired_values(metric)) for c in (cell, best.cells[name]))
        if isnan(ours[0].mean) or isnan(theirs[0].mean):  # some metrics need more episodes to be known
            continue
        control = blind_control(best.name, metric, ours, theirs, len(cell.task.seatings))
        cells[name] = replace(cell, blind=control)
    return replace(row, cells=cells)


def summarise(whole: Suite, cells: Mapping[str, Cell]) -> dict[str, Estimate]:
    """The summaries of a suite for one entrant, those whose tasks were played."""
    found: dict[str, Estimate] = {}
    for summary in whole.summaries:
        tasks, metric = _tasks(summary, whole), summary.metric
        some = {name: cells[name] for name in tasks if name in cells and cells[name].episodes}
        if not some or (summary.complete and len(some) < len(tasks)):
            continue
        if summary.combine is not None:
            shown = {name: cell.shown(metric) for name, cell in some.items()}
            if all(estimate.n for estimate in shown.values()):
                found[summary.name] = summary.combine(shown)
        elif metric is not None:
            values = [item for cell in some.values() for item in cell.values(metric).items()]
            pooled = metric.over([(place[0], value) for place, value in values])
            found[summary.name] = metric.in_table_units(pooled)
    return {name: estimate for name, estimate in found.items() if estimate.n}


def summarise_published(whole: Suite, values: Mapping[str, float]) -> dict[str, Estimate]:
    """The summaries of what tables show, from published values of the tasks; those that are known.

    A mean over episodes is not, since published values do not come with numbers of episodes.
    """
    made = {
        summary.name: summary.combine({task: exactly(values[task]) for task in _tasks(summary, whole)})
        for summary in whole.summaries
        if summary.combine and not summary.metric and values.keys() >= set(_tasks(summary, whole))
    }
    return {name: estimate for name, estimate in made.items() if not isnan(estimate.mean)}


def _tasks(summary: Summary, whole: Suite) -> tuple[str, ...]:
    return summary.tasks or tuple(task.name for task in whole.tasks)
