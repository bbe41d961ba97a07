"""The tables of a report, before anybody decides whether they become text, Markdown, LaTeX or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal

from ludens.core.errors import UnknownName
from ludens.run.against import Pair
from ludens.run.cells import Cell, Row, in_table_units
from ludens.run.results import SuiteResults, combined
from ludens.run.stats import Estimate, exactly
from ludens.run.task import Metric, Task

Kind = Literal["ours", "blind", "published"]

NOTHING = "–"
EVERY = "all"
"""As a metric's name: all of them."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, in the unit the table shows."""

    estimate: Estimate
    digits: int = 1
    signed: bool = False
    alone: bool = False
    """Published numbers come without an interval."""

    @property
    def known(self) -> bool:
        """Whether there is a number at all."""
        return not isnan(self.estimate.mean)

    @property
    def point(self) -> bool:
        """Whether all observations were the same: nobody knows then how far others would have spread."""
        return not self.alone and self.estimate.n > 0 and self.estimate.low == self.estimate.high

    @property
    def number(self) -> str:
        """The mean."""
        return self._text(self.estimate.mean, self.signed)

    @property
    def interval(self) -> str:
        """The interval, empty where there is none to speak of."""
        if self.alone or not self.known:
            return ""
        if isnan(self.estimate.low):
            return f"[n = {self.estimate.n}]"
        if self.point:
            return f"[{self.estimate.n} alike]"
        low, high = self._text(self.estimate.low, self.signed), self._text(self.estimate.high, self.signed)
        return f"[{low}, {high}]"

    def __str__(self) -> str:
        return f"{self.number} {self.interval}".rstrip()

    def _text(self, number: float, signed: bool) -> str:
        if isnan(number):
            return NOTHING
        if number in (float("inf"), float("-inf")):
            return "∞" if number > 0 else "-∞"
        text = f"{number:+.{self.digits}f}" if signed else f"{number:.{self.digits}f}"
        return text.lstrip("+-") if not float(text) else text


Entry = str | Value


@dataclass(frozen=True)
class Column:
    """A heading, its unit, and whether numbers stand under it."""

    name: str
    unit: str = ""
    numbers: bool = True


@dataclass(frozen=True)
class Line:
    """A row and where it comes from."""

    kind: Kind
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Table:
    """What every format writes in its own way."""

    title: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    notes: Sequence[str] = ()


def noted_once(parts: Sequence[Table]) -> list[Table]:
    """The parts of a table, with its notes below the last one alone."""
    return [*(replace(part, notes=()) for part in parts[:-1]), parts[-1]]


@dataclass(frozen=True)
class Shown:
    """One task's metric that a table shows."""

    task: Task
    metric: Metric
    normalised: bool

    @property
    def first(self) -> bool:
        """Whether it is the one by which a task is known: published numbers speak of it."""
        return self.metric is self.task.metrics[0]

    @property
    def digits(self) -> int:
        """After the point."""
        return 1 if self.metric.percent or self.normalised else 2

    @property
    def unit(self) -> str:
        """What is counted."""
        if self.normalised:
            return f"{self.metric.name}, 0 random to 100 optimal"
        arrow = "" if self.metric.higher_is_better else ", less is better"
        return self.metric.name + (" %" if self.metric.percent else "") + arrow

    def value(self, row: Row) -> Value | None:
        """What this entrant reached, where it played the task."""
        cell = row.cells.get(self.task.name)
        return None if cell is None else Value(cell.shown(self.metric), self.digits)


def chosen(found: SuiteResults, metrics: Sequence[str] = ()) -> list[Shown]:
    """The columns of a table: the first metric of each task, or those named."""
    known = {metric.name for task in found.tasks.values() for metric in task.metrics}
    for name in metrics:
        if name != EVERY and name not in known:
            raise UnknownName(f"metric of {found.suite.name}", name, {*known, EVERY})
    shown = []
    for task in found.tasks.values():
        for metric in task.metrics:
            first = metric is task.metrics[0]
            if (not metrics and first) or metric.name in metrics or EVERY in metrics:
                shown.append(Shown(task, metric, first and task.name in found.suite.anchors))
    return shown


