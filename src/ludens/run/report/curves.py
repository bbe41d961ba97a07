"""Curves: the same metric of tasks that differ in one setting, such as how full a board is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import ClassVar

from ludens.run.references import ROWS
from ludens.run.report.charts import color_of, published_color
from ludens.run.report.references import ReferenceScores
from ludens.run.report.table import RowKind
from ludens.run.report.tables import MetricColumn, metric_columns
from ludens.run.results import SuiteResults


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a curve chart: a value with its interval at each point, NaN where there is none."""

    label: str
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    color: int
    kind: RowKind = "ours"


@dataclass(frozen=True)
class CurveChart:
    """Lines over the points of a setting, from left to right; proportions from 0 to 100."""

    template: ClassVar = "curve"
    width: ClassVar = 400
    plot: ClassVar = (44, 14, 386, 214)
    """Left, top, right and bottom of the plot."""
    legend: ClassVar = 256

    title: str
    points: Sequence[str]
    lines: Sequence[Line]
    high: float

    @property
    def description(self) -> str:
        """The numbers as text."""
        numbers = (f"{line.label}: " + ", ".join(map(_number, line.values)) for line in self.lines)
        return f"Points: {', '.join(self.points)}. " + "; ".join(numbers)

    @property
    def height(self) -> int:
        """Of the whole chart with its legend."""
        return self.legend + 20 * -(-len(self.lines) // 2)

    @property
    def ticks(self) -> list[float]:
        """Five numbers on the axis."""
        return [self.high * share / 4 for share in range(5)]

    def x(self, index: int) -> float:
        """The position of a point."""
        left, _, right, _ = self.plot
        return round(left + (right - left) * (index + 0.5) / len(self.points), 1)

    def y(self, value: float) -> float:
        """The position of a value."""
        _, top, _, bottom = self.plot
        return round(bottom - (bottom - top) * min(max(value / self.high, 0.0), 1.0), 1)

    def path(self, line: Line) -> str:
        """The points of a line that are known."""
        known = ((i, value) for i, value in enumerate(line.values) if isfinite(value))
        return " ".join(f"{self.x(i)},{self.y(value)}" for i, value in known)

    def whiskers(self, line: Line) -> list[tuple[float, float, float]]:
        """Position, lower and upper end of each interval."""
        spans = enumerate(zip(line.lows, line.highs, strict=True))
        return [(self.x(i), self.y(a), self.y(b)) for i, (a, b) in spans if isfinite(a) and isfinite(b)]


def _number(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "-"


def curve_charts(found: SuiteResults) -> Iterator[CurveChart]:
    """A chart for every curve with at least two points."""
    names = dict.fromkeys(task.curve for task in found.tasks.values() if task.curve)
    for name in names:
        columns = [column for column in metric_columns(found) if column.task.curve == name and column.first]
        lines = [*_our_lines(found, columns), *_published_lines(found, columns)]
        if len(columns) < 2 or not lines:
            continue
        lines += _reference_lines(found, columns)
        values = [v for line in lines for v in (*line.values, *line.highs) if isfinite(v)]
        high = 100.0 if columns[0].metric.percent else max(values, default=1.0) or 1.0
        points = [column.task.name.rpartition("/")[2] for column in columns]
        yield CurveChart(f"{name}: {columns[0].unit}", points, lines, high)


def _our_lines(found: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[Line]:
    for row in found.rows:
        values = [column.value(row) for column in columns]
        if not any(values):
            continue
        means, lows, highs = (
            [getattr(value.estimate, part) if value else nan for value in values]
            for part in ("mean", "low", "high")
        )
        kind: RowKind = "blind" if row.blind else "ours"
        yield Line(row.label, means, lows, highs, color_of(found, row.name), kind)


def _published_lines(found: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[Line]:
    for index, source in enumerate(found.published):
        values = [source.values.get(column.task.name, nan) for column in columns]
        if any(map(isfinite, values)):
            unknown = [nan] * len(values)
            color = published_color(found, index)
            yield Line(f"{source.model} (published)", values, unknown, unknown, color, "published")


def _reference_lines(found: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[Line]:
    scores = ReferenceScores(found)
    for name in ROWS:
        reached = [scores.shown(name, column.task, column.metric) for column in columns]
        if any(reached):
            unknown = [nan] * len(reached)
            yield Line(name, [e.mean if e else nan for e in reached], unknown, unknown, 0, "reference")
