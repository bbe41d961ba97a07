"""The tables of a report, independent of the format they are written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan, nan
from typing import Literal

from ludens.core.errors import UnknownName
from ludens.models.specs import is_model
from ludens.run.comparisons import Pair
from ludens.run.results import Cell, Row, SuiteResults, summarise_published
from ludens.run.stats import Estimate, exactly
from ludens.run.task import OVERALL, Metric, Summary, Task

RowKind = Literal["ours", "blind", "published"]

NOTHING = "–"
ALL_METRICS = "all"
"""In place of a metric's name."""
MAX_COLUMNS, CHUNK = 12, 8
"""A table with more columns is split into parts of at most CHUNK columns."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, in the unit the table shows."""

    estimate: Estimate
    digits: int = 1
    signed: bool = False
    published: bool = False
    """Published numbers have no interval."""

    @property
    def known(self) -> bool:
        """Whether the number is known."""
        return not isnan(self.estimate.mean)

    @property
    def point(self) -> bool:
        """Whether all observations were equal, so that their spread is unknown."""
        return not self.published and self.estimate.n > 0 and self.estimate.low == self.estimate.high

    @property
    def number(self) -> str:
        """The mean."""
        return self._text(self.estimate.mean, self.signed)

    @property
    def interval(self) -> str:
        """The interval; empty if there is none."""
        if self.published or not self.known:
            return ""
        if isnan(self.estimate.low):
            return f"[n = {self.estimate.n}]"
        if self.point:
            return f"[{self.estimate.n} equal]"
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
"""The contents of one field of a table."""


@dataclass(frozen=True)
class Column:
    """A heading, its unit, and whether the column has numbers."""

    name: str
    unit: str = ""
    numbers: bool = True


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    kind: RowKind
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Table:
    """A table with a title, and notes below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    notes: Sequence[str] = ()


def in_parts(parts: Sequence[Table]) -> list[Table]:
    """The parts of a table, with its notes below the last one."""
    return [*(replace(part, notes=()) for part in parts[:-1]), parts[-1]]


def split(table: Table) -> list[Table]:
    """A wide table in parts: one for each family of tasks, as in `perceive/chess`, or for some columns.

    Rows that are empty in a part are left out of it.
    """
    if len(table.columns) <= MAX_COLUMNS:
        return [table]
    parts = []
    for family, group in groupby(range(1, len(table.columns)), lambda i: _family(table.columns[i])):
        indices = list(group)
        starts = range(0, len(indices), CHUNK)
        parts += [_part(table, family, indices[start : start + CHUNK]) for start in starts]
    return in_parts(parts)


def _family(column: Column) -> str:
    return column.name.rpartition("/")[0]


def _part(table: Table, family: str, indices: Sequence[int]) -> Table:
    names = [replace(c, name=c.name.removeprefix(f"{family}/")) for c in table.columns]
    rows = [
        TableRow(row.kind, [row.entries[i] for i in (0, *indices)])
        for row in table.rows
        if any(row.entries[i] != NOTHING for i in indices)
    ]
    title = f"{table.title}: {family}" if family else table.title
    return replace(table, title=title, columns=[names[i] for i in (0, *indices)], rows=rows)


@dataclass(frozen=True)
class MetricColumn:
    """A metric of a task that a table shows."""

    task: Task
    metric: Metric
    normalised: bool

    @property
    def first(self) -> bool:
        """Whether it is the task's first metric, the one of published numbers."""
        return self.metric is self.task.metrics[0]

    @property
    def digits(self) -> int:
        """Digits after the decimal point."""
        return 1 if self.metric.percent or self.normalised else 2

    @property
    def unit(self) -> str:
        """The unit in the heading."""
        if self.normalised:
            return f"{self.metric.name}, 0 random to 100 optimal"
        direction = "" if self.metric.higher_is_better else ", lower is better"
        return self.metric.name + (" %" if self.metric.percent else "") + direction

    def value(self, row: Row) -> Value | None:
        """The value of an entrant; None if it did not play the task."""
        cell = row.cells.get(self.task.name)
        return None if cell is None else Value(cell.shown(self.metric), self.digits)


def metric_columns(found: SuiteResults, metrics: Sequence[str] = ()) -> list[MetricColumn]:
    """The metrics that tables show: the first of each task, or those named."""
    known = {metric.name for task in found.tasks.values() for metric in task.metrics}
    for name in metrics:
        if name != ALL_METRICS and name not in known:
            raise UnknownName(f"metric of {found.suite.name}", name, {*known, ALL_METRICS})
    return [
        MetricColumn(task, metric, metric is task.metrics[0] and task.name in found.suite.anchors)
        for task in found.tasks.values()
        for metric in task.metrics
        if metric.name in metrics or ALL_METRICS in metrics or (not metrics and metric is task.metrics[0])
    ]