def scores(found: SuiteResults, metrics: Sequence[str] = ()) -> Table:
    """Models x tasks, then how they behaved; published rows below ours."""
    shown = chosen(found, metrics)
    overall = found.suite.overall is not None
    columns = [Column("entrant", numbers=False), *(Column(s.task.name, s.unit) for s in shown)]
    columns += [Column("overall")] if overall else []
    columns += [
        Column("fallback", "% of moves"),
        Column("void", "episodes"),
        Column("blind", "tasks above it"),
    ]
    lines = [_score_line(row, shown, overall) for row in found.rows]
    for source in found.suite.published:
        values = [source.values.get(s.task.name) if s.first else None for s in shown]
        if any(value is not None for value in values):
            entries: list[Entry] = [f"{source.model} (published: {source.source})"]
            entries += [_published(value, s) for value, s in zip(values, shown, strict=True)]
            whole = source.values.get("overall")
            entries += [NOTHING if whole is None else Value(exactly(whole), alone=True)] if overall else []
            lines.append(Line("published", [*entries, *[NOTHING] * 3]))
    points = any(isinstance(entry, Value) and entry.point for line in lines for entry in line.entries)
    return Table(found.suite.name, columns, lines, list(_notes(found, points)))


def _score_line(row: Row, shown: Sequence[Shown], overall: bool) -> Line:
    entries: list[Entry] = [row.name]
    entries += [s.value(row) or NOTHING for s in shown]
    if overall:
        entries.append(Value(row.overall) if row.overall is not None else NOTHING)
    void = sum(cell.void for cell in row.cells.values())
    entries += [share(row.reply_stats.fallback_rate), str(void), _seen(row)]
    return Line("blind" if row.blind else "ours", entries)


def _published(value: float | None, shown: Shown) -> Entry:
    if value is None:
        return NOTHING
    return Value(Estimate(value, value, value, 0, 0.0), shown.digits, alone=True)


def _seen(row: Row) -> str:
    """In how many tasks with a blind control the pictures made a difference."""
    if row.blind:
        return "control"
    controls = [cell.blind for cell in row.cells.values() if cell.blind is not None]
    if not controls:
        return "no control" if row.model else NOTHING
    return f"{sum(control.sees for control in controls)} of {len(controls)}"


def _notes(found: SuiteResults, points: bool) -> Iterator[str]:
    yield "Brackets hold 95% intervals."
    if points:
        yield "Where all observations were alike there is no interval: their spread is not known."
    yield from found.cautions
    cells = [cell for row in found.rows for cell in row.cells.values()]
    yield from sorted(
        {note for cell in cells for one in cell.episodes.values() for note in one.episode.remarks}
    )
    for row in found.rows:
        short = [
            f"{name} {len(cell.episodes)} of {cell.planned}"
            for name, cell in row.cells.items()
            if len(cell.episodes) < cell.planned
        ]
        if short:
            yield f"Unfinished: {row.name} ({', '.join(short)})."
    yield from (f"Warning: {warning}" for warning in found.warnings)


def composites(found: SuiteResults) -> Table | None:
    """Numbers made of several tasks; published rows too, where all their tasks were published."""
    names = list(found.suite.scores)
    lines = [
        Line("blind" if row.blind else "ours", [row.name, *(_composite(row.scores.get(n)) for n in names)])
        for row in found.rows
        if row.scores
    ]
    for source in found.suite.published if lines else ():
        made = combined(found.suite, {task: exactly(value) for task, value in source.values.items()})
        if made:
            name = f"{source.model} (published: {source.source})"
            entries = [_composite(made.get(n), alone=True) for n in names]
            lines.append(Line("published", [name, *entries]))
    columns = [Column("entrant", numbers=False), *map(Column, names)]
    return Table("Scores over several tasks", columns, lines) if lines else None


def digest(found: SuiteResults) -> Table | None:
    """The suite's further numbers, one line each, a column for every entrant; None when it has none."""
    rows = [row for row in found.rows if row.digest]
    names = dict.fromkeys(name for row in rows for name in row.digest)
    lines = [Line("ours", [name, *(_digested(row.digest.get(name)) for row in rows)]) for name in names]
    columns = [Column("over all tasks", numbers=False), *(Column(row.name) for row in rows)]
    return Table("Over all tasks", columns, lines) if lines else None


def _digested(estimate: Estimate | None) -> Entry:
    return NOTHING if estimate is None else Value(estimate, digits=2)


