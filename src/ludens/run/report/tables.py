"""The tables of a report, independent of the format they are written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from statistics import stdev
from typing import Any

from ludens.core.errors import UnknownName
from ludens.core.spec import parse_spec
from ludens.models.settings import is_model
from ludens.models.trained import trained_remark
from ludens.run.cells import Cell
from ludens.run.comparisons import Pair
from ludens.run.references import UPPER
from ludens.run.report.references import ReferenceScores, is_measured, sentences, warnings
from ludens.run.report.table import (
    MARK,
    NOTHING,
    TRAINED,
    WEAK,
    Column,
    Entry,
    RowKind,
    Source,
    Table,
    TableRow,
    Value,
    split,
)  # fmt: skip
from ludens.run.results import LabelCounts, Row, SuiteResults, count_labels, summarise_published
from ludens.run.stats import Estimate, exactly
from ludens.run.task import OVERALL, SUITES, Metric, Published, Summary, Task

NORMAL = "normal"


def judged_table(results: SuiteResults) -> Table | None:
    """One row per entrant and judge; None where nothing was judged."""
    counts = [(row, count) for row in results.rows for count in count_labels(row)]
    if not counts:
        return None
    labels = _labels(results, [count for _, count in counts])
    columns = [*Column.texts("entrant", "judge"), Column("judged")]
    rows = [
        TableRow(
            "ours", [row.label, count.judge, str(count.judged), *(_entry(count, label) for label in labels)]
        )
        for row, count in counts
    ]
    notes = [
        "Conversations with each label, and their share of the judged ones; several labels are possible."
    ]
    if failed := sum(count.unjudged for _, count in counts):
        notes.append(f"No verdict on {failed:,}: `ludens judge` tries them again.")
    return Table("Errors found by judges", [*columns, *map(Column, labels)], rows, notes)


def judged_data(results: SuiteResults) -> list[dict[str, Any]]:
    return [{"entrant": row.name, **asdict(count)} for row in results.rows for count in count_labels(row)]


def _labels(results: SuiteResults, counts: list[LabelCounts]) -> list[str]:
    rest = sorted({label for count in counts for label in count.labels} - set(results.suite.labels))
    return sorted([*results.suite.labels, *rest], key=lambda label: label == NORMAL)


def _entry(count: LabelCounts, label: str) -> Entry:
    number = count.labels.get(label, 0)
    return f"{number} ({100 * number / count.judged:.1f}%)" if count.judged else NOTHING


ALL_METRICS = "all"


@dataclass(frozen=True)
class MetricColumn:
    task: Task
    metric: Metric
    normalised: bool

    @property
    def first(self) -> bool:
        """Whether it is the task's first metric, the one of published numbers."""
        return self.metric is self.task.metrics[0]

    @property
    def digits(self) -> int:
        return 1 if self.metric.percent or self.normalised else 2

    @property
    def unit(self) -> str:
        if self.normalised:
            return f"{self.metric.name}, 0 random to 100 optimal"
        direction = "" if self.metric.higher_is_better else ", lower is better"
        return self.metric.name + (" %" if self.metric.percent else "") + direction

    def published(self, source: Published) -> float | None:
        """What a publication reports; of a metric that is not the first, only if it is named there."""
        if self.first:
            return source.values.get(self.task.name)
        return source.further.get((self.task.name, self.metric.name))

    def value(self, row: Row, references: ReferenceScores | None = None) -> Value | None:
        """The value of an entrant, marked if not above the baseline; None if it did not play the task."""
        cell = row.cells.get(self.task.name)
        if cell is None:
            return None
        marked = references is not None and references.marked(row, cell, self.metric)
        return Value(
            cell.table_estimate(self.metric),
            self.digits,
            marked=marked,
            source=Source(row.name, self.task.name),
        )


def headline(task: Task) -> tuple[Metric, ...]:
    """The first metric; where that is one of pairs of twin worlds, the usual one of single episodes too."""
    return task.metrics[: 2 if task.metrics[0].twins else 1]