def scores(found: SuiteResults, metrics: Sequence[str] = ()) -> Table:
    """Entrants x tasks, then fallbacks, voids and blind controls; published rows below ours."""
    shown = metric_columns(found, metrics)
    overall = any(summary.name == OVERALL for summary in found.suite.summaries)
    columns = [Column("entrant", numbers=False), *(Column(s.task.name, s.unit) for s in shown)]
    columns += [Column(OVERALL)] if overall else []
    columns += [
        Column("fallback", "% of moves"),
        Column("void", "episodes"),
        Column("blind", "tasks above it"),
    ]
    rows = []
    for row in found.rows:
        entries = [row.label, *(s.value(row) or NOTHING for s in shown)]
        entries += [_value(row.overall)] if overall else []
        stats = [cell.reply_stats for cell in row.cells.values()]
        moves, void = sum(s.moves for s in stats), sum(cell.void for cell in row.cells.values())
        rate = sum(s.fallbacks for s in stats) / moves if moves else nan
        rows.append(TableRow(_kind(row), [*entries, percent(rate), str(void), _seen(row)]))
    for source in found.suite.published:
        values = [source.values.get(s.task.name) if s.first else None for s in shown]
        if any(value is not None for value in values):
            entries = [f"{source.model} (published: {source.source})"]
            entries += [_published(value, s.digits) for value, s in zip(values, shown, strict=True)]
            entries += [_published(source.values.get(OVERALL))] if overall else []
            rows.append(TableRow("published", [*entries, *[NOTHING] * 3]))
    points = any(isinstance(entry, Value) and entry.point for row in rows for entry in row.entries)
    return Table(found.suite.name, columns, rows, list(_notes(found, points)))


def _kind(row: Row) -> RowKind:
    return "blind" if row.blind else "ours"


def _value(estimate: Estimate | None, digits: int = 1) -> Entry:
    return NOTHING if estimate is None else Value(estimate, digits)


def _published(value: float | None, digits: int = 1) -> Entry:
    return NOTHING if value is None else Value(exactly(value), digits, published=True)


def _seen(row: Row) -> str:
    """In how many tasks with a blind control the model was better with pictures."""
    if row.blind:
        return "control"
    controls = [cell.blind for cell in row.cells.values() if cell.blind is not None]
    if not controls:
        return "no control" if is_model(row.spec) else NOTHING
    return f"{sum(control.sees for control in controls)} of {len(controls)}"


def _notes(found: SuiteResults, points: bool) -> Iterator[str]:
    yield "Brackets contain 95% intervals."
    if points:
        yield "Where all observations were equal there is no interval: their spread is unknown."
    if any(row.settings for row in found.rows):
        yield (
            "Entrants with settings in parentheses did not play with the suite's (pictures, direct answers, "
            "1 frame, no memory): compare them with published results only with care."
        )
    yield from found.cautions
    yield from sorted({note for row in found.rows for cell in row.cells.values() for note in cell.remarks})
    for row in found.rows:
        unfinished = [
            f"{name} {len(cell.episodes)} of {cell.planned}"
            for name, cell in row.cells.items()
            if len(cell.episodes) < cell.planned
        ]
        if unfinished:
            yield f"Unfinished: {row.label} ({', '.join(unfinished)})."
    yield from (f"Warning: {warning}" for warning in found.warnings)


def shown_summaries(found: SuiteResults) -> list[Summary]:
    """The summaries of what tables show, but `OVERALL`."""
    return [s for s in found.suite.summaries if s.metric is None and s.name != OVERALL]


def task_scores(found: SuiteResults) -> Table | None:
    """Summaries of what tables show; published rows too, if all their tasks were published."""
    names = [summary.name for summary in shown_summaries(found)]
    rows = [
        TableRow(_kind(row), [row.label, *(_value(row.summaries.get(name)) for name in names)])
        for row in found.rows
        if row.summaries.keys() & set(names)
    ]
    for source in found.suite.published if rows else ():
        made = summarise_published(found.suite, source.values)
        if made.keys() & set(names):
            entries = [_published(made[name].mean if name in made else None) for name in names]
            rows.append(TableRow("published", [f"{source.model} (published: {source.source})", *entries]))
    columns = [Column("entrant", numbers=False), *map(Column, names)]
    return Table("Scores over several tasks", columns, rows) if rows else None


def metric_summaries(found: SuiteResults) -> Table | None:
    """Summaries of other metrics: one row each, a column for every entrant."""
    names = [summary.name for summary in found.suite.summaries if summary.metric is not None]
    entrants = [row for row in found.rows if row.summaries.keys() & set(names)]
    rows = [
        TableRow("ours", [name, *(_value(row.summaries.get(name), 2) for row in entrants)])
        for name in names
        if any(name in row.summaries for row in entrants)
    ]
    columns = [Column("over all tasks", numbers=False), *(Column(row.label) for row in entrants)]
    return Table("Over all tasks", columns, rows) if rows else None


