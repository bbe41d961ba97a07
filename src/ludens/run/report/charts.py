"""The charts of a suite as plain numbers: bars, radars, confusion matrices, curves. Templates draw them as
SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, floor, isfinite, isnan, log10, nan, pi, sin
from typing import ClassVar

from ludens.run.references import UPPER
from ludens.run.report.references import ReferenceScores
from ludens.run.report.table import NOTHING, RowKind, Value
from ludens.run.report.tables import MetricColumn, kind_of, metric_columns, shown_summaries
from ludens.run.results import SuiteResults, summarise_published
from ludens.run.stats import UNKNOWN, Classification, Estimate, normalised

COLORS = 8
MAX_RINGS = 6
PUBLISHED_RINGS = 3
"""Published rows in a radar chart: the best ones."""
MAX_LABELS = 24
"""A confusion matrix with more labels is in the JSON only."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar with its interval."""

    label: str
    value: float
    low: float
    high: float
    text: str
    color: int
    kind: RowKind = "ours"
    mark: float | None = None
    short: str = ""
    """The label in the chart, if not `label`."""
    note: str = ""
    """A second line below the label: the settings of an entrant."""

    @property
    def interval(self) -> bool:
        return isfinite(self.low) and isfinite(self.high) and self.kind != "published"

    @property
    def marked(self) -> bool:
        return self.mark is not None and isfinite(self.mark)


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A vertical line through all bars: a reference score."""

    label: str
    value: float
    text: str

    @property
    def style(self) -> str:
        return "bound" if self.label == UPPER else "baseline"


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars from 0 with intervals, and vertical lines for reference scores."""

    template: ClassVar = "bars"
    width: ClassVar = 370
    labels_width: ClassVar = 132
    numbers_width: ClassVar = 52
    top: ClassVar = 12
    bar_height: ClassVar = 26

    title: str
    bars: Sequence[Bar]
    low: float
    high: float
    lines: Sequence[ReferenceLine] = ()

    @property
    def description(self) -> str:
        numbers = [(bar.label, bar.text) for bar in self.bars] + [
            (line.label, line.text) for line in self.lines
        ]
        return "; ".join(f"{label} {text}" for label, text in numbers)

    @property
    def bottom(self) -> int:
        return self.top + self.bar_height * len(self.bars)

    @property
    def height(self) -> int:
        return self.bottom + 24 + (20 if self.lines else 0)

    def x(self, value: float) -> float:
        scale = (self.width - self.labels_width - self.numbers_width) / (self.high - self.low)
        return round(self.labels_width + (min(max(value, self.low), self.high) - self.low) * scale, 1)

    def span(self, bar: Bar) -> tuple[float, float] | None:
        if not isfinite(bar.value):
            return None
        zero = max(self.low, 0.0) if self.high > 0 else self.high
        left, right = sorted((self.x(zero), self.x(bar.value)))
        return left, max(round(right - left, 1), 1)

    @property
    def ticks(self) -> list[float]:
        rough = (self.high - self.low) / 4
        power = 10.0 ** floor(log10(rough))
        step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
        first = -(-self.low // step)
        ticks = ((first + i) * step for i in range(12))
        return [round(tick, 10) for tick in ticks if tick <= self.high * (1 + 1e-9) + 1e-12]


@dataclass(frozen=True, slots=True)
class Ring:
    """One line of a radar chart: 0 to 100 on each axis."""

    label: str
    values: Sequence[float]
    color: int | None
    """None for a reference, which is a dashed line."""
    texts: Sequence[str] = ()
    """The numbers as text, if not those of `values`."""
    kind: RowKind = "ours"

    @property
    def style(self) -> str:
        """The class of a reference in the style sheet; empty for entrants, which have a color."""
        return "" if self.color is not None else "dashed" if self.label == UPPER else "dashed low"

    @property
    def numbers(self) -> Sequence[str]:
        return self.texts or [NOTHING if isnan(value) else f"{value:.1f}" for value in self.values]


@dataclass(frozen=True)
class RadarChart:
    """One axis per number from 0 in the centre to 100."""

    template: ClassVar = "radar"
    width: ClassVar = 400
    center: ClassVar = (200.0, 140.0)
    radius: ClassVar = 105.0
    legend: ClassVar = 290

    title: str
    axes: Sequence[str]
    rings: Sequence[Ring]

    @property
    def description(self) -> str:
        numbers = "; ".join(f"{ring.label}: {', '.join(ring.numbers)}" for ring in self.rings)
        return f"Axes: {', '.join(self.axes)}. {numbers}"

    @property
    def height(self) -> int:
        return self.legend + 20 * -(-len(self.rings) // self.legend_columns)

    @property
    def legend_columns(self) -> int:
        """Long labels need the whole width."""
        return 1 if any(len(ring.label) > 24 for ring in self.rings) else 2

    def point(self, index: int, reach: float) -> tuple[float, float]:
        """The position at a distance of the centre on an axis."""
        angle = 2 * pi * index / len(self.axes) - pi / 2
        return round(self.center[0] + reach * cos(angle), 1), round(self.center[1] + reach * sin(angle), 1)

    def polygon(self, values: Sequence[float]) -> str:
        reach = [self.radius * min(max(value, 0.0), 100.0) / 100 for value in values]
        return " ".join("{},{}".format(*self.point(index, r)) for index, r in enumerate(reach))

    def anchor(self, index: int) -> str:
        side = cos(2 * pi * index / len(self.axes) - pi / 2)
        return "middle" if abs(side) < 0.2 else "start" if side > 0 else "end"


@dataclass(frozen=True)
class HeatMap:
    """A confusion matrix: a row for each truth, a column for each answer."""

    template: ClassVar = "heat_map"
    left: ClassVar = 110
    top: ClassVar = 96

    title: str
    labels: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[float]]

    @property
    def description(self) -> str:
        rows = (
            f"{label}: " + ", ".join(f"{self.columns[i]} {count:g}" for i, count in enumerate(row) if count)
            for label, row in zip(self.labels, self.counts, strict=True)
        )
        return "; ".join(rows)

    @property
    def side(self) -> int:
        return 34 if len(self.columns) <= 14 else 24

    @property
    def width(self) -> int:
        return self.left + self.side * len(self.columns) + 60

    @property
    def height(self) -> int:
        return self.top + self.side * len(self.labels) + 8


def color_of(results: SuiteResults, name: str) -> int:
    return [row.name for row in results.rows].index(name) % COLORS


def bar_charts(results: SuiteResults, metrics: Sequence[str]) -> Iterator[BarChart]:
    references = ReferenceScores(results)
    for column in metric_columns(results, metrics):
        bars = [*_our_bars(results, column), *_published_bars(results, column)]
        lines = list(_lines(references, column))
        if any(isfinite(bar.value) for bar in bars):
            ends = [v for bar in bars for v in (bar.value, bar.low, bar.high, bar.mark or 0.0) if isfinite(v)]
            ends += [line.value for line in lines]
            ends += [0.0, 100.0] if column.metric.percent or column.normalised else [0.0]
            low, high = min(ends), max(ends)
            high = high if high > low else low + 1
            yield BarChart(f"{column.task.name}: {column.unit}", bars, low, high, lines)


def _lines(references: ReferenceScores, column: MetricColumn) -> Iterator[ReferenceLine]:
    for name in references.kinds:
        reached = references.table_estimate(name, column.task, column.metric)
        if reached is not None and isfinite(reached.mean):
            yield ReferenceLine(name, reached.mean, f"{reached.mean:.{column.digits}f}")


def _our_bars(results: SuiteResults, column: MetricColumn) -> Iterator[Bar]:
    for row in results.rows:
        cell, value = row.cells.get(column.task.name), column.value(row)
        if cell is None or value is None:
            continue
        e, mark = value.estimate, None
        if cell.blind is not None and column.first:
            blind, anchors = cell.blind.estimate, results.suite.anchors.get(column.task.name)
            mark = (normalised(blind, *anchors) if anchors else column.metric.in_table_units(blind)).mean
        color = color_of(results, row.name)
        yield Bar(
            row.label, e.mean, e.low, e.high, value.number, color, kind_of(row), mark, row.name, row.settings
        )


def _published_bars(results: SuiteResults, column: MetricColumn) -> Iterator[Bar]:
    for source in results.published if column.first else ():
        value = source.values.get(column.task.name)
        if value is not None:
            name, text = f"{source.model} (published)", f"{value:.{column.digits}f}"
            yield Bar(name, value, value, value, text, 0, "published", short=source.model)


def radar_chart(results: SuiteResults) -> RadarChart | None:
    """All tasks on one scale of 0 to 100, higher is better; None if fewer than three have it.

    If some entrant has all scores over several tasks, these are the axes.
    """
    references = ReferenceScores(results)
    rows = [row for row in results.rows if not row.blind]
    axes = [summary.name for summary in shown_summaries(results)]
    if len(axes) > 2 and any(row.summaries.keys() >= set(axes) for row in rows):
        about = "scores"
        ours = [_means(row.summaries) for row in rows]
        reached = {name: _means(references.summaries(name)) for name in references.kinds}
        published = {s.model: _means(summarise_published(results.suite, s.values)) for s in results.published}
    else:
        about, columns = "tasks on one scale", metric_columns(results)
        columns = [c for c in columns if c.normalised or (c.metric.percent and c.metric.higher_is_better)]
        axes = [column.task.name for column in columns]
        scores = [{c.task.name: v.estimate for c in columns if (v := c.value(row))} for row in rows]
        ours = [{axis: mean for axis, mean in _means(each).items() if not isnan(mean)} for each in scores]
        estimate = references.table_estimate
        reached = {
            name: _means({c.task.name: e for c in columns if (e := estimate(name, c.task, c.metric))})
            for name in references.kinds
        }
        published = {source.model: dict(source.values) for source in results.published}
    complete = [(row, values) for row, values in zip(rows, ours, strict=True) if values.keys() >= set(axes)]
    if len(axes) < 3 or not complete:
        return None
    rings = [
        Ring(row.label, [values[axis] for axis in axes], color_of(results, row.name))
        for row, values in complete[:MAX_RINGS]
    ]
    rings += _published_rings(results, published, axes)
    for name, values in reached.items():
        if values.keys() >= set(axes):
            rings.append(Ring(name, [values[axis] for axis in axes], None))
    return RadarChart(f"{results.suite.name}: {about}, 0 to 100", axes, rings)


def _means(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    return {name: estimate.mean for name, estimate in estimates.items()}


def published_color(results: SuiteResults, index: int) -> int:
    return (len(results.rows) + index) % COLORS


def _published_rings(
    results: SuiteResults, published: Mapping[str, Mapping[str, float]], axes: Sequence[str]
) -> list[Ring]:
    complete = {model: values for model, values in published.items() if values.keys() >= set(axes)}
    rows = {model: [values[axis] for axis in axes] for model, values in complete.items()}
    best = sorted(rows, key=lambda model: -sum(rows[model]))[:PUBLISHED_RINGS]
    return [
        Ring(f"{model} (published)", rows[model], published_color(results, index), kind="published")
        for index, model in enumerate(best)
    ]


def behaviour_charts(results: SuiteResults) -> Iterator[RadarChart]:
    """A radar for every task that counts what players did, all counts on one scale."""
    for task in results.tasks.values():
        rows = [row for row in results.rows if task.name in row.cells and row.cells[task.name].episodes]
        if len(task.radar) < 3 or not rows:
            continue
        counts = [[row.cells[task.name].metrics[name].mean for name in task.radar] for row in rows]
        most = max(1.0, *(value for values in counts for value in values))
        rings = [
            Ring(
                row.label,
                [100 * v / most for v in values],
                color_of(results, row.name),
                [f"{v:.1f}" for v in values],
            )
            for row, values in zip(rows, counts, strict=True)
        ]
        title = f"{task.name}: counts per episode, 0 to {most:.1f}"
        yield RadarChart(title, task.radar, rings[:MAX_RINGS])


def confusion_charts(results: SuiteResults) -> Iterator[tuple[str, HeatMap | None, str]]:
    """A title, a chart (None if there are too many labels) and a summary of the scores."""
    for row, name, cell in results.cells():
        for metric in cell.task.metrics:
            classes = cell.classification(metric)
            if classes is None:
                continue
            title = f"{row.label}: {name}, {metric.name}"
            few = 0 < len(classes.labels) <= MAX_LABELS
            chart = HeatMap(title, classes.labels, classes.columns, classes.confusion) if few else None
            yield title, chart, _class_summary(classes)


def _class_summary(classes: Classification) -> str:
    accuracy, macro_f1 = Value(classes.accuracy, 3), classes.macro_f1
    text = f"accuracy {accuracy}, macro-F1 {macro_f1:.3f}, {classes.unreadable} unreadable"
    if not classes.per_label:
        return text
    label, worst = min(classes.per_label.items(), key=lambda item: item[1].f1)
    return f"{text}; weakest label {label!r} with F1 {worst.f1:.3f}"


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One line of a curve chart: a value with its interval at each point, NaN where there is none."""

    label: str
    values: Sequence[float]
    color: int
    kind: RowKind = "ours"
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()
    """Empty, as `lows`, where intervals are not drawn."""


def curve_line(
    label: str, estimates: Sequence[Estimate | None], color: int, kind: RowKind = "ours"
) -> CurveLine:
    """A line with intervals."""
    numbers = [UNKNOWN if each is None else each for each in estimates]
    means, lows, highs = ([getattr(each, part) for each in numbers] for part in ("mean", "low", "high"))
    return CurveLine(label, means, color, kind, lows, highs)


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
    lines: Sequence[CurveLine]
    high: float
    low: float = 0.0

    @property
    def description(self) -> str:
        numbers = (f"{line.label}: " + ", ".join(map(_number, line.values)) for line in self.lines)
        return f"Points: {', '.join(self.points)}. " + "; ".join(numbers)

    @property
    def height(self) -> int:
        return self.legend + 20 * -(-len(self.lines) // 2)

    @property
    def ticks(self) -> list[float]:
        return [round(self.low + (self.high - self.low) * share / 4, 10) for share in range(5)]

    def x(self, index: int) -> float:
        left, _, right, _ = self.plot
        return round(left + (right - left) * (index + 0.5) / len(self.points), 1)

    def y(self, value: float) -> float:
        _, top, _, bottom = self.plot
        share = (value - self.low) / (self.high - self.low)
        return round(bottom - (bottom - top) * min(max(share, 0.0), 1.0), 1)

    def path(self, line: CurveLine) -> str:
        points = enumerate(line.values)
        return " ".join(f"{self.x(i)},{self.y(value)}" for i, value in points if isfinite(value))

    def whiskers(self, line: CurveLine) -> list[tuple[float, float, float]]:
        spans = enumerate(zip(line.lows, line.highs, strict=True))
        return [(self.x(i), self.y(a), self.y(b)) for i, (a, b) in spans if isfinite(a) and isfinite(b)]


def _number(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "-"


def curve_charts(results: SuiteResults) -> Iterator[CurveChart]:
    """A chart for every curve with at least two points."""
    names = dict.fromkeys(task.curve for task in results.tasks.values() if task.curve)
    for name in names:
        columns = [column for column in metric_columns(results) if column.task.curve == name and column.first]
        lines = [*_our_lines(results, columns), *_published_lines(results, columns)]
        if len(columns) < 2 or not lines:
            continue
        lines += _reference_lines(results, columns)
        values = [v for line in lines for v in (*line.values, *line.highs) if isfinite(v)]
        high = 100.0 if columns[0].metric.percent else max(values, default=1.0) or 1.0
        points = [column.task.name.rpartition("/")[2] for column in columns]
        yield CurveChart(f"{name}: {columns[0].unit}", points, lines, high)


def _our_lines(results: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[CurveLine]:
    for row in results.rows:
        values = [column.value(row) for column in columns]
        if any(values):
            estimates = [value.estimate if value else None for value in values]
            yield curve_line(row.label, estimates, color_of(results, row.name), kind_of(row))


def _published_lines(results: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[CurveLine]:
    for index, source in enumerate(results.published):
        values = [source.values.get(column.task.name, nan) for column in columns]
        if any(map(isfinite, values)):
            color = published_color(results, index)
            yield CurveLine(f"{source.model} (published)", values, color, "published")


def _reference_lines(results: SuiteResults, columns: Sequence[MetricColumn]) -> Iterator[CurveLine]:
    scores = ReferenceScores(results)
    for name in scores.kinds:
        reached = [scores.table_estimate(name, column.task, column.metric) for column in columns]
        if any(reached):
            yield CurveLine(name, [e.mean if e else nan for e in reached], 0, "reference")
