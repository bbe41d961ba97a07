"""Reference scores next to results: rows of tables, and what is said about entrants compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

from ludens.run.arena.standings import standings_of
from ludens.run.cells import TRUNCATED_LIMIT, Cell
from ludens.run.comparisons import MIN_NONZERO
from ludens.run.references import BLIND, DEAF, UPPER, Kind, Score, TaskReferences, references_of
from ludens.run.report.table import Value
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import Estimate, games_needed, normalised
from ludens.run.task import Metric, Task

MAX_NAMES = 4
"""Tasks that a warning names."""


@dataclass(frozen=True)
class ReferenceScores:
    """The reference scores of a suite, in the units of its tables."""

    results: SuiteResults

    @cached_property
    def tasks(self) -> Mapping[str, TaskReferences]:
        """By task; those that were measured, and that an entrant played with the suite's players."""
        suite, incomparable = self.results.suite, self.results.tasks.keys() - self.results.comparable
        return references_of(suite, [task for task in suite.tasks if task.name not in incomparable])

    @property
    def baseline(self) -> str:
        """What the row of the best player without the information that matters is called."""
        return DEAF if self.results.suite.deaf else BLIND

    @property
    def sense(self) -> str:
        """What that player never does."""
        return "listens" if self.results.suite.deaf else "looks"

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of score of the rows that every suite has."""
        return {self.baseline: "blind", UPPER: "upper"}

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Rows of tables: the blind baseline, players that see one cue alone, the upper bound."""
        scores = [score for task in self.tasks.values() for score in task.scores]
        cues = dict.fromkeys(score.player for score in scores if score.kind == "cue")
        return (self.baseline, *cues, UPPER)

    def score(self, row: str, task: Task, metric: Metric) -> Score | None:
        """What the player behind a row reached."""
        scores = self.tasks.get(task.name)
        if scores is None:
            return None
        if row in self.kinds:
            return scores.get(self.kinds[row], metric)
        cues = (one for one in scores.scores if one.kind == "cue" and one.player == row)
        return next((one for one in cues if one.metric == metric.name), None)

    def table_estimate(self, row: str, task: Task, metric: Metric, *, raw: bool = False) -> Estimate | None:
        """The same as tables show it: the first metric normalised if anchored, unless `raw`."""
        score, anchors = self.score(row, task, metric), self.results.suite.anchors.get(task.name)
        if score is None:
            return None
        if anchors and metric.name == task.metrics[0].name and not raw:
            return normalised(score.estimate, *anchors, metric.limits)
        return metric.in_table_units(score.estimate)

    def weak(self, task: Task) -> bool:
        """Whether a player that never looks comes more than half of the way to the upper bound."""
        scores = self.tasks.get(task.name)
        return scores is not None and scores.blind_share(task.metrics[0]) > 0.5

    def summaries(self, row: str) -> dict[str, Estimate]:
        """The summaries of what tables show, where all their tasks have a score."""
        suite = self.results.suite
        first = {task.name: self.table_estimate(row, task, task.metrics[0]) for task in suite.tasks}
        scores = {name: estimate for name, estimate in first.items() if estimate is not None}
        summaries = {each.name: each.of(scores, suite) for each in suite.summaries if each.metric is None}
        return {name: estimate for name, estimate in summaries.items() if estimate is not None}

    def above(self, cell: Cell, metric: Metric) -> bool | None:
        """Whether a cell is significantly better than the blind baseline; None if that cannot be said."""
        score = self.score(self.baseline, cell.task, metric)
        same = cell.task.seatings == self.results.tasks[cell.task.name].seatings
        if score is None or not cell.episodes or not same:
            return None
        ours = cell.metrics[metric.name]
        if isnan(ours.mean):
            return None
        if ours.low == ours.high and ours.n < MIN_NONZERO:  # equal by chance: their spread is unknown
            return False
        gain = ours.mean - score.mean if metric.higher_is_better else score.mean - ours.mean
        return gain > 0 and games_needed(ours, score.estimate) == 0

    def marked(self, row: Row, cell: Cell, metric: Metric) -> bool:
        """Whether a score is marked: models and people that are not above the baseline."""
        return is_measured(row) and self.above(cell, metric) is False

    def sentence(self, row: Row) -> str:
        """What a model or a person has shown, in one sentence."""
        cells = [cell for cell in row.cells.values() if cell.episodes]
        above = [(cell, self.above(cell, cell.task.metrics[0])) for cell in cells]
        sees = [(cell, cell.blind.sees) for cell in cells if cell.blind is not None]
        decided = [(cell, verdict) for cell, verdict in above if verdict is not None]
        parts = [f"overall {Value(row.overall)}"] if row.overall else []
        if decided:
            parts.append(f"significantly above the {self.baseline} on {_count(decided)}")
        if sees:
            parts.append(f"significantly better with pictures than blind on {_count(sees)}")
        if few := {cell.task.name for cell, verdict in (*decided, *sees) if cell.few and not verdict}:
            tasks = "1 task has" if len(few) == 1 else f"{len(few)} tasks have"
            parts.append(f"{tasks} fewer than {MIN_NONZERO} seeds, too few to show it")
        episodes = sum(len(cell.episodes) for cell in cells)
        return (
            f"{row.label}: {', '.join(parts) or f'{episodes:,} episodes, not compared with a blind player'}."
        )

    def warning(self, row: Row) -> str:
        """What is doubtful about the results of a model or a person, in one line; empty if nothing is.

        Cells with few seeds are left out: they cannot show a difference, whatever was played.
        """
        cells = [cell for cell in row.cells.values() if cell.episodes]
        below = [cell for cell in cells if not cell.few and self.marked(row, cell, cell.task.metrics[0])]
        unseeing = [cell for cell in cells if not cell.few and cell.blind and not cell.blind.sees]
        cut = [cell for cell in cells if cell.reply_stats.truncated_rate > TRUNCATED_LIMIT]
        parts = []
        if below:
            parts.append(f"not significantly above the {self.baseline} on {_names(below)}")
        if unseeing:
            parts.append(f"not significantly better with pictures than blind on {_names(unseeing)}")
        if cut:
            lost, replies = (
                sum(getattr(cell.reply_stats, n) for cell in cut) for n in ("truncated", "replies")
            )
            parts.append(
                f"{lost:,} of {replies:,} replies ({lost / replies:.1%}) cut off by the length limit on "
                f"{_names(cut)}, raise max_tokens"
            )
        return f"{row.label}: {'; '.join(parts)}." if parts else ""

    def evidence(self, row: Row) -> Iterator[str]:
        """The numbers behind a warning, one sentence for each task."""
        for name, cell in row.cells.items():
            metric = cell.task.metrics[0]
            if not cell.episodes or cell.few:
                continue
            if self.marked(row, cell, metric):
                yield f"{row.label} on {name}: {self._compared(cell)}"
            if cell.blind is not None and not cell.blind.sees:
                yield f"{row.label} on {name}: {cell.blind.sentence}"

    def _compared(self, cell: Cell) -> str:
        metric = cell.task.metrics[0]
        score = self.score(self.baseline, cell.task, metric)
        blind = self.table_estimate(self.baseline, cell.task, metric)
        assert score is not None
        assert blind is not None
        ours = cell.table_estimate(metric)
        reached = f"{blind.mean:.3g} of {score.player}, the {self.baseline}"
        return f"{metric.name} {ours.mean:.3g} is not above {reached}."


def _count(verdicts: Sequence[tuple[Cell, bool]]) -> str:
    total = len(verdicts)
    return f"{sum(verdict for _, verdict in verdicts)} of {total} task{'s' if total > 1 else ''}"


def _names(cells: Sequence[Cell]) -> str:
    names = [cell.task.name for cell in cells]
    more = len(names) - MAX_NAMES
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:MAX_NAMES])} and {more} more tasks"


def is_measured(row: Row) -> bool:
    """Whether an entrant is a model or a person: bots and blind controls are references themselves."""
    return not row.blind and not row.spec.startswith("bot/")


def sentences(results: SuiteResults) -> list[str]:
    scores = ReferenceScores(results)
    return [scores.sentence(row) for row in results.rows if is_measured(row)]


def warnings(results: SuiteResults) -> list[str]:
    """One line for each entrant whose results are doubtful; of matches, what is doubtful about ratings."""
    if results.is_arena:
        return standings_of(results).warnings
    scores = ReferenceScores(results)
    return [warning for row in results.rows if (warning := scores.warning(row))]


def evidence(results: SuiteResults) -> list[str]:
    scores = ReferenceScores(results)
    return [line for row in results.rows for line in scores.evidence(row)]
