"""`spy/chart`: pairs of charts in which two values are swapped.

The values of a table are drawn independently, also along time: a table and the same with two values swapped
are equally likely, and so is every swap that can be seen. Neither picture tells which of the two is the
original, or what was swapped. In a smooth series a swap would be an outlier.
"""

from __future__ import annotations

import io
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from PIL import Image

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.spy.tables import ChartData
from ludens.pictures.writer import EntryContents, Generator, Skip

KINDS = ("bar", "line", "pie")
VISIBLE = 0.22
"""Swapped values differ by at least this share of the largest value; in a pie, of a third of the whole."""


@dataclass(frozen=True)
class _Topic:
    title: str
    unit: str
    labels: Sequence[str]
    low: float
    high: float
    digits: int = 0
    kinds: Sequence[str] = ("bar",)
    ordered: bool = False
    """Whether the labels are consecutive points in time."""


def make_table(random: Stream, kind: str) -> ChartData:
    """A random table for a kind of chart; all its values differ."""
    topic = random.choice([topic for topic in _TOPICS if kind in topic.kinds])
    most = len(topic.labels)
    count = min(random.between(*{"bar": (4, 8), "line": (6, 12), "pie": (4, 6)}[kind]), most)
    if topic.ordered:
        start = random.below(most - count + 1)
        labels = list(topic.labels[start : start + count])
    else:
        labels = random.sample(topic.labels, count)
    values: list[float] = []
    while len(values) < count:
        value = round(topic.low + (topic.high - topic.low) * random.random(), topic.digits)
        if value not in values:
            values.append(value if topic.digits else int(value))
    return ChartData(kind, topic.title, topic.unit, tuple(labels), tuple(values))


def visible_swaps(table: ChartData) -> list[tuple[int, int]]:
    """The pairs of values whose exchange can be seen."""
    values, least = table.values, table.share(VISIBLE)
    places = range(len(values))
    return [(a, b) for b in places for a in range(b) if abs(values[a] - values[b]) >= least]


def make_swap(random: Stream, kind: str) -> tuple[ChartData, ChartData, tuple[int, int]] | None:
    """A random table, the same with two values swapped, and their places; None if no swap can be seen."""
    table = make_table(random, kind)
    swaps = visible_swaps(table)
    if not swaps:
        return None
    a, b = random.choice(swaps)
    return table, table.swapped(a, b), (a, b)


WIDTH, HEIGHT = 512, 384
_DPI = 100
_ATTEMPTS = 100
_COLOURS = 96
_APART = 3
"""Pixels between two texts."""
_LICENCE = "CC0-1.0"


@dataclass(frozen=True)
class Style:
    """How a chart looks."""

    paper: str
    ink: str
    grid: str
    """Colour of the grid lines; empty for none."""
    colours: Sequence[str]
    framed: bool = True
    font: str = "DejaVu Sans"
    many: bool = False
    """Whether each bar has a colour of its own."""


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_TOPICS = [
    _Topic(**topic | {"labels": _DATA["labels"].get(str(topic["labels"]), topic["labels"])})
    for topic in _DATA["topics"]
]
STYLES = [Style(**style) for style in _DATA["styles"]]


@dataclass(frozen=True)
class ChartPairs(Generator):
    """Bar, line and pie charts; two values of each pair are swapped."""

    seed: int = option(0, low=0, help="seed")
    kinds: str = option("+".join(KINDS), help="bar, line and pie, joined by +")

    name = "spy/chart"
    version = "2"

    def resolved(self) -> Self:
        _kinds(self.kinds)
        return self

    def prepare(self) -> str:
        return f"matplotlib {_matplotlib().__version__}"

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"matplotlib": _matplotlib().__version__}

    def make(self, number: int) -> EntryContents:
        kinds = _kinds(self.kinds)
        for attempt in range(_ATTEMPTS):
            random = stream(self.seed, "chart", number, attempt)
            made = make_swap(random, kinds[number % len(kinds)])
            if made is None:
                continue
            table, swapped, (a, b) = made
            tables = {"original": table, "modified": swapped}
            look = random.bits()
            charts = {role: draw(each, Stream(look)) for role, each in tables.items()}
            if any(overlaps for _, overlaps in charts.values()):
                continue
            change = {
                "swapped": [table.labels[a], table.labels[b]],
                "from": [table.values[a], table.values[b]],
                "to": [table.values[b], table.values[a]],
            }
            scene = {role: each.to_json() for role, each in tables.items()}
            return EntryContents({role: png for role, (png, _) in charts.items()}, scene, [change], _LICENCE)
        raise Skip(f"no chart without overlapping labels in {_ATTEMPTS} attempts")


