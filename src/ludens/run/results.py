"""Results of runs: reads the rows of their episodes, and computes metrics, controls and comparisons.

Whole episodes are read only where a report shows them. Labels of conversations are counted where
`ludens judge` has stored some.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import inf, isnan
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from ludens.core.errors import BadFile, BadOption
from ludens.core.spec import parse_spec
from ludens.models.trained import trained_remark
from ludens.run.cells import Cell, CellReader
from ludens.run.comparisons import (
    Pair,
    SeedMeans,
    blind_control,
    compare_seeds,
    joint_clusters,
    pairs_to_compare,
    seed_means,
)
from ludens.run.index import RowDict, RowReader, StaleIndex
from ludens.run.plan import Plan, control_key, is_blind, seated_name, settings_text
from ludens.run.rows import RowMaker
from ludens.run.stats import Estimate, exactly
from ludens.run.store import read_plan
from ludens.run.task import (
    OVERALL,
    Published,
    Suite,
    Task,
    suite,
)

_AT_ONCE, _MADE_AT_ONCE = 256, 16
"""Rows that are added together; where they are made from episodes, each takes milliseconds."""
_NAMED = 5
"""Episodes that are named where some are left out."""
LABELS_FILE = "judged.jsonl"
"""Labels that judges gave to the conversations of a run."""


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
    players: tuple[str, str] | None = None
    """The two entrants of a match; the row is that of the first."""
    rival: str = ""
    """The spec of the second of them."""
    summaries: Mapping[str, Estimate] = field(default_factory=dict)
    """The summaries of the suite whose tasks were played."""

    @property
    def overall(self) -> Estimate | None:
        return self.summaries.get(OVERALL)

    @property
    def blind(self) -> bool:
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

    @property
    def is_arena(self) -> bool:
        """Whether entrants met each other."""
        return any(task.motive for task in self.tasks.values())

    def cells(self) -> Iterator[tuple[Row, str, Cell]]:
        """Every entrant with the name and the results of each task that it played."""
        return ((row, name, cell) for row in self.rows for name, cell in row.cells.items())

    @cached_property
    def comparable(self) -> frozenset[str]:
        """The tasks that an entrant played with the players whom the suite seats, as others did."""
        return frozenset(
            name for _, name, cell in self.cells() if cell.task.seatings == self.tasks[name].seatings
        )

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """What others published on the tasks that are comparable; their overall number if all tasks are."""
        names = self.comparable if self.tasks.keys() - self.comparable else {*self.comparable, OVERALL}
        return tuple(
            replace(
                source,
                values={name: value for name, value in source.values.items() if name in names},
                deviations={name: value for name, value in source.deviations.items() if name in names},
                further={key: value for key, value in source.further.items() if key[0] in names},
            )
            for source in self.suite.published
        )

    def _pairs(self, task: Task) -> Iterator[Pair]:
        if task.motive is not None:  # ratings compare entrants; matches are not compared
            return
        metric = task.metrics[0]
        rows = [row for row in self.rows if not row.blind and task.name in row.cells]
        cells = {row.name: row.cells[task.name] for row in rows}
        means = {name: cell.metrics[metric.name].mean for name, cell in cells.items() if cell.episodes}
        by_seed: dict[tuple[str, int], SeedMeans] = {}
        for a, b in pairs_to_compare(means, metric.higher_is_better):
            seatings = max(len(cells[name].task.seatings) for name in (a, b))
            for name in (a, b):
                if (name, seatings) not in by_seed:
                    by_seed[name, seatings] = seed_means(cells[name].paired_values(metric), seatings)
            ours, theirs = by_seed[a, seatings], by_seed[b, seatings]
            clusters = joint_clusters(cells[a].episodes.clusters(), cells[b].episodes.clusters())
            yield compare_seeds(metric, ours, theirs, seatings, clusters, a=a, b=b, task=task.name)


@dataclass(frozen=True)
class Results:
    """The results of one or several runs."""

    plans: Mapping[Path, Plan]
    suites: tuple[SuiteResults, ...]
    left_out: Mapping[Path, frozenset[str]] = field(default_factory=dict)
    """The keys of finished episodes that are no part of the results; see `Suite.left_out`."""


def load_results(folders: Sequence[Path], options: Mapping[str, str] | None = None) -> Results:
    """Read the folders of runs; `options` replace those of their suites, such as how tasks are weighted."""
    readers: dict[Path, RunReader] = {}
    for folder in folders:
        if folder in readers:
            raise BadOption(f"the run {str(folder)!r} is given more than once.")
        readers[folder] = RunReader(folder, options)
    for reader in readers.values():
        reader.read()
    return results_of(tuple(readers.values()), last=True)


def results_of(readers: Sequence[RunReader], last: bool = False) -> Results:
    """The results of runs, as far as they were read."""
    suites: dict[str, list[RunReader]] = {}
    for reader in readers:
        suites.setdefault(reader.suite_name, []).append(reader)
    plans = {reader.folder: reader.plan for reader in readers}
    left_out = {reader.folder: reader.left_out for reader in readers}
    return Results(plans, tuple(_suite_results(some, last) for some in suites.values()), left_out)


def _suite_results(readers: Sequence[RunReader], last: bool) -> SuiteResults:
    whole, rows = readers[0].whole, list[Row]()
    for reader in readers:
        for row in reader.rows(last):
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
            for name, task in self.plan.tasks_by_name.items()
        }
        self._maker = RowMaker(tasks, self.whole.summary_metrics)
        self.left_out = self.whole.left_out(folder) if self.whole.left_out else frozenset()
        self._clusters = self.whole.clusters(folder) if self.whole.clusters else {}
        # The index has the metrics of the plan's own suite.
        self._open(direct=changed != self.plan.suite)

    def _open(self, direct: bool) -> None:
        maker = self._maker
        self._cells = {
            (entrant, name): CellReader(entrant, task, self.folder, maker.metrics_of[name])
            for name, task in maker.tasks.items()
            for entrant in self.plan.playing(task)
        }
        self._reader = RowReader(self.folder, self.plan, maker, direct=direct)
        self._rows: Iterator[RowDict] | None = None
        self.lines = self._reader.lines

    @property
    def indexed(self) -> bool:
        return not self._reader.direct

    def read(self, seconds: float = inf) -> bool:
        """Read for some seconds, but at least one row; returns whether all rows written so far were read."""
        until, number = inf, 1
        try:
            self._rows = self._rows or self._reader.read()
            while rows := list(islice(self._rows, number)):
                self._add(rows)
                number = _AT_ONCE if self.indexed else _MADE_AT_ONCE
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

    def _add(self, rows: Sequence[RowDict]) -> None:
        cells: defaultdict[tuple[str, str], list[RowDict]] = defaultdict(list)
        left_out, clusters = self.left_out, self._clusters
        for row in rows:
            if row["key"] not in left_out or row.get("status") == "void":
                if row["key"] in clusters:
                    row = {**row, "cluster": clusters[row["key"]]}
                cells[row["entrant"], row["task"]].append(row)
        for cell, some in cells.items():
            self._cells[cell].add(some)

    def rows(self, last: bool = False) -> Iterator[Row]:
        """The entrants of the run; with `last`, the cells are handed over, which halves the memory."""
        plan, take = self.plan, self._cells.pop if last else self._cells.get
        for entrant in plan.matches or plan.entrants:
            cells = {
                name: reader.cell(plan.count(task), self.whole.anchors.get(name))
                for name, task in plan.tasks_by_name.items()
                if (reader := take((entrant, name), None)) is not None
            }
            name, render = seated_name(entrant, plan.seated), (plan.theme, plan.size, plan.templates)
            players, rival = plan.matches.get(entrant), plan.rival(entrant)
            if cells:
                folders, spec = (self.folder,), plan.spec(entrant)
                yield Row(name, spec, folders, render, plan.seated, cells, players, rival)


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
    if row.blind or row.players:  # ratings compare entrants of matches with their controls
        return row
    common = (control_key(row.spec), row.seated)
    controls = [other for other in rows if other.blind and (control_key(other.spec), other.seated) == common]
    cells = dict(row.cells)
    for name, cell in row.cells.items():
        matching = [other for other in controls if name in other.cells and other.cells[name].episodes]
        if not (matching and cell.episodes and cell.task.blindable):
            continue
        best = max(matching, key=lambda other: len(cell.episodes.keys() & other.cells[name].episodes.keys()))
        metric = cell.task.metrics[0]
        ours, blind = ((c.metrics[metric.name], c.paired_values(metric)) for c in (cell, best.cells[name]))
        if isnan(ours[0].mean) or isnan(blind[0].mean):  # some metrics need more episodes to be known
            continue
        clusters = joint_clusters(cell.episodes.clusters(), best.cells[name].episodes.clusters())
        control = blind_control(best.name, metric, ours, blind, len(cell.task.seatings), clusters)
        cells[name] = replace(cell, blind=control)
    return replace(row, cells=cells)


def summarise(whole: Suite, cells: Mapping[str, Cell]) -> dict[str, Estimate]:
    """The summaries of a suite for one entrant, those whose tasks were played."""
    summaries: dict[str, Estimate] = {}
    for summary in whole.summaries:
        tasks, metric = summary.task_names(whole), summary.metric
        some = {name: cells[name] for name in tasks if name in cells and cells[name].episodes}
        if not some or (summary.complete and len(some) < len(tasks)):
            continue
        if summary.combine is not None:
            estimates = {name: cell.table_estimate(metric) for name, cell in some.items()}
            if all(estimate.n for estimate in estimates.values()):
                summaries[summary.name] = summary.combine(estimates)
        elif metric is not None:
            pooled = metric.over([item for cell in some.values() for item in cell.observations(metric)])
            summaries[summary.name] = metric.in_table_units(pooled)
    return {name: estimate for name, estimate in summaries.items() if estimate.n}


def summarise_published(whole: Suite, values: Mapping[str, float]) -> dict[str, Estimate]:
    """The summaries of what tables show, from published values of the tasks; those that are known.

    A mean over episodes is not, since published values do not come with numbers of episodes.
    """
    estimates = {
        summary.name: summary.combine({task: exactly(values[task]) for task in summary.task_names(whole)})
        for summary in whole.summaries
        if summary.combine and not summary.metric and values.keys() >= set(summary.task_names(whole))
    }
    return {name: estimate for name, estimate in estimates.items() if not isnan(estimate.mean)}


@dataclass(frozen=True)
class LabelCounts:
    """How often one judge gave each label to conversations of one entrant."""

    judge: str
    judged: int
    unjudged: int
    """Conversations on which the judge gave no verdict."""
    labels: Mapping[str, int]


def read_label_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of labels; none if there is no file. A line cut off by a crash is dropped."""
    if not file.exists():
        return []
    try:
        lines = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        verdicts = [orjson.loads(line) for line in lines]
    except (OSError, orjson.JSONDecodeError):
        verdicts = [None]
    if not all(_is_line(line) for line in verdicts):
        raise BadFile(f"{str(file)!r} is not a file of labels: move it away, or choose another --out.")
    return verdicts


