"""Reference scores next to results: rows of tables, and entrants that are not above the blind baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ludens.run.cells import Cell
from ludens.run.comparisons import MIN_NONZERO
from ludens.run.references import BLIND, ROWS, Score, TaskReferences, references_of
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import Estimate, games_needed, normalised
from ludens.run.task import Metric, Task


@dataclass(frozen=True)
class ReferenceScores:
    """The reference scores of a suite, in the units of its tables."""

    found: SuiteResults

    @cached_property
    def tasks(self) -> Mapping[str, TaskReferences]:
        """By task; those that were measured."""
        return references_of(self.found.suite, self.found.suite.tasks)

    def score(self, row: str, task: Task, metric: Metric) -> Score | None:
        """What the player behind a row (`ROWS`) reached."""
        known = self.tasks.get(task.name)
        return known.get(ROWS[row], metric) if known else None

    def shown(self, row: str, task: Task, metric: Metric, *, raw: bool = False) -> Estimate | None:
        """The same as tables show it: the first metric normalised if anchored, unless `raw`."""
        score, anchors = self.score(row, task, metric), self.found.suite.anchors.get(task.name)
        if score is None:
            return None
        if anchors and metric.name == task.metrics[0].name and not raw:
            return normalised(score.estimate, *anchors)
        return metric.in_table_units(score.estimate)

    def summaries(self, row: str) -> dict[str, Estimate]:
        """The summaries of what tables show, where all their tasks have a score."""
        suite = self.found.suite
        first = {task.name: self.shown(row, task, task.metrics[0]) for task in suite.tasks}
        made = {}
        for summary in suite.summaries:
            if summary.combine is None or summary.metric is not None:
                continue
            names = summary.tasks or tuple(first)
            known = {name: estimate for name in names if (estimate := first.get(name)) is not None}
            if known and (len(known) == len(names) or not summary.complete):
                made[summary.name] = summary.combine(known)
        return made

    def above(self, cell: Cell, metric: Metric) -> bool | None:
        """Whether a cell is significantly better than the blind baseline; None if that cannot be said."""
        score = self.score(BLIND, cell.task, metric)
        same = cell.task.seatings == self.found.tasks[cell.task.name].seatings
        if score is None or not cell.episodes or not same:
            return None
        ours = cell.metrics[metric.name]
        if ours.low == ours.high and ours.n < MIN_NONZERO:  # equal by chance: their spread is unknown
            return False
        gain = ours.mean - score.mean if metric.higher_is_better else score.mean - ours.mean
        return gain > 0 and games_needed(ours, score.estimate) == 0

    def marked(self, row: Row, cell: Cell, metric: Metric) -> bool:
        """Whether a score is marked: models and people that are not above the baseline."""
        return is_measured(row) and self.above(cell, metric) is False

    @property
    def warnings(self) -> Iterator[str]:
        """Where an entrant is not above the blind baseline."""
        for row in self.found.rows:
            checked = [
                cell for cell in row.cells.values() if self.above(cell, cell.task.metrics[0]) is not None
            ]
            below = [cell for cell in checked if self.marked(row, cell, cell.task.metrics[0])]
            if below:
                named = "; ".join(map(self._compared, below))
                count = f"{len(below)} of {len(checked)} tasks"
                yield f"{row.label} is not above the blind baseline on {count}: {named}."

    def _compared(self, cell: Cell) -> str:
        metric = cell.task.metrics[0]
        score = self.score(BLIND, cell.task, metric)
        theirs = self.shown(BLIND, cell.task, metric)
        assert score is not None
        assert theirs is not None
        return f"{cell.task.name} {cell.shown(metric).mean:.3g} ({score.player} {theirs.mean:.3g})"


def is_measured(row: Row) -> bool:
    """Whether an entrant is a model or a person: bots and blind controls are references themselves."""
    return not row.blind and not row.spec.startswith("bot/")


def all_warnings(found: SuiteResults) -> tuple[str, ...]:
    """All warnings of a suite."""
    return (*ReferenceScores(found).warnings, *found.warnings)