def metric_columns(results: SuiteResults, metrics: Sequence[str] = ()) -> list[MetricColumn]:
    """The metrics that tables show: the first of each task, or those named."""
    names = {metric.name for task in results.tasks.values() for metric in task.metrics}
    for name in metrics:
        if name != ALL_METRICS and name not in names:
            raise UnknownName(f"metric of {results.suite.name}", name, {*names, ALL_METRICS})
    return [
        MetricColumn(task, metric, metric is task.metrics[0] and task.name in results.suite.anchors)
        for task in results.tasks.values()
        for metric in task.metrics
        if metric.name in metrics or ALL_METRICS in metrics or (not metrics and metric in headline(task))
    ]


def scores(results: SuiteResults, metrics: Sequence[str] = ()) -> Table:
    """Entrants x tasks, then fallbacks, voids and blind controls; reference and published rows below ours."""
    metrics_shown, references = metric_columns(results, metrics), ReferenceScores(results)
    overall = any(summary.name == OVERALL for summary in results.suite.summaries)
    columns = [
        Column("entrant", numbers=False),
        *(
            Column(s.task.name + (WEAK if s.first and references.weak(s.task) else ""), s.unit)
            for s in metrics_shown
        ),
    ]
    columns += [Column(OVERALL)] if overall else []
    columns += [
        Column("fallback", "% of moves"),
        Column("void", "episodes"),
        Column("blind", "tasks above it"),
    ]
    rows = []
    for row in results.rows:
        entries = [labelled(row), *(s.value(row, references) or NOTHING for s in metrics_shown)]
        entries += [_value(row.overall)] if overall else []
        stats = [cell.reply_stats for cell in row.cells.values()]
        moves, void = sum(s.moves for s in stats), sum(cell.void for cell in row.cells.values())
        rate = sum(s.fallbacks for s in stats) / moves if moves else nan
        rows.append(
            TableRow(
                kind_of(row),
                [*entries, percent(rate), str(void), _above_blind(row, references)],
                Source(row.name),
            )
        )
    for name in references.rows:
        values = [_value(references.table_estimate(name, s.task, s.metric), s.digits) for s in metrics_shown]
        if any(value != NOTHING for value in values):
            entries = [name, *values]
            entries += [_value(references.summaries(name).get(OVERALL))] if overall else []
            rows.append(TableRow("reference", [*entries, *[NOTHING] * 3]))
    for source in results.published:
        quoted = [s.published(source) for s in metrics_shown]
        if any(value is not None for value in quoted):
            entries = [_source_label(source)]
            entries += [quoted_value(v, s.digits) for v, s in zip(quoted, metrics_shown, strict=True)]
            entries += [quoted_value(source.values.get(OVERALL))] if overall else []
            rows.append(TableRow("published", [*entries, *[NOTHING] * 3]))
    notes = [*sentences(results), *_notes(results)]
    return Table(
        results.suite.name, columns, rows, notes, warnings(results), list(_legend(results, rows, references))
    )


def _source_label(source: Published) -> str:
    return f"{source.model} (published: {source.source})"


def kind_of(row: Row) -> RowKind:
    return "blind" if row.blind else "ours"


def labelled(row: Row) -> str:
    """The label of an entrant, marked if it was trained on these tasks."""
    return row.label + (TRAINED if row.trained else "")


def _value(estimate: Estimate | None, digits: int = 1) -> Entry:
    return NOTHING if estimate is None else Value(estimate, digits)


def quoted_value(value: float | None, digits: int = 1) -> Entry:
    """The entry of a published number."""
    return NOTHING if value is None else Value(exactly(value), digits, published=True)