def draw(table: ChartData, random: Stream) -> tuple[bytes, list[tuple[str, str]]]:
    """A chart as a PNG file, and the texts in it that overlap."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = random.choice(STYLES)
    figure = Figure((WIDTH / _DPI, HEIGHT / _DPI), _DPI, facecolor=style.paper, layout="tight")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor=style.paper)
    axes.set_title(table.title, color=style.ink, fontname=style.font, fontsize=13)
    {"bar": _bars, "line": _line, "pie": _pie}[table.kind](axes, table, style, random)
    canvas.draw()
    overlaps = _overlaps(figure, canvas.get_renderer())
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].copy()
    image = Image.fromarray(pixels).quantize(_COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue(), overlaps


def _bars(axes: Any, table: ChartData, style: Style, random: Stream) -> None:
    colours = [style.colours[k % len(style.colours) if style.many else 0] for k in range(len(table.labels))]
    flat, labelled = random.below(2) == 1, random.below(2) == 1
    if flat:
        bars = axes.barh(table.labels[::-1], table.values[::-1], color=colours)
    else:
        bars = axes.bar(table.labels, table.values, color=colours, width=0.7)
    if labelled:
        axes.bar_label(bars, color=style.ink, fontname=style.font, fontsize=8, padding=2)
    (axes.set_xlim if flat else axes.set_ylim)(0, 1.12 * max(table.values))
    _frame(axes, table, style, "x" if flat else "y")


def _line(axes: Any, table: ChartData, style: Style, random: Stream) -> None:
    marker = random.choice(("o", "s", "D"))
    axes.plot(table.labels, table.values, color=random.choice(style.colours[:3]), marker=marker, linewidth=2)
    axes.set_ylim(0, 1.1 * max(table.values))
    _frame(axes, table, style, "y")


def _pie(axes: Any, table: ChartData, style: Style, random: Stream) -> None:
    text = {"color": style.ink, "fontname": style.font, "fontsize": 9}
    labels = list(table.labels)
    if random.below(2):
        labels = [f"{label} ({value:g})" for label, value in zip(labels, table.values, strict=True)]
        axes.text(0, -1.35, f"in {table.unit}", ha="center", **text)
    axes.pie(
        table.values,
        labels=labels,
        colors=style.colours[: len(table.labels)],
        startangle=90,
        counterclock=False,
        textprops=text,
        wedgeprops={"edgecolor": style.paper, "linewidth": 1.5},
    )


def _frame(axes: Any, table: ChartData, style: Style, along: str) -> None:
    (axes.set_xlabel if along == "x" else axes.set_ylabel)(table.unit, color=style.ink, fontname=style.font)
    axes.tick_params(colors=style.ink, labelsize=8.5)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontname(style.font)
    for side, spine in axes.spines.items():
        spine.set_color(style.ink)
        spine.set_visible(style.framed or side in ("left", "bottom"))
    if style.grid:
        axes.grid(axis=along, color=style.grid)
        axes.set_axisbelow(True)


def _overlaps(figure: Any, renderer: Any) -> list[tuple[str, str]]:
    """The texts that cover each other or reach over the edge of the picture."""
    [axes] = figure.axes
    texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
        low, high = sorted(axis.get_view_interval())
        texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()]
    covered = [
        (name, other)
        for place, (name, box) in enumerate(boxes)
        for other, another in boxes[:place]
        if box.padded(_APART).overlaps(another)
    ]
    outside = [
        (name, "edge") for name, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > WIDTH or box.y1 > HEIGHT
    ]
    return covered + outside


def _kinds(text: str) -> list[str]:
    kinds = [kind.strip() for kind in text.replace(",", "+").split("+")]
    if wrong := next((kind for kind in kinds if kind not in KINDS), ""):
        raise BadOption(f"kinds of charts are {', '.join(KINDS)}, joined by +, not {wrong[:40]!r}.")
    return kinds


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("drawing charts", "charts") from None
    return matplotlib
