"""Charts as SVG: bars with intervals, a radar, a confusion heat map. Colours are classes of the page's style.

Every chart has a title and a description for those who do not see it, and its numbers as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, floor, isfinite, log10, pi, sin
from typing import Literal

from ludens.run.report.escape import esc

_Place = Callable[[float], float]
_Point = Callable[[int, float], str]

_WIDTH, _LABELS, _NUMBERS, _ROW, _HEAD = 370, 132, 52, 26, 12
_LETTERS = 16
"""Of a label: as many as fit to the left of the bars, capitals among them."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: a number, the ends of its interval where known, and how it is drawn."""

    label: str
    value: float
    low: float
    high: float
    text: str
    hue: int
    kind: Literal["ours", "blind", "published"] = "ours"
    mark: float | None = None
    """Where the blind control stands."""
    short: str = ""
    """The label in the chart itself, where the way it is drawn says the rest."""


@dataclass(frozen=True, slots=True)
class Ring:
    """One line of a radar: a share of 0..100 for each axis."""

    label: str
    values: Sequence[float]
    hue: int
    told: Sequence[str] = ()
    """The numbers as they are told, where they are not the shares."""

    @property
    def numbers(self) -> Sequence[str]:
        """What is told at each axis."""
        return self.told or [f"{value:.1f}" for value in self.values]


def bars(title: str, rows: Sequence[Bar], ends: tuple[float, float]) -> str:
    """Horizontal bars from 0, whiskers for intervals, a dashed line for a blind control."""
    low, high = ends
    height = _HEAD + _ROW * len(rows) + 24
    scale = (_WIDTH - _LABELS - _NUMBERS) / (high - low)

    def x(value: float) -> float:
        return round(_LABELS + (min(max(value, low), high) - low) * scale, 1)

    parts = [
        f'<line class="grid" x1="{x(at)}" x2="{x(at)}" y1="{_HEAD - 6}" y2="{height - 20}"/>'
        f'<text class="tick" x="{x(at)}" y="{height - 6}" text-anchor="middle">{at:g}</text>'
        for at in _ticks(low, high)
    ]
    for number, row in enumerate(rows):
        parts.append(_bar(row, _HEAD + _ROW * number, x, max(low, 0.0) if high > 0 else high))
    told = "; ".join(f"{row.label} {row.text}" for row in rows)
    return _svg(title, told, _WIDTH, height, parts)


def _bar(row: Bar, top: int, x: _Place, zero: float) -> str:
    middle = top + _ROW / 2
    parts = [
        f"<title>{esc(row.label)}: {esc(row.text)}</title>",
        f'<text class="label" x="{_LABELS - 8}" y="{middle + 4}" text-anchor="end">'
        f"{esc(_short(row.short or row.label, _LETTERS))}</text>",
    ]
    if isfinite(row.value):
        left, right = sorted((x(zero), x(row.value)))
        width = max(round(right - left, 1), 1)
        parts.append(
            f'<rect class="bar {row.kind} s{row.hue}" x="{left}" y="{top + 5}" width="{width}"'
            f' height="{_ROW - 10}" rx="2"/>'
        )
    if isfinite(row.low) and isfinite(row.high) and row.kind != "published":
        a, b = x(row.low), x(row.high)
        parts.append(f'<path class="whisker" d="M{a} {middle}H{b}M{a} {middle - 4}v8M{b} {middle - 4}v8"/>')
    if row.mark is not None and isfinite(row.mark):
        at = x(row.mark)
        parts.append(f'<path class="mark" d="M{at} {top + 1}V{top + _ROW - 1}"/>')
    parts.append(
        f'<text class="number" x="{_WIDTH - 2}" y="{middle + 4}" text-anchor="end">{esc(row.text)}</text>'
    )
    return f"<g>{''.join(parts)}</g>"