def _composite(estimate: Estimate | None, *, alone: bool = False) -> Entry:
    return NOTHING if estimate is None else Value(estimate, alone=alone)


def further(found: SuiteResults, metrics: Sequence[str] = ()) -> Table | None:
    """Every metric that the scores do not show; None when they show all."""
    there = {(s.task.name, s.metric.name) for s in chosen(found, metrics) if not s.normalised}
    lines = [
        Line(
            "blind" if row.blind else "ours",
            [row.name, name, Shown(cell.task, metric, False).unit, raw(cell.metrics[metric.name], metric)],
        )
        for row in found.rows
        for name, cell in row.cells.items()
        for metric in cell.task.metrics
        if (name, metric.name) not in there
    ]
    columns = [Column(name, numbers=False) for name in ("entrant", "task", "metric")]
    return Table("Further metrics", [*columns, Column("value")], lines) if lines else None


def details(found: SuiteResults) -> Table:
    """One line an entrant and task: verdicts, voids, blind control, tokens, cost."""
    columns = (
        Column("entrant", numbers=False), Column("task", numbers=False), Column("episodes"), Column("moves"),
        Column("fallback", "%"), Column("retried", "%"), Column("illegal", "tries"),
        Column("unreadable", "tries"), Column("late", "tries"), Column("void"),
        Column("blind", "first metric"), Column("tokens", "in + out"), Column("cost"),
    )  # fmt: skip
    lines = [
        Line("blind" if row.blind else "ours", [row.name, name, *_detail(cell)])
        for row in found.rows
        for name, cell in row.cells.items()
    ]
    return Table("Conduct", columns, lines)


def _detail(cell: Cell) -> list[Entry]:
    reply_stats, usage, first = cell.reply_stats, cell.usage, cell.task.metrics[0]
    metrics = [f"{metric.name} {raw(cell.metrics[metric.name], metric)}" for metric in cell.task.metrics]
    if cell.normalised is not None:
        metrics.append(f"normalised {Value(cell.normalised)}")
    blind: Entry = NOTHING
    if cell.blind is not None:
        blind = raw(cell.blind.estimate, first)
    return [
        f"{len(cell.episodes)}/{cell.planned}",
        f"{reply_stats.moves:,}",
        share(reply_stats.fallback_rate),
        share(reply_stats.retried_rate),
        *map(str, (reply_stats.illegal, reply_stats.unreadable, reply_stats.late, cell.void)),
        blind,
        f"{usage.input_tokens + usage.output_tokens:,}" if usage.calls else NOTHING,
        NOTHING if usage.cost is None else f"{usage.cost:.4f}",
    ]


def pairs(found: SuiteResults) -> Table | None:
    """Entrants held against each other; None when there is nobody to compare."""
    if not found.pairs:
        return None
    columns = (
        Column("task", numbers=False), Column("a", numbers=False), Column("b", numbers=False),
        Column("a - b", "first metric"), Column("seeds"), Column("p"), Column("better", numbers=False),
        Column("still needed", "episodes each"),
    )  # fmt: skip
    lines = [Line("ours", _pair(pair)) for pair in found.pairs]
    return Table(
        "Paired differences on shared seeds", columns, lines, ["p is not corrected for many comparisons."]
    )


def _pair(pair: Pair) -> list[Entry]:
    seeds = pair.difference.n
    if not seeds:
        return [pair.task, pair.a, pair.b, NOTHING, "0", NOTHING, "no seeds shared", NOTHING]
    better = {"a": pair.a, "b": pair.b}.get(pair.verdict, "not told apart")
    needed = "" if pair.verdict in ("a", "b") else "unknown" if pair.needed is None else f"{pair.needed:,}"
    p = NOTHING if isnan(pair.p_value) else "< 0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}"
    difference = raw(pair.difference, pair.metric, signed=True)
    return [pair.task, pair.a, pair.b, difference, str(seeds), p, better, needed]


def raw(estimate: Estimate, metric: Metric, *, signed: bool = False) -> Value:
    """A metric as it was measured, not normalised; shares as percent."""
    return Value(in_table_units(estimate, metric), 1 if metric.percent else 2, signed)


def share(rate: float) -> str:
    """A share as percent."""
    return NOTHING if isnan(rate) else f"{100 * rate:.1f}"
