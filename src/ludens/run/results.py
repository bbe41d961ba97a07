"""Results of runs: reads their folders episode by episode, and computes metrics, controls and comparisons.

Only a short record of each episode is kept; whole episodes are read again where a report shows them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ludens.core.episode import Episode, Status, Usage
from ludens.core.errors import BadOption
from ludens.core.spec import parse_spec
from ludens.run.binding import PlanCheck
from ludens.run.comparisons import BlindControl, Pair, Place, blind_control, compare, pairs_to_compare
from ludens.run.entrants import control_key, is_blind, settings_text
from ludens.run.lines import Head, read_record
from ludens.run.plan import Plan
from ludens.run.replays import read_episode
from ludens.run.reply_stats import TRUNCATED_LIMIT, ReplyStats, count_replies
from ludens.run.seats import seated_name
from ludens.run.stats import Classification, Estimate, classification, exactly, normalised
from ludens.run.store import read_lines, read_plan
from ludens.run.task import MODEL, OVERALL, EpisodeResult, LabelPair, Metric, Suite, Summary, Task, suite


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

    @property
    def void(self) -> int:
        """How many episodes were void."""
        return sum(self.voids.values())

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

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings."""
        return (*self.blind_warnings, *self.length_warnings)

    @property
    def blind_warnings(self) -> Iterator[str]:
        """Where a model with pictures is not better than with blank ones."""
        for row in self.rows:
            for name, cell in row.cells.items():
                if cell.blind is not None and not cell.blind.sees:
                    yield f"{row.label} on {name}: {cell.blind.sentence}"

    @property
    def length_warnings(self) -> Iterator[str]:
        """Where too many replies were cut off by the length limit."""
        for row in self.rows:
            for name, cell in row.cells.items():
                stats = cell.reply_stats
                if stats.truncated_rate > TRUNCATED_LIMIT:
                    yield (
                        f"{row.label} on {name}: {stats.truncated:,} of {stats.replies:,} replies "
                        f"({stats.truncated_rate:.1%}) were cut off by the length limit; raise max_tokens."
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


def load_results(folders: Sequence[Path], options: Mapping[str, str] | None = None) -> Results:
    """Read the folders of runs.

    Args:
        folders: The folders.
        options: Suite options that replace those of the runs, such as how tasks are weighted.
    """
    plans: dict[Path, Plan] = {}
    for folder in folders:
        if folder in plans:
            raise BadOption(f"the run {str(folder)!r} is given more than once.")
        plans[folder] = read_plan(folder)
    suites: dict[str, dict[Path, Plan]] = {}
    for folder, plan in plans.items():
        spec = parse_spec(plan.suite)
        name = str(replace(spec, options={**spec.options, **options})) if options else plan.suite
        suites.setdefault(name, {})[folder] = plan
    return Results(plans, tuple(_suite_results(suite(name), some) for name, some in suites.items()))


def _suite_results(whole: Suite, plans: Mapping[Path, Plan]) -> SuiteResults:
    rows: list[Row] = []
    for folder, plan in plans.items():
        for row in _read_rows(folder, plan, whole):
            _merge(row, rows)
    rows = _with_unique_names(rows)
    rows = [_with_controls(row, rows) for row in rows]
    rows = [replace(row, summaries=summarise(whole, row.cells)) for row in rows]
    tasks = {task.name: task for task in whole.tasks if any(task.name in row.cells for row in rows)}
    return SuiteResults(whole, tasks, tuple(rows), tuple(_cautions(plans)))


def _cautions(plans: Mapping[Path, Plan]) -> Iterator[str]:
    for folder, plan in plans.items():
        try:
            plan.check_unchanged()
        except BadOption as error:
            yield f"Caution, {folder}: {error}"


class CellReader:
    """Collects the episodes of one entrant on one task."""

    def __init__(self, task: Task, folder: Path, extra: Sequence[Metric] = ()) -> None:
        self.task, self.folder = task, folder
        # The task's metrics first, and in place of others of the same name.
        named = {metric.name: metric for metric in (*task.metrics, *extra, *task.metrics)}
        self.measured = tuple(named.values())
        self.episodes: dict[Place, EpisodeRecord] = {}
        self.voids: Counter[str] = Counter()
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
            return
        counts = count_replies(move for move in episode.moves if move.seat in seats)
        self.stats.update(counts)
        self.remarks.update(episode.remarks)
        played = EpisodeResult(head.key, episode, seats)
        for metric in self.measured:
            if metric.labels is not None:
                self.labels[metric.name].update(metric.labels(played))
        values = tuple(metric.value(played) for metric in self.measured)
        record = EpisodeRecord(head.key, episode.status, counts["fallbacks"], offset, values)
        self.episodes[episode.seed, head.seating, episode.sample] = record

    def cell(self, planned: int, anchors: tuple[float | Estimate, float | Estimate] | None = None) -> Cell:
        """The episodes so far as a cell."""
        episodes = dict(sorted(self.episodes.items()))
        metrics = {}
        for index, metric in enumerate(self.measured):
            values = ((place[0], record.values[index]) for place, record in episodes.items())
            metrics[metric.name] = metric.combine([one for one in values if one[1] is not None])
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
            normalised(metrics[self.task.metrics[0].name], *anchors) if anchors else None,
        )


def entrant_seats(task: Task, seating: int) -> tuple[str, ...]:
    """The seats that the entrant plays."""
    return tuple(seat for seat, who in task.seatings[seating].items() if who == MODEL)


def _read_rows(folder: Path, plan: Plan, whole: Suite) -> Iterator[Row]:
    """The entrants of one run."""
    # Suite options given to the report may have changed the order of the metrics.
    metrics = {task.name: task.metrics for task in whole.tasks}
    extra = [summary.metric for summary in whole.summaries if summary.metric is not None]
    readers = {
        (entrant, name): CellReader(replace(task, metrics=metrics.get(name, task.metrics)), folder, extra)
        for name, task in plan.chosen.items()
        for entrant in plan.playing(task)
    }
    check = PlanCheck(folder, plan)
    for head, offset, data in read_lines(folder):
        episode = read_record(folder, head, data).episode
        check.check(head, episode)
        readers[head.entrant, head.task].add(head, offset, episode)
    for entrant, spec in plan.entrants.items():
        cells = {
            name: readers[entrant, name].cell(plan.count(task), whole.anchors.get(name))
            for name, task in plan.chosen.items()
            if (entrant, name) in readers
        }
        name, render = seated_name(entrant, plan.seated), (plan.theme, plan.size, plan.templates)
        yield Row(name, spec, (folder,), render, plan.seated, cells)


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
            pooled = metric.combine([(place[0], value) for place, value in values])
            found[summary.name] = metric.in_table_units(pooled)
    return {name: estimate for name, estimate in found.items() if estimate.n}


def summarise_published(whole: Suite, values: Mapping[str, float]) -> dict[str, Estimate]:
    """The summaries of what tables show, from published values of the tasks."""
    return {
        summary.name: summary.combine({task: exactly(values[task]) for task in _tasks(summary, whole)})
        for summary in whole.summaries
        if summary.combine and not summary.metric and values.keys() >= set(_tasks(summary, whole))
    }


def _tasks(summary: Summary, whole: Suite) -> tuple[str, ...]:
    return summary.tasks or tuple(task.name for task in whole.tasks)