def radar(title: str, axes: Sequence[str], rings: Sequence[Ring]) -> str:
    """One axis a task from 0 in the middle to 100 outside."""
    width, centre, radius = 400, (200.0, 140.0), 105.0
    count = len(axes)

    def at(index: int, share: float) -> str:
        angle = 2 * pi * index / count - pi / 2
        reach = radius * min(max(share, 0.0), 100.0) / 100
        return f"{centre[0] + reach * cos(angle):.1f},{centre[1] + reach * sin(angle):.1f}"

    parts = [
        f'<polygon class="grid" points="{" ".join(at(i, ring) for i in range(count))}"/>'
        for ring in (25, 50, 75, 100)
    ]
    parts += list(_spokes(axes, centre, radius, at))
    for ring in rings:
        points = " ".join(at(i, value) for i, value in enumerate(ring.values))
        numbers = ", ".join(f"{axis} {told}" for axis, told in zip(axes, ring.numbers, strict=True))
        parts.append(
            f'<polygon class="ring s{ring.hue}" points="{points}">'
            f"<title>{esc(ring.label)}: {esc(numbers)}</title></polygon>"
        )
    top = 290
    for number, ring in enumerate(rings):
        left, line = 20 + number % 2 * 190, top + number // 2 * 20
        parts.append(
            f'<rect class="bar ours s{ring.hue}" x="{left}" y="{line - 10}" width="12" height="12" rx="2"/>'
            f'<text class="label" x="{left + 18}" y="{line}">{esc(_short(ring.label, 24))}</text>'
        )
    told = "; ".join(f"{r.label}: " + ", ".join(r.numbers) for r in rings)
    return _svg(title, f"Axes: {', '.join(axes)}. {told}", width, top + 20 * ((len(rings) + 1) // 2), parts)


def _spokes(axes: Sequence[str], centre: tuple[float, float], radius: float, at: _Point) -> Iterator[str]:
    for index, axis in enumerate(axes):
        angle = 2 * pi * index / len(axes) - pi / 2
        x, y = centre[0] + (radius + 12) * cos(angle), centre[1] + (radius + 12) * sin(angle)
        side = "middle" if abs(cos(angle)) < 0.2 else "start" if cos(angle) > 0 else "end"
        end = at(index, 100).split(",")
        yield (
            f'<line class="grid" x1="{centre[0]}" y1="{centre[1]}" x2="{end[0]}" y2="{end[1]}"/>'
            f'<text class="label" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{side}">'
            f"{esc(_short(axis, 13))}</text>"
        )


def heat(title: str, labels: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[float]]) -> str:
    """A confusion matrix: a row for each truth, a column for each answer, darker where more of a row fell."""
    side = 34 if len(columns) <= 14 else 24
    left, top = 110, 96
    parts = [f'<text class="tick" x="{left - 6}" y="{top - 8}" text-anchor="end">truth \\ answer</text>']
    for number, column in enumerate(columns):
        x = left + side * number + side / 2 + 4
        parts.append(
            f'<text class="label" transform="translate({x},{top - 6}) rotate(-50)">'
            f"{esc(_short(column, 14))}</text>"
        )
    for row, (label, line) in enumerate(zip(labels, counts, strict=True)):
        y, total = top + side * row, sum(line)
        parts.append(
            f'<text class="label" x="{left - 6}" y="{y + side / 2 + 4}" text-anchor="end">'
            f"{esc(_short(label, 14))}</text>"
        )
        for number, count in enumerate(line):
            share = count / total if total else 0.0
            parts.append(
                _square(left + side * number, y, side, count, share, f"{label} as {columns[number]}")
            )
    told = "; ".join(
        f"{label}: " + ", ".join(f"{columns[i]} {count:g}" for i, count in enumerate(line) if count)
        for label, line in zip(labels, counts, strict=True)
    )
    return _svg(title, told, left + side * len(columns) + 60, top + side * len(labels) + 8, parts)


def _square(x: int, y: int, side: int, count: float, share: float, what: str) -> str:
    word = "dark" if share > 0.55 else "pale"
    text = f"{count:.0f}" if count == round(count) else f"{count:.1f}"
    number = (
        f'<text class="count {word}" x="{x + side / 2}" y="{y + side / 2 + 4}" text-anchor="middle">'
        f"{text}</text>"
        if count
        else ""
    )
    return (
        f"<g><title>{esc(what)}: {text} ({share:.0%})</title>"
        f'<rect class="heat" x="{x + 1}" y="{y + 1}" width="{side - 2}" height="{side - 2}" rx="2"'
        f' fill-opacity="{0.06 + 0.94 * share:.2f}"/>{number}</g>'
    )


def _svg(title: str, told: str, width: int, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" role="img">'
        f"<title>{esc(title)}</title><desc>{esc(told)}</desc>{''.join(parts)}</svg>"
    )


def _ticks(low: float, high: float) -> list[float]:
    """A few round numbers between the ends."""
    rough = (high - low) / 4
    power = 10.0 ** floor(log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    first = -(-low // step)
    return [
        round((first + i) * step, 10) for i in range(12) if (first + i) * step <= high * (1 + 1e-9) + 1e-12
    ]


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
