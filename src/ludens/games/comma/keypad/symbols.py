"""The keypad's symbols: 27 original shapes, each with a name that describes it.

A shape is a list of marks on a square of 100 by 100 units. Some come in pairs that differ in one thing
only (open or solid, up or down), so that describing them takes care.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

    from ludens.draw import Sprite, SpriteSheet
    from ludens.draw.palette import RGB

Points = tuple[tuple[float, float], ...]
STROKE = 9.0


class Line(NamedTuple):
    """A stroke along points, with round ends and corners."""

    points: Points


class Solid(NamedTuple):
    """A filled polygon."""

    points: Points


class Disc(NamedTuple):
    """A filled circle, or a hole in a filled shape."""

    x: float
    y: float
    radius: float
    empty: bool = False


Mark = Line | Solid | Disc


def _arc(x: float, y: float, radius: float, start: float, end: float, growth: float = 0.0) -> Line:
    """Part of a circle, in degrees clockwise from the right; with growth, a spiral."""
    steps = max(8, int(abs(end - start) / 6))
    turns = [start + (end - start) * step / steps for step in range(steps + 1)]
    radii = [radius + growth * step / steps for step in range(steps + 1)]
    return Line(
        tuple(
            (x + r * cos(t * pi / 180), y + r * sin(t * pi / 180)) for r, t in zip(radii, turns, strict=True)
        )
    )


def _ring(x: float, y: float, radius: float) -> Line:
    return _arc(x, y, radius, 0, 360)


def _line(*numbers: float) -> Line:
    return Line(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _solid(*numbers: float) -> Solid:
    return Solid(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _bulge(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Points:
    """Points along part of an ellipse."""
    turns = [start + (end - start) * step / 24 for step in range(25)]
    return tuple((x + rx * cos(t * pi / 180), y + ry * sin(t * pi / 180)) for t in turns)


_SPOKES = tuple(
    Line(((50, 50), (50 + 42 * cos(t * pi / 3 + pi / 6), 50 + 42 * sin(t * pi / 3 + pi / 6))))
    for t in range(6)
)
_TWIGS = tuple(
    Line(
        tuple(
            (50 + r * cos(t * pi / 3 + pi / 6 + a), 50 + r * sin(t * pi / 3 + pi / 6 + a))
            for r, a in ((42, -0.42), (24, 0.0), (42, 0.42))
        )
    )
    for t in range(6)
)

SHAPES: dict[str, tuple[Mark, ...]] = {
    "hourglass": (_line(20, 10, 80, 10, 20, 90, 80, 90, 20, 10),),
    "ladder": (
        _line(30, 8, 30, 92), _line(70, 8, 70, 92), _line(30, 26, 70, 26), _line(30, 50, 70, 50),
        _line(30, 74, 70, 74),
    ),
    "open diamond": (_line(50, 8, 86, 50, 50, 92, 14, 50, 50, 8),),
    "solid diamond": (_solid(50, 4, 90, 50, 50, 96, 10, 50),),
    "cup with a dot": (
        _line(16, 14, 16, 50), _arc(50, 50, 34, 180, 0), _line(84, 14, 84, 50), Disc(50, 40, 11),
    ),
    "arch with a dot": (
        _line(16, 86, 16, 50), _arc(50, 50, 34, 180, 360), _line(84, 86, 84, 50), Disc(50, 60, 11),
    ),
    "spiral": (_arc(50, 52, 5, 0, 740, 38),),
    "zigzag": (_line(8, 34, 29, 66, 50, 34, 71, 66, 92, 34),),
    "snowflake": (*_SPOKES, *_TWIGS),
    "anchor": (
        _ring(50, 17, 9), _line(50, 26, 50, 90), _line(28, 40, 72, 40), _arc(50, 54, 36, 10, 170),
    ),
    "crescent": (Solid((*_bulge(58, 50, 44, 44, 60, 300), *_bulge(76, 50, 40, 36, 260, 100))),),
    "fish": (
        Line((*_bulge(43, 50, 34, 25, 0, 360),)), _line(77, 50, 94, 28, 94, 72, 77, 50), Disc(27, 44, 6),
    ),
    "key": (_ring(27, 50, 18), _line(45, 50, 92, 50), _line(74, 50, 74, 70), _line(90, 50, 90, 70)),
    "arrow through a ring": (
        _ring(50, 50, 26), _line(10, 90, 86, 14), _line(60, 10, 90, 10, 90, 40),
    ),
    "linked rings": (_ring(34, 50, 25), _ring(66, 50, 25)),
    "triangle with a dot": (_line(50, 10, 92, 86, 8, 86, 50, 10), Disc(50, 62, 10)),
    "mushroom": (
        Solid((*_bulge(50, 52, 44, 42, 180, 360),)), _line(38, 52, 38, 90, 62, 90, 62, 52),
    ),
    "comb": (
        _line(10, 22, 90, 22), *(_line(x, 22, x, 84) for x in (10, 30, 50, 70, 90)),
    ),
    "wheel": (_ring(50, 50, 40), _line(50, 10, 50, 90), _line(10, 50, 90, 50)),
    "stairs": (_line(8, 88, 30, 88, 30, 64, 52, 64, 52, 40, 74, 40, 74, 16, 94, 16),),
    "bow tie": (_solid(6, 18, 50, 50, 6, 82), _solid(94, 18, 50, 50, 94, 82), Disc(50, 50, 11)),
    "eye": (
        Line((*_bulge(50, 70, 50, 48, 205, 335), *_bulge(50, 30, 50, 48, 25, 155))),
        Disc(50, 50, 14),
    ),
    "pinwheel": (
        _solid(50, 50, 50, 6, 82, 6), _solid(50, 50, 94, 50, 94, 82), _solid(50, 50, 50, 94, 18, 94),
        _solid(50, 50, 6, 50, 6, 18),
    ),
    "dumbbell": (Disc(19, 50, 17), Disc(81, 50, 17), _line(19, 50, 81, 50)),
    "half-filled ring": (_ring(50, 50, 40), Solid((*_bulge(50, 50, 40, 40, 90, 270),))),
    "drop with a hole": (Solid(((50, 4), *_bulge(50, 62, 33, 33, -28, 208))), Disc(50, 64, 13, True)),
    "flag": (_line(22, 8, 22, 94), _solid(22, 10, 90, 30, 22, 52)),
}  # fmt: skip

SYMBOLS = tuple(SHAPES)


def paint(draw: ImageDraw, name: str, x: float, y: float, side: float, ink: RGB, ground: RGB) -> None:
    """Paint a symbol into the square with this upper left corner."""
    unit = side / 100

    def at(points: Points) -> list[tuple[float, float]]:
        return [(x + px * unit, y + py * unit) for px, py in points]

    def disc(px: float, py: float, radius: float, colour: RGB) -> None:
        (left, top), (right, bottom) = at(((px - radius, py - radius), (px + radius, py + radius)))
        draw.ellipse((left, top, right, bottom), fill=colour)

    for mark in SHAPES[name]:
        match mark:
            case Line(points):
                draw.line(at(points), fill=ink, width=round(STROKE * unit), joint="curve")
                for px, py in (points[0], points[-1]):
                    disc(px, py, STROKE / 2, ink)
            case Solid(points):
                draw.polygon(at(points), fill=ink)
            case Disc(px, py, radius, empty):
                disc(px, py, radius, ground if empty else ink)


def sprite(sheet: SpriteSheet, name: str, side: int, ink: str, ground: str) -> Sprite:
    """The symbol as a square sprite."""
    colours = sheet.rgb(ink), sheet.rgb(ground)
    key = ("keypad symbol", name, ink)
    return sheet.sprite(key, side, side, ground, lambda draw, s: paint(draw, name, 0, 0, side * s, *colours))