def _above_blind(row: Row, references: ReferenceScores) -> str:
    """In how many tasks it was better than the blind baseline and, where there is one, its blind control."""
    if row.blind:
        return "control"
    checks = []
    for cell in row.cells.values() if is_measured(row) else ():
        control = None if cell.blind is None else cell.blind.sees
        comparisons = (control, references.above(cell, cell.task.metrics[0]))
        verdicts = [verdict for verdict in comparisons if verdict is not None]
        checks += [all(verdicts)] if verdicts else []
    if not checks:
        return "no control" if is_model(row.spec) else NOTHING
    return f"{sum(checks)} of {len(checks)}"


def _notes(results: SuiteResults) -> Iterator[str]:
    """What was not played, or not as it would be today, and what agents had to say."""
    for row in results.rows:
        unfinished = [
            f"{name} {len(cell.episodes)} of {cell.planned}"
            for name, cell in row.cells.items()
            if len(cell.episodes) < cell.planned
        ]
        if unfinished:
            yield f"Unfinished: {row.label} ({', '.join(unfinished)})."
    for name in results.tasks:
        cells = {row.label: cell for row in results.rows if (cell := row.cells.get(name))}
        for label, cell in cells.items():
            if cell.episodes.repeats:
                yield (
                    f"{name}: the {len(cell.episodes)} episodes of {label} share moves or pictures and count "
                    f"as {cell.episodes.distinct} in intervals."
                )
    yield from results.cautions
    marks = {
        trained_remark(parse_spec(row.spec).name, parse_spec(row.cells[task].task.game).name)
        for row in results.rows
        for task in row.trained
    }
    remarks = {note for _, _, cell in results.cells() for note in cell.remarks}
    yield from sorted(remarks - marks)


def _legend(results: SuiteResults, rows: Sequence[TableRow], references: ReferenceScores) -> Iterator[str]:
    yield "Brackets contain 95% intervals."
    if any(isinstance(entry, Value) and entry.point for row in rows for entry in row.entries):
        yield "[n equal]: all n observations were equal, so that their spread is unknown."
    if references.tasks.keys() & results.tasks.keys():
        yield (
            f"{MARK}: not significantly above the {references.baseline}, the best player that never "
            f"{references.sense}; the {UPPER} is the best known player."
        )
    if any(references.weak(task) for task in results.tasks.values()):
        sight = f"{results.suite.name.removesuffix('-mini')}-sight"
        instead = f"; {sight} has tasks that need sight" if sight in SUITES.names() else ""
        yield (
            f"{WEAK}: a player that never {references.sense} comes more than half of the way from chance to "
            f"the {UPPER} in this task{instead}."
        )
    for cue in references.rows:
        if cue not in references.kinds:
            yield f"{cue}: the best answers of a player that sees nothing else of the picture."
    if any(row.trained for row in results.rows):
        contrast = "; published models were not" if any(row.kind == "published" for row in rows) else ""
        yield f"{TRAINED}: trained on these tasks{contrast}."
    if any(row.settings for row in results.rows):
        yield (
            "(settings) after an entrant: not the suite's (pictures, direct answers, 1 frame, no memory); "
            "compare with published results only with care."
        )
    if any(row.seated for row in results.rows):
        yield (
            "SEAT: PLAYER after an entrant: that player had the seat. Published rows and references stand "
            "only where somebody played with the suite's own players, for whom normalised scores hold too."
        )


def shown_summaries(results: SuiteResults) -> list[Summary]:
    return [s for s in results.suite.summaries if s.metric is None and s.name != OVERALL]


