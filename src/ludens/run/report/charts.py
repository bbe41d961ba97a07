"""Which charts a suite's results get: bars for every metric shown, radars, confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan

from ludens.run.cells import in_table_units
from ludens.run.report.svg import Bar, Ring, bars, heat, radar
from ludens.run.report.tables import Kind, Shown, Value, chosen
from ludens.run.results import SuiteResults
from ludens.run.stats import Classification, normalised

HUES = 8
RINGS = 6
LABELS = 24
"""A confusion matrix of more labels than this is in the JSON and not drawn."""


def hue(found: SuiteResults, name: str) -> int:
    """The colour of an entrant, the same in all charts."""
    return [row.name for row in found.rows].index(name) % HUES


def bar_charts(found: SuiteResults, metrics: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A heading and a chart for every metric shown."""
    for shown in chosen(found, metrics):
        rows = [*_ours(found, shown), *_published(found, shown)]
        if any(isfinite(bar.value) for bar in rows):
            heading = f"{shown.task.name}: {shown.unit}"
            yield heading, bars(heading, rows, _ends(rows, shown))


def _ours(found: SuiteResults, shown: Shown) -> Iterator[Bar]:
    for row in found.rows:
        cell, value = row.cells.get(shown.task.name), shown.value(row)
        if cell is None or value is None:
            continue
        e, mark = value.estimate, None
        if cell.blind is not None and shown.first:
            blind = cell.blind.estimate
            anchors = found.suite.anchors.get(shown.task.name)
            mark = (normalised(blind, *anchors) if anchors else in_table_units(blind, shown.metric)).mean
        kind: Kind = "blind" if row.blind else "ours"
        yield Bar(row.name, e.mean, e.low, e.high, value.number, hue(found, row.name), kind, mark)


def _published(found: SuiteResults, shown: Shown) -> Iterator[Bar]:
    if not shown.first:
        return
    for source in found.suite.published:
        value = source.values.get(shown.task.name)
        if value is not None:
            text = f"{value:.{shown.digits}f}"
            name = f"{source.model} (published)"
            yield Bar(name, value, value, value, text, 0, "published", short=source.model)


def _ends(rows: Sequence[Bar], shown: Shown) -> tuple[float, float]:
    """From 0 to 100 where that is the scale, and always as far as the bars reach."""
    reached = [v for bar in rows for v in (bar.value, bar.low, bar.high, bar.mark or 0.0) if isfinite(v)]
    fixed = [0.0, 100.0] if shown.metric.percent or shown.normalised else [0.0]
    low, high = min([*reached, *fixed]), max([*reached, *fixed])
    return (low, high) if high > low else (low, low + 1.0)


def radar_chart(found: SuiteResults) -> str | None:
    """Tasks on one scale of 0..100, higher being better; None when fewer than three are.

    Where a suite has scores over several tasks, those are the axes: there are fewer, and they say more.
    """
    whole = [row for row in found.rows if not row.blind and len(row.scores) == len(found.suite.scores) > 2]
    if whole:
        names = list(found.suite.scores)
        round_ = [Ring(row.name, [row.scores[n].mean for n in names], hue(found, row.name)) for row in whole]
        return radar(f"{found.suite.name}: scores, 0 in the middle, 100 outside", names, round_[:RINGS])
    axes = [s for s in chosen(found) if s.normalised or (s.metric.percent and s.metric.higher_is_better)]
    rings = []
    for row in found.rows:
        values = [s.value(row) for s in axes]
        known = [value.estimate.mean for value in values if value is not None]
        if len(known) == len(axes) and not any(map(isnan, known)) and not row.blind:
            rings.append(Ring(row.name, known, hue(found, row.name)))
    if len(axes) < 3 or not rings:
        return None
    title = f"{found.suite.name}: tasks on one scale, 0 in the middle, 100 outside"
    return radar(title, [s.task.name for s in axes], rings[:RINGS])


def behaviour_charts(found: SuiteResults) -> Iterator[tuple[str, str]]:
    """A heading and a radar for every task that counts what players did, all counts on one scale."""
    for task in found.tasks.values():
        rows = [row for row in found.rows if task.name in row.cells and row.cells[task.name].episodes]
        if len(task.radar) < 3 or not rows:
            continue
        counts = {row.name: [row.cells[task.name].metrics[name].mean for name in task.radar] for row in rows}
        most = max(1.0, *(value for values in counts.values() for value in values))
        rings = [
            Ring(
                name,
                [100 * value / most for value in values],
                hue(found, name),
                [f"{value:.1f}" for value in values],
            )
            for name, values in counts.items()
        ]
        heading = f"{task.name}: what was done, times an episode; {most:.1f} outside"
        yield heading, radar(heading, task.radar, rings[:RINGS])


def confusion_charts(found: SuiteResults) -> Iterator[tuple[str, str, Classification]]:
    """A heading, a chart (empty when there are too many labels) and the numbers behind it."""
    for row in found.rows:
        for name, cell in row.cells.items():
            for metric in cell.task.metrics:
                if metric.classes is None or not cell.episodes:
                    continue
                classes = metric.classes(list(cell.episodes.values()))
                heading = f"{row.name}: {name}, {metric.name}"
                few = 0 < len(classes.labels) <= LABELS
                chart = heat(heading, classes.labels, classes.columns, classes.confusion) if few else ""
                yield heading, chart, classes


def summary(classes: Classification) -> str:
    """Accuracy and F1 in one line."""
    accuracy = Value(classes.accuracy, 3)
    worst = min(classes.per_label.items(), key=lambda item: item[1].f1, default=("", None))
    tail = "" if worst[1] is None else f"; weakest label {worst[0]!r} with F1 {worst[1].f1:.3f}"
    return f"accuracy {accuracy}, macro-F1 {classes.macro_f1:.3f}, {classes.unreadable} unreadable{tail}"
