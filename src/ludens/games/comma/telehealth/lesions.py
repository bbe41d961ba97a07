"""Lesion sprites: six looks that differ in outline, surface marks and colours, on six skin types.

A sprite is painted once for each look, skin type and variant; a seed chooses variant, orientation and place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import cos, pi, sin

import numpy as np
from PIL.ImageDraw import ImageDraw

from ludens.core.random import Stream, stream
from ludens.draw import Canvas
from ludens.draw.palette import mix, parse

SKINS = ("#f7ddcc", "#efc9ab", "#dfb08a", "#c59068", "#a2704d", "#7c523b")
"""By skin type, from I to VI."""
WHITE, CREAM, STRAW, OCHRE, ROSE, RED, WINE, BROWN, UMBER, COFFEE, BLACK, SLATE = COLOURS = (
    "#ffffff", "#fde9e0", "#f0d890", "#c8963e", "#eba79c", "#c2453f",
    "#7d2428", "#93612f", "#5f3a20", "#3a2013", "#141414", "#71839d",
)  # fmt: skip
FADE = (8, 16, 24, 32, 40, 48)
"""Percentages of red where a patch fades into the skin."""
VARIANTS, SPRITE = 2, 200
"""Number of sprites for each look and skin type, and their side in units."""

Points = list[tuple[float, float]]
"""In units, with the origin in the middle of the sprite."""
Mark = tuple[str, Points, float]
"""Colour, points and line width of one mark; a polygon has width 0."""


def blend(skin: str, colour: str, percent: int) -> str:
    return "#{:02x}{:02x}{:02x}".format(*mix(parse(skin), parse(colour), percent, 100))


def shade(colour: str, plain: bool) -> str:
    """The colour; in the `plain` theme its grey."""
    red, green, blue = parse(colour)
    return "#" + 3 * f"{(299 * red + 587 * green + 114 * blue) // 1000:02x}" if plain else colour


INKS = (
    *SKINS, *COLOURS, *(blend(skin, WINE, percent) for skin in SKINS for percent in FADE),
    *(shade(skin, plain=True) for skin in SKINS), *("#" + 3 * f"{level:02x}" for level in range(8, 255, 8)),
)  # fmt: skip
"""Palette entries: the colours, and greys for the `plain` theme."""


def polar(*corners: tuple[float, float], x: float = 0, y: float = 0) -> Points:
    """Points given by radius and angle around (x, y)."""
    return [(x + r * cos(angle), y + r * sin(angle)) for r, angle in corners]


def ellipse(x: float, y: float, rx: float, ry: float) -> Points:
    return [(x + rx * dx, y + ry * dy) for dx, dy in polar(*((1, pi * i / 32) for i in range(64)))]


def spread(count: int, rx: float, ry: float, random: Stream) -> Points:
    """Points evenly spread over an ellipse (a sunflower spiral), in random order."""
    phase = random.random() * 2 * pi
    spiral = polar(*((((i + 0.5) / count) ** 0.5, phase + i * pi * (3 - 5**0.5)) for i in range(count)))
    random.shuffle(spiral)
    return [(rx * x, ry * y) for x, y in spiral]


def pearl(skin: str, random: Stream) -> Iterator[Mark]:
    """A round dome with a pale rim, a gleam and branching vessels."""
    ry, start = random.between(74, 84), random.random() * 2 * pi
    for inset, colour in ((0, blend(skin, WINE, 48)), (5, CREAM), (21, ROSE)):
        yield colour, ellipse(0, 0, 88 - inset, ry - inset), 0
    for angle in (start + 2 * pi * branch / 5 for branch in range(5)):
        bend, fork = random.choice((-0.6, -0.4, 0.4, 0.6)), random.between(34, 44)
        yield RED, polar((ry - 10, angle), (fork, angle + bend / 3), (13, angle + bend)), 3.5
        yield RED, polar((fork, angle + bend / 3), (26, angle - bend), (22, angle - 2 * bend)), 3
    yield WHITE, ellipse(-32, -30, 15, 9), 0
    yield WHITE, ellipse(-10, -42, 6, 4), 0


def crust(skin: str, random: Stream) -> Iterator[Mark]:
    """A smooth red nodule with a broken crust in its middle."""
    ry = random.between(80, 92)
    for inset, colour in ((0, blend(skin, WINE, 32)), (8, WINE), (13, RED), (36, COFFEE)):
        yield colour, ellipse(0, 0, 95 - inset, ry - inset), 0
    for number, (x, y) in enumerate(spread(16, 53, ry - 41, random)):
        chunk = [(random.between(10, 14), (i + 0.7 * random.random()) * pi / 3) for i in range(6)]
        yield OCHRE if number % 3 else STRAW, polar(*chunk, x=x, y=y), 0


def scale(skin: str, random: Stream) -> Iterator[Mark]:
    """A patch that fades into the skin, with pale flakes all over."""
    for part, percent in enumerate(FADE):
        yield blend(skin, WINE, percent), ellipse(0, 0, 98 - 9 * part, 86 - 9 * part), 0
    for x, y in spread(34, 86, 76, random):
        angle, length = random.random() * pi, random.between(7, 10)
        flake = [(length, angle), (4, angle + 1.3), (length, angle + pi), (4, angle + 4.6)]
        yield WINE, polar(*flake, x=x + 2, y=y + 2), 0
        yield WHITE, polar(*flake, x=x, y=y), 0


def wax(skin: str, random: Stream) -> Iterator[Mark]:
    """An oval plaque with a sharp edge and a shadow, dark pits and pale beads."""
    ry = random.between(58, 66)
    for offset, inset, colour in ((8, 0, blend(skin, BLACK, 50)), (-4, 0, COFFEE), (-4, 5, BROWN)):
        yield colour, ellipse(offset, offset, 88 - inset, ry - inset), 0
    for number, (x, y) in enumerate(spread(30, 72, ry - 16, random)):
        yield BLACK, ellipse(x - 4, y - 4, 6, 6), 0
        if number % 2:
            yield STRAW, ellipse(x - 4, y - 4, 4.5, 4.5), 0


def notch(skin: str, random: Stream) -> Iterator[Mark]:
    """A lopsided flat patch with notches in its border, in blotches of several colours."""
    waves = [(k, height, random.random() * 2 * pi) for k, height in ((1, 10), (2, 12), (3, 7))]
    notches, outline = [30 * number + random.below(20) for number in range(4)], []
    for step in range(120):
        r = 72 + sum(height * cos(2 * pi * k * step / 120 + phase) for k, height, phase in waves)
        depth = max(0, 4 - min(abs(step - at) for at in notches)) * 0.09
        outline.append((r * (1 - depth), 2 * pi * step / 120))
    yield UMBER if skin in SKINS[:4] else COFFEE, polar(*outline), 0
    blotches = zip((BLACK, RED, SLATE, BROWN, BLACK, SLATE), spread(6, 42, 42, random), strict=True)
    for colour, (x, y) in blotches:
        yield colour, ellipse(x, y, random.between(14, 22), random.between(12, 18)), 0


def mole(skin: str, random: Stream) -> Iterator[Mark]:
    """A small even spot of one shade, with or without a hair."""
    yield UMBER if skin in SKINS[:4] else COFFEE, ellipse(0, 0, 42, random.between(34, 42)), 0
    if random.below(2):
        yield BLACK, [(-4, 0), (2, -24), (14, -54)], 2.5


PAINTERS: dict[str, Callable[[str, Stream], Iterator[Mark]]] = {
    "pearl": pearl, "crust": crust, "scale": scale, "wax": wax, "notch": notch, "mole": mole,
}  # fmt: skip


def draw_lesion(canvas: Canvas, look: str, skin_type: int, seed: int, x: int, y: int, side: int) -> None:
    """Fill a square with skin of a type from 1 to 6 and place the lesion of a seed somewhere on it."""
    sheet, random, plain = canvas.sheet, stream(seed, "lesion"), canvas.sheet.theme.plain
    variant, turns, mirrored = random.below(VARIANTS), random.below(4), random.below(2)
    skin, size = SKINS[skin_type - 1], sheet.px(SPRITE)

    def paint(draw: ImageDraw, scale: float) -> None:
        unit = size * scale / SPRITE
        for colour, points, width in PAINTERS[look](skin, stream(variant, "lesion", look)):
            pixels = [((SPRITE / 2 + px) * unit, (SPRITE / 2 + py) * unit) for px, py in points]
            fill = parse(shade(colour, plain))
            if width:
                draw.line(pixels, fill, round(width * unit), joint="curve")
            else:
                draw.polygon(pixels, fill)

    sprite = np.rot90(sheet.sprite(("lesion", look, variant), size, size, shade(skin, plain), paint), turns)
    dx, dy = (random.below(side - size) for _ in range(2))
    canvas.fill(x, y, side, side, shade(skin, plain))
    canvas.place(sprite[:, ::-1] if mirrored else sprite, x + dx, y + dy)
