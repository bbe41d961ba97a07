"""The table of standard deviations over episodes, for suites whose paper prints them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import stdev

from ludens.run.report.table import NOTHING, Column, Entry, Table, TableRow, Value
from ludens.run.report.tables import MetricColumn, labelled, metric_columns
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import Estimate, exactly


def standard_deviations(found: SuiteResults) -> Table | None:
    """Entrants x tasks: the standard deviation of what tables show; None if nothing was published."""
    told = {task for source in found.published for task in source.deviations}
    shown = [column for column in metric_columns(found) if column.task.name in told]
    if not shown:
        return None
    rows = [
        TableRow(
            "blind" if row.blind else "ours",
            [labelled(row), *_entries([_spread(found, c, row) for c in shown], shown)],
        )
        for row in found.rows
    ]
    for source in found.published:
        if source.deviations:
            values = [source.deviations.get(column.task.name) for column in shown]
            label = f"{source.model} (published: {source.source})"
            rows.append(TableRow("published", [label, *_entries(values, shown)]))
    columns = [Column("entrant", numbers=False), *(Column(c.task.name, c.unit) for c in shown)]
    notes = ["Of one policy measured over all episodes (-exploitability) ours is the standard error."]
    return Table("Standard deviations over episodes", columns, rows, notes)


def _spread(found: SuiteResults, column: MetricColumn, row: Row) -> float | None:
    """The standard deviation of single episodes, in the unit of the table; None if it is not known."""
    cell, metric = row.cells.get(column.task.name), column.metric
    if cell is None:
        return None
    values = list(cell.paired_values(metric).values())
    if metric.paired and len(values) < 2:
        return None
    spread = stdev(values) if metric.paired else cell.metrics[metric.name].standard_error
    if not column.normalised:
        return spread * (100 if metric.percent else 1)
    low, high = (a.mean if isinstance(a, Estimate) else a for a in found.suite.anchors[column.task.name])
    return 100 * spread / (high - low)


def _entries(values: Sequence[float | None], shown: Sequence[MetricColumn]) -> list[Entry]:
    return [
        NOTHING if value is None else Value(exactly(value), column.digits, published=True)
        for value, column in zip(values, shown, strict=True)
    ]