def further(found: SuiteResults, metrics: Sequence[str] = ()) -> Table | None:
    """Every metric that `scores` does not show."""
    known = {(s.task.name, s.metric.name) for s in metric_columns(found, metrics) if not s.normalised}
    rows = [
        TableRow(_kind(row), [row.label, name, column.unit, raw(cell.metrics[metric.name], metric)])
        for row in found.rows
        for name, cell in row.cells.items()
        for metric in cell.task.metrics
        for column in [MetricColumn(cell.task, metric, normalised=False)]
        if (name, metric.name) not in known
    ]
    rows += [
        TableRow(
            "published", [f"{source.model} (published: {source.source})", task, metric, _published(value)]
        )
        for source in found.suite.published
        for (task, metric), value in source.further.items()
        if task in found.tasks
    ]
    columns = [Column(name, numbers=False) for name in ("entrant", "task", "metric")]
    return Table("Further metrics", [*columns, Column("value")], rows) if rows else None


def replies(found: SuiteResults) -> Table:
    """Per entrant and task: verdicts, voids, blind control, tokens, cost."""
    columns = (
        Column("entrant", numbers=False), Column("task", numbers=False), Column("episodes"), Column("moves"),
        Column("fallback", "%"), Column("retried", "%"), Column("illegal", "replies"),
        Column("unreadable", "replies"), Column("late", "replies"), Column("truncated", "replies"),
        Column("void"),
        Column("blind", "first metric"), Column("tokens", "in + out"), Column("cost"),
    )  # fmt: skip
    rows = [
        TableRow(_kind(row), [row.label, name, *_reply_entries(cell)])
        for row in found.rows
        for name, cell in row.cells.items()
    ]
    return Table("Replies", columns, rows)


def _reply_entries(cell: Cell) -> list[Entry]:
    stats, usage = cell.reply_stats, cell.usage
    return [
        f"{len(cell.episodes)}/{cell.planned}",
        f"{stats.moves:,}",
        percent(stats.fallback_rate),
        percent(stats.retried_rate),
        *map(str, (stats.illegal, stats.unreadable, stats.late, stats.truncated, cell.void)),
        NOTHING if cell.blind is None else raw(cell.blind.estimate, cell.task.metrics[0]),
        f"{usage.input_tokens + usage.output_tokens:,}" if usage.calls else NOTHING,
        NOTHING if usage.cost is None else f"{usage.cost:.4f}",
    ]


def pairs(found: SuiteResults) -> Table | None:
    """Comparisons of entrants."""
    columns = (
        Column("task", numbers=False), Column("a", numbers=False), Column("b", numbers=False),
        Column("a - b", "first metric"), Column("seeds"), Column("p"), Column("better", numbers=False),
        Column("still needed", "episodes each"),
    )  # fmt: skip
    labels = {row.name: row.label for row in found.rows}
    rows = [TableRow("ours", _pair(pair, labels)) for pair in found.pairs]
    notes = [
        "An entrant is better if the 95% interval excludes 0, which is the case exactly if p is below 0.05. "
        "Fewer than 6 seeds cannot show a difference.",
        "p is not corrected for multiple comparisons.",
    ]
    return Table("Paired differences on shared seeds", columns, rows, notes) if rows else None


def _pair(pair: Pair, labels: Mapping[str, str]) -> list[Entry]:
    a, b = labels[pair.a], labels[pair.b]
    names: list[Entry] = [pair.task, a, b]
    if not pair.difference.n:
        return [*names, NOTHING, "0", NOTHING, "no shared seeds", NOTHING]
    better = {"a": a, "b": b}.get(pair.verdict, "not significant")
    needed = "" if pair.verdict in ("a", "b") else "unknown" if pair.needed is None else f"{pair.needed:,}"
    p = NOTHING if isnan(pair.p_value) else "< 0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}"
    difference = raw(pair.difference, pair.metric, signed=True)
    return [*names, difference, str(pair.difference.n), p, better, needed]


def raw(estimate: Estimate, metric: Metric, *, signed: bool = False) -> Value:
    """A metric in table units, not normalised."""
    return Value(metric.in_table_units(estimate), 1 if metric.percent else 2, signed)


def percent(rate: float) -> str:
    """A proportion in percent."""
    return NOTHING if isnan(rate) else f"{100 * rate:.1f}"


def all_tables(found: SuiteResults, metrics: Sequence[str] = ()) -> list[Table]:
    """Every table of a suite."""
    rest = (
        task_scores(found),
        metric_summaries(found),
        further(found, metrics),
        replies(found),
        pairs(found),
    )
    return [*split(scores(found, metrics)), *filter(None, rest)]