def task_scores(results: SuiteResults) -> Table | None:
    """Summaries of what tables show; published rows too, if all their tasks were published."""
    names = [summary.name for summary in shown_summaries(results)]
    rows = [
        TableRow(
            kind_of(row),
            [labelled(row), *(_value(row.summaries.get(name)) for name in names)],
            Source(row.name),
        )
        for row in results.rows
        if row.summaries.keys() & set(names)
    ]
    references = ReferenceScores(results)
    for reference in references.rows if rows else ():
        reached = references.summaries(reference)
        if reached.keys() & set(names):
            rows.append(TableRow("reference", [reference, *(_value(reached.get(name)) for name in names)]))
    for source in results.published if rows else ():
        summaries = summarise_published(results.suite, source.values)
        if summaries.keys() & set(names):
            entries = [quoted_value(summaries[name].mean if name in summaries else None) for name in names]
            rows.append(TableRow("published", [_source_label(source), *entries]))
    columns = [Column("entrant", numbers=False), *map(Column, names)]
    return Table("Scores over several tasks", columns, rows) if rows else None


def metric_summaries(results: SuiteResults) -> Table | None:
    """Summaries of other metrics: one row each, a column for every entrant."""
    names = [summary.name for summary in results.suite.summaries if summary.metric is not None]
    entrants = [row for row in results.rows if row.summaries.keys() & set(names)]
    rows = [
        TableRow("ours", [name, *(_value(row.summaries.get(name), 2) for row in entrants)])
        for name in names
        if any(name in row.summaries for row in entrants)
    ]
    columns = [Column("over all tasks", numbers=False), *(Column(row.label) for row in entrants)]
    return Table("Over all tasks", columns, rows) if rows else None


def further(results: SuiteResults, metrics: Sequence[str] = ()) -> Table | None:
    in_scores = {(s.task.name, s.metric.name) for s in metric_columns(results, metrics) if not s.normalised}
    rows = [
        TableRow(
            kind_of(row),
            [row.label, name, column.unit, raw(cell.metrics[metric.name], metric)],
            Source(row.name, name),
        )
        for row, name, cell in results.cells()
        for metric in cell.task.metrics
        for column in [MetricColumn(cell.task, metric, normalised=False)]
        if (name, metric.name) not in in_scores
    ]
    references = ReferenceScores(results)
    rows += [
        TableRow("reference", [name, task.name, column.unit, Value(estimate, column.digits)])
        for name in (references.rows if rows else ())
        for task in results.tasks.values()
        for metric in task.metrics
        for column in [MetricColumn(task, metric, normalised=False)]
        if (task.name, metric.name) not in in_scores
        and (estimate := references.table_estimate(name, task, metric, raw=True)) is not None
    ]
    rows += [
        TableRow("published", [_source_label(source), task, metric, quoted_value(value)])
        for source in results.published
        for (task, metric), value in source.further.items()
        if task in results.tasks
    ]
    columns = Column.texts("entrant", "task", "metric")
    return Table("Further metrics", [*columns, Column("value")], rows) if rows else None


def replies(results: SuiteResults) -> Table:
    """Per entrant and task: verdicts, voids and blind control of its seats; tokens and cost of all seats."""
    columns = (
        *Column.texts("entrant", "task"), *map(Column, ("episodes", "different", "moves")),
        Column("fallback", "%"), Column("retried", "%"), Column("illegal", "replies"),
        Column("unreadable", "replies"), Column("late", "replies"), Column("truncated", "replies"),
        Column("void"),
        Column("blind", "first metric"), Column("tokens", "all seats"), Column("cost", "all seats"),
    )  # fmt: skip
    rows = [
        TableRow(kind_of(row), [row.label, name, *_reply_entries(cell)], Source(row.name, name))
        for row, name, cell in results.cells()
    ]
    return Table("Replies", columns, rows)


def _reply_entries(cell: Cell) -> list[Entry]:
    stats, usage = cell.reply_stats, cell.usage + cell.other_usage
    return [
        f"{len(cell.episodes)}/{cell.planned}",
        str(cell.episodes.distinct),
        f"{stats.moves:,}",
        percent(stats.fallback_rate),
        percent(stats.retried_rate),
        *map(str, (stats.illegal, stats.unreadable, stats.late, stats.truncated, cell.void)),
        NOTHING if cell.blind is None else raw(cell.blind.estimate, cell.task.metrics[0]),
        f"{usage.tokens:,}" if usage.calls else NOTHING,
        NOTHING if usage.cost is None else f"{usage.cost:.4f}",
    ]


