"""Shapes and centred letters, painted with a Pillow `ImageDraw`."""

from __future__ import annotations

from math import cos, pi, sin

from PIL.ImageDraw import ImageDraw

from ludens.core.errors import UnknownName
from ludens.draw import fonts
from ludens.draw.palette import RGB

Point = tuple[float, float]

# Corners, angle of the first corner (in turns from the right), radius that looks as large as a disc.
_REGULAR = {
    "triangle": (3, -0.25, 1.12), "diamond": (4, -0.25, 1.0), "pentagon": (5, -0.25, 1.04),
    "hexagon": (6, 0.0, 1.0), "octagon": (8, 0.0625, 1.04),
}  # fmt: skip
SHAPES = ("disc", "square", "star", "plus", *_REGULAR)


def regular(corners: int, x: float, y: float, radius: float, turn: float) -> list[Point]:
    """The corners of a regular polygon."""
    angles = [2 * pi * (turn + i / corners) for i in range(corners)]
    return [(x + radius * cos(a), y + radius * sin(a)) for a in angles]


def star(x: float, y: float, radius: float) -> list[Point]:
    """The corners of a five-pointed star."""
    outer, inner = regular(5, x, y, radius, -0.25), regular(5, x, y, radius * 0.46, -0.15)
    return [point for pair in zip(outer, inner, strict=True) for point in pair]


def plus(x: float, y: float, radius: float) -> list[Point]:
    """The corners of a plus sign."""
    a, b = radius, radius * 0.38
    steps = (
        (-b, -a), (b, -a), (b, -b), (a, -b), (a, b), (b, b),
        (b, a), (-b, a), (-b, b), (-a, b), (-a, -b), (-b, -b),
    )  # fmt: skip
    return [(x + dx, y + dy) for dx, dy in steps]


def fill_shape(draw: ImageDraw, shape: str, x: float, y: float, radius: float, colour: RGB) -> None:
    """A filled shape centred on a point, inside the square of that radius."""
    if shape == "disc":
        draw.ellipse((x - radius, y - radius, x + radius - 1, y + radius - 1), fill=colour)
    elif shape == "square":
        side = radius * 0.9
        draw.rounded_rectangle((x - side, y - side, x + side - 1, y + side - 1), radius * 0.22, fill=colour)
    elif shape == "star":
        draw.polygon(star(x, y + radius * 0.06, radius), fill=colour)
    elif shape == "plus":
        draw.polygon(plus(x, y, radius * 0.92), fill=colour)
    elif shape in _REGULAR:
        corners, turn, grow = _REGULAR[shape]
        drop = radius * 0.17 if shape == "triangle" else 0.0
        draw.polygon(regular(corners, x, y + drop, radius * grow * 0.99, turn), fill=colour)
    else:
        raise UnknownName("shape", shape, SHAPES)


def edged(
    draw: ImageDraw, shape: str, x: float, y: float, radius: float, fill: RGB, edge: RGB, width: float
) -> None:
    """A filled shape with an outline inside its radius."""
    fill_shape(draw, shape, x, y, radius, edge)
    sharp = {"triangle": 2.0, "diamond": 1.4, "star": 2.2, "plus": 1.0}.get(shape, 1.1)
    if shape == "plus":
        points = plus(x, y, radius * 0.92)
        draw.polygon(
            [(px - width * _sign(px - x), py - width * _sign(py - y)) for px, py in points], fill=fill
        )
    else:
        fill_shape(draw, shape, x, y, max(1.0, radius - width * sharp), fill)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def letters(draw: ImageDraw, string: str, x: float, y: float, room: float, px: float, colour: RGB) -> None:
    """Bold text centred on a point, scaled down to at most `room` wide."""
    string = fonts.clean(string)
    face = fonts.font(int(px), bold=True)
    wide = face.getlength(string)
    if wide > room:
        face = fonts.font(int(px * room / wide), bold=True)
    if len(string) == 1:
        left, top, right, bottom = face.getbbox(string, anchor="ls")
        draw.text(
            (x - (left + right) / 2, y - (top + bottom) / 2), string, fill=colour, font=face, anchor="ls"
        )
    else:
        draw.text(
            (x, y + px * 0.36 * min(1.0, room / max(1.0, wide))), string, fill=colour, font=face, anchor="ms"
        )
