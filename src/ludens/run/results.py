"""What came of runs: their folders read, their entrants counted, controlled and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import isnan
from pathlib import Path

from ludens.core.episode import Usage
from ludens.core.errors import BadFile, BadOption
from ludens.core.spec import parse_spec
from ludens.run.against import Pair, blind_control, compare, control_key
from ludens.run.cells import Cell, Place, ReplyStats, Row, reply_stats_of
from ludens.run.plan import Job, Plan
from ludens.run.stats import Estimate, normalised
from ludens.run.store import Record, read_plan, read_records
from ludens.run.task import EpisodeResult, Suite, Task, suite

ALL_PAIRS_UP_TO = 6
"""With more entrants than this, each is compared only with the best of its task."""


@dataclass(frozen=True)
class SuiteResults:
    """Everything measured on one suite."""

    suite: Suite
    tasks: Mapping[str, Task]
    """Those that were played, in the suite's order."""
    rows: tuple[Row, ...]
    cautions: tuple[str, ...] = ()
    """What a reader must know about runs that are not quite what this Ludens would play."""

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Entrants held against each other on the first metric of each task.

        Blind controls are left out: what there is to say about them is said to their own models.
        """
        return tuple(pair for task in self.tasks.values() for pair in self._pairs(task))

    @property
    def warnings(self) -> Iterator[str]:
        """The tripwire: where a model with pictures does no better than the same model without."""
        for row in self.rows:
            for name, cell in row.cells.items():
                if cell.blind is not None and not cell.blind.sees:
                    yield f"{row.name} on {name}: {cell.blind.sentence}"

    def _pairs(self, task: Task) -> Iterator[Pair]:
        metric = task.metrics[0]
        rows = [row for row in self.rows if not row.blind and _played(row, task)]
        if len(rows) <= ALL_PAIRS_UP_TO:
            chosen = list(combinations(rows, 2))
        else:
            sign = 1 if metric.higher_is_better else -1
            best = max(rows, key=lambda row: sign * _number(row.cells[task.name].metrics[metric.name].mean))
            chosen = [(best, row) for row in rows if row is not best]
        for a, b in chosen:
            yield compare((a.name, a.cells[task.name]), (b.name, b.cells[task.name]), metric)


@dataclass(frozen=True)
class Results:
    """Several runs, read."""

    plans: Mapping[Path, Plan]
    suites: tuple[SuiteResults, ...]


def load_results(folders: Sequence[Path], options: Mapping[str, str] | None = None) -> Results:
    """Read the folders of one or several runs.

    Args:
        folders: Of the runs.
        options: Of their suites, in place of those the runs were begun with: how results are weighed.
    """
    plans: dict[Path, Plan] = {}
    for folder in folders:
        if folder in plans:
            raise BadOption(f"the run {str(folder)!r} stands twice.")
        plans[folder] = read_plan(folder)
    suites: dict[str, dict[Path, Plan]] = {}
    for folder, plan in plans.items():
        suites.setdefault(_with(plan.suite, options or {}), {})[folder] = plan
    return Results(plans, tuple(_suite_results(name, some) for name, some in suites.items()))


def _with(name: str, options: Mapping[str, str]) -> str:
    spec = parse_spec(name)
    return str(replace(spec, options={**spec.options, **options})) if options else name


def _suite_results(name: str, plans: Mapping[Path, Plan]) -> SuiteResults:
    whole = suite(name)
    rows: list[Row] = []
    for folder, plan in plans.items():
        for row in _rows(folder, plan, whole):
            _place(row, rows)
    rows = [_controlled(row, rows) for row in _told_apart(rows)]
    rows = [
        replace(row, overall=_overall(whole, row), scores=_scores(whole, row), digest=_digest(whole, row))
        for row in rows
    ]
    played = {task for row in rows for task in row.cells}
    tasks = {task.name: task for task in whole.tasks if task.name in played}
    return SuiteResults(whole, tasks, tuple(rows), tuple(_cautions(plans)))


def _cautions(plans: Mapping[Path, Plan]) -> Iterator[str]:
    for folder, plan in plans.items():
        try:
            plan.check_unchanged()
        except BadOption as error:
            yield f"Read with care, {folder}: {error}"


@dataclass
class _Pile:
    """The records of one entrant at one task, before they are counted."""

    done: dict[Place, EpisodeResult] = field(default_factory=dict)
    voids: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=lambda: Usage(calls=0))


def _rows(folder: Path, plan: Plan, whole: Suite) -> Iterator[Row]:
    piles = {(entrant, name): _Pile() for name, task in plan.chosen.items() for entrant in plan.playing(task)}
    for record in read_records(folder):
        pile = piles.get((record.entrant, record.task))
        if pile is None or not 0 <= record.seating < len(plan.chosen[record.task].seatings):
            raise BadFile(
                f"{str(folder)!r} holds the episode {record.key!r}, which its run.json does not plan."
            )
        _add(pile, record, plan)
    render = (plan.theme, plan.size, plan.templates)
    # The suite's options may have put another metric first than the run was begun with.
    metrics = {task.name: task.metrics for task in whole.tasks}
    weighed = {
        name: replace(task, metrics=metrics.get(name, task.metrics)) for name, task in plan.chosen.items()
    }
    for entrant, spec in plan.entrants.items():
        cells = {
            name: _cell(task, piles[entrant, name], plan.count(task), whole)
            for name, task in weighed.items()
            if (entrant, name) in piles
        }
        yield Row(entrant, spec, (folder,), render, cells)


def _add(pile: _Pile, record: Record, plan: Plan) -> None:
    episode = record.episode
    job = Job(record.key, record.entrant, record.task, episode.seed, record.seating)
    seats = plan.seats(job)
    for seat in seats:
        pile.usage = pile.usage + episode.usage(seat)
    if episode.status == "void":
        pile.voids[episode.error or "no reason is known"] += 1
    else:
        pile.done[episode.seed, record.seating] = EpisodeResult(record.key, episode, seats)


def _cell(task: Task, pile: _Pile, planned: int, whole: Suite) -> Cell:
    episodes = dict(sorted(pile.done.items()))
    played = list(episodes.values())
    metrics = {metric.name: metric.estimate(played) for metric in task.metrics}
    anchors = whole.anchors.get(task.name)
    return Cell(
        task,
        episodes,
        planned,
        dict(pile.voids.most_common()),
        sum((reply_stats_of(p.episode, p.seats) for p in played), ReplyStats()),
        pile.usage,
        metrics,
        normalised(metrics[task.metrics[0].name], *anchors) if anchors else None,
    )


def _place(row: Row, rows: list[Row]) -> None:
    """Add a row, or lay it over one that is the same entrant at other tasks."""
    for index, there in enumerate(rows):
        same = (there.name, there.spec, there.render) == (row.name, row.spec, row.render)
        if same and not there.cells.keys() & row.cells.keys():
            rows[index] = replace(
                there, folders=(*there.folders, *row.folders), cells={**there.cells, **row.cells}
            )
            return
    rows.append(row)


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """Rows of one name are told apart by the folder of their run."""
    names = Counter(row.name for row in rows)
    apart = [
        row if names[row.name] == 1 else replace(row, name=f"{row.name} ({row.folders[0].name})")
        for row in rows
    ]
    again = Counter(row.name for row in apart)
    return [
        row
        if again[row.name] == 1
        else replace(row, name=f"{row.name.rpartition(' (')[0]} ({row.folders[0]})")
        for row in apart
    ]


def _controlled(row: Row, rows: Sequence[Row]) -> Row:
    """The row with its blind controls: the same spec but for `blind`, and most episodes in common."""
    if row.blind:
        return row
    twins = [other for other in rows if other.blind and control_key(other.spec) == control_key(row.spec)]
    cells = dict(row.cells)
    for name, cell in row.cells.items():
        found = [twin for twin in twins if name in twin.cells and twin.cells[name].episodes]
        if not (found and cell.episodes and cell.task.blindable):
            continue
        best = max(found, key=lambda twin: len(cell.episodes.keys() & twin.cells[name].episodes.keys()))
        cells[name] = replace(cell, blind=blind_control(cell, best.cells[name], best.name))
    return replace(row, cells=cells)


def _overall(whole: Suite, row: Row) -> Estimate | None:
    """The suite's one number, which needs every task."""
    if whole.overall is None or any(task.name not in row.cells for task in whole.tasks):
        return None
    shown = {task.name: row.cells[task.name].shown() for task in whole.tasks}
    return whole.overall(shown) if all(estimate.n for estimate in shown.values()) else None


def _played(row: Row, task: Task) -> bool:
    return task.name in row.cells and len(row.cells[task.name].episodes) > 0


def _scores(whole: Suite, row: Row) -> dict[str, Estimate]:
    return combined(whole, {name: cell.shown() for name, cell in row.cells.items() if cell.episodes})


def _digest(whole: Suite, row: Row) -> Mapping[str, Estimate]:
    played = {name: list(cell.episodes.values()) for name, cell in row.cells.items() if cell.episodes}
    return whole.digest(played) if whole.digest is not None and played else {}


def combined(whole: Suite, shown: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The suite's scores that can be made of these estimates: those for which no task is missing."""
    found = {}
    for name, score in whole.scores.items():
        try:
            found[name] = score(shown)
        except KeyError:
            continue
    return found


def _number(mean: float) -> float:
    return float("-inf") if isnan(mean) else mean