def pairs(results: SuiteResults) -> Table | None:
    columns = (
        *Column.texts("task", "a", "b"), Column("a - b", "first metric"), Column("seeds"), Column("p"),
        *Column.texts("better"),
        Column("still needed", "episodes each"),
    )  # fmt: skip
    labels = {row.name: row.label for row in results.rows}
    rows = [TableRow("ours", _pair(pair, labels), Source(task=pair.task)) for pair in results.pairs]
    notes = [
        "An entrant is better if the 95% interval excludes 0, which is the case exactly if p is below 0.05. "
        "Fewer than 6 seeds cannot show a difference. Where seeds share pictures, these are counted.",
        "p is not corrected for multiple comparisons.",
    ]
    return Table("Paired differences on shared seeds", columns, rows, notes) if rows else None


def _pair(pair: Pair, labels: Mapping[str, str]) -> list[Entry]:
    a, b = labels[pair.a], labels[pair.b]
    names: list[Entry] = [pair.task, a, b]
    if not pair.difference.n:
        return [*names, NOTHING, "0", NOTHING, "no shared seeds", NOTHING]
    better = {"a": a, "b": b}.get(pair.verdict, "not significant")
    number = "unknown" if pair.missing_episodes is None else f"{pair.missing_episodes:,}"
    episodes = "" if pair.verdict in ("a", "b") else number
    p = NOTHING if isnan(pair.p_value) else "< 0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}"
    difference = raw(pair.difference, pair.metric, signed=True)
    return [*names, difference, str(pair.difference.n), p, better, episodes]


def raw(estimate: Estimate, metric: Metric, *, signed: bool = False) -> Value:
    """A metric in table units, not normalised."""
    return Value(metric.in_table_units(estimate), 1 if metric.percent else 2, signed)


def percent(rate: float) -> str:
    return NOTHING if isnan(rate) else f"{100 * rate:.1f}"


def all_tables(results: SuiteResults, metrics: Sequence[str] = ()) -> list[Table]:
    rest = task_scores(results), metric_summaries(results), further(results, metrics)
    return [*split(scores(results, metrics)), *filter(None, (*rest, replies(results), pairs(results)))]


def standard_deviations(results: SuiteResults) -> Table | None:
    """Entrants x tasks: the standard deviation of what tables show; None if nothing was published."""
    published = {task for source in results.published for task in source.deviations}
    columns = [column for column in metric_columns(results) if column.task.name in published]
    if not columns:
        return None
    spreads = [
        (kind_of(row), labelled(row), [_spread(results, column, row) for column in columns])
        for row in results.rows
    ]
    spreads += [
        ("published", _source_label(source), [source.deviations.get(column.task.name) for column in columns])
        for source in results.published
        if source.deviations
    ]
    rows = [
        TableRow(kind, [label, *(quoted_value(v, c.digits) for v, c in zip(values, columns, strict=True))])
        for kind, label, values in spreads
    ]
    heads = [Column("entrant", numbers=False), *(Column(c.task.name, c.unit) for c in columns)]
    notes = ["Of one policy measured over all episodes (-exploitability) ours is the standard error."]
    return Table("Standard deviations over episodes", heads, rows, notes)


def _spread(results: SuiteResults, column: MetricColumn, row: Row) -> float | None:
    cell, metric = row.cells.get(column.task.name), column.metric
    if cell is None:
        return None
    values = list(cell.paired_values(metric).values())
    if metric.paired and len(values) < 2:
        return None
    spread = stdev(values) if metric.paired else cell.metrics[metric.name].standard_error
    if not column.normalised:
        return spread * (100 if metric.percent else 1)
    low, high = (a.mean if isinstance(a, Estimate) else a for a in results.suite.anchors[column.task.name])
    return 100 * spread / (high - low)