def _is_line(line: Any) -> bool:
    texts = ("key", "reason", "error")
    return (
        isinstance(line, dict)
        and all(isinstance(line.get(name), str) for name in texts)
        and isinstance(line.get("labels"), list)
        and all(isinstance(label, str) for label in line["labels"])
    )


def count_labels(row: Row) -> list[LabelCounts]:
    """The labels of an entrant's episodes, by judge.

    Lines about episodes that are not in the run, or were played again since, do not count.
    """
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in row.cells.values():
        for line in _lines_of(cell):
            lines.setdefault(str(line.get("judge", "")), {})[f"{cell.folder}:{line['key']}"] = line
    counts = []
    for judge, verdicts in lines.items():
        frequency = Counter(label for line in verdicts.values() for label in set(line["labels"]))
        failed = sum(bool(line["error"]) for line in verdicts.values())
        counts.append(LabelCounts(judge, len(verdicts) - failed, failed, dict(frequency)))
    return counts


def _lines_of(cell: Cell) -> Iterator[dict[str, Any]]:
    lines = list(read_label_lines(cell.folder / LABELS_FILE))
    rows = cell.episodes.rows() if lines else ()
    places = {row.key: (row.seed, row.seating, row.sample) for row in rows}
    for line in lines:
        place = places.get(line["key"])
        if place is not None and cell.read(place).episode.fingerprint() == line.get("fingerprint"):
            yield line
