"""Sprites of the kitchen: furniture, things and the six robot types, told apart by shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ludens.draw import Overlay, SpriteSheet
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


Points = tuple[tuple[float, float], ...]


class Brush:
    """Paints with a sheet's colours; outlines stand out from the ground.

    Args:
        sheet: The colours.
        draw: What is painted on.
        side: Pixels of the sprite's side, before supersampling.
        scale: Supersampling.
        ground: The colour behind the sprite.
    """

    def __init__(self, sheet: SpriteSheet, draw: ImageDraw, side: int, scale: float, ground: str) -> None:
        self.rgb, self.draw, self.side, self.ground = sheet.rgb, draw, side * scale, sheet.rgb(ground)
        self.line = max(0.03, 1.3 / side)

    def oval(self, x: float, y: float, w: float, h: float, hue: str) -> None:
        """An ellipse around a centre, with an outline; `w` and `h` are its half axes."""
        colour, s, e = self.rgb(hue), self.side, min(self.line, 0.4 * min(w, h))
        for inset, fill in ((0.0, edge_of(colour, self.ground)), (e, colour)):
            a, b = w - inset, h - inset
            self.draw.ellipse(((x - a) * s, (y - b) * s, (x + a) * s, (y + b) * s), fill=fill)

    def disc(self, x: float, y: float, radius: float, hue: str) -> None:
        """A disc with an outline."""
        self.oval(x, y, radius, radius, hue)

    def box(self, x: float, y: float, w: float, h: float, hue: str, corner: float = 0.06) -> None:
        """A box with round corners and an outline, from its top left corner."""
        colour, s, e = self.rgb(hue), self.side, min(self.line, 0.4 * min(w, h))
        for inset, fill in ((0.0, edge_of(colour, self.ground)), (e, colour)):
            edges = ((x + inset) * s, (y + inset) * s, (x + w - inset) * s, (y + h - inset) * s)
            self.draw.rounded_rectangle(edges, max(0.0, corner - inset) * s, fill=fill)

    def polygon(self, points: Points, hue: str) -> None:
        """A polygon with an outline."""
        colour, s = self.rgb(hue), self.side
        corners = [(x * s, y * s) for x, y in points]
        self.draw.polygon(corners, fill=colour)
        self.draw.line(
            [*corners, *corners[:2]],
            edge_of(colour, self.ground),
            max(1, round(self.line * s)),
            joint="curve",
        )

    def stroke(self, points: Points, width: float, hue: str) -> None:
        """A thick line with round ends and an outline."""
        colour, s = self.rgb(hue), self.side
        for extra, fill in ((self.line, edge_of(colour, self.ground)), (-self.line * 0.4, colour)):
            thick = max(1.0, (width + extra) * s)
            self.draw.line([(x * s, y * s) for x, y in points], fill, round(thick), joint="curve")
            for x, y in points:
                r = thick / 2
                self.draw.ellipse((x * s - r, y * s - r, x * s + r, y * s + r), fill=fill)

    def mark(self, points: Points, width: float, hue: str) -> None:
        """A line without an outline, for details."""
        s = self.side
        self.draw.line([(x * s, y * s) for x, y in points], self.rgb(hue), max(1, round(width * s)), "curve")

    def say(self, words: str, x: float, y: float, room: float, size: float, on: str) -> None:
        """Letters that are legible on a colour."""
        s = self.side
        letters(self.draw, words, x * s, y * s, room * s, size * s, letter_on(self.rgb(on)))


Painter = Callable[[Brush], None]


def _leaf(b: Brush, x: float, y: float) -> None:
    b.mark(((x, y + 0.12), (x + 0.02, y - 0.02)), 0.05, "brown")
    b.oval(x + 0.12, y, 0.12, 0.06, "green")


def fruit(hue: str, w: float = 0.34, h: float = 0.33) -> Painter:
    """A round fruit with a leaf."""

    def paint(b: Brush) -> None:
        b.oval(0.5, 0.58, w, h, hue)
        _leaf(b, 0.5, 0.58 - h - 0.04)

    return paint


def _pear(b: Brush) -> None:
    b.oval(0.5, 0.66, 0.29, 0.27, "green")
    b.oval(0.5, 0.4, 0.16, 0.2, "green")
    b.draw.ellipse((0.35 * b.side, 0.3 * b.side, 0.65 * b.side, 0.72 * b.side), fill=b.rgb("green"))
    b.mark(((0.5, 0.22), (0.54, 0.08)), 0.05, "brown")


def _banana(b: Brush) -> None:
    b.stroke(((0.16, 0.34), (0.26, 0.6), (0.5, 0.74), (0.78, 0.68)), 0.2, "yellow")
    b.mark(((0.13, 0.32), (0.13, 0.2)), 0.07, "brown")


def _lemon(b: Brush) -> None:
    b.oval(0.5, 0.55, 0.42, 0.15, "yellow")
    b.oval(0.5, 0.55, 0.32, 0.26, "yellow")


def _pumpkin(b: Brush) -> None:
    for x in (0.28, 0.72, 0.5):
        b.oval(x, 0.58, 0.2, 0.3, "orange")
    b.mark(((0.5, 0.28), (0.54, 0.12)), 0.09, "green")


def _tomato(b: Brush) -> None:
    b.oval(0.5, 0.56, 0.37, 0.31, "red")
    for dx in (-0.16, 0.0, 0.16):
        b.mark(((0.5, 0.26), (0.5 + dx, 0.4)), 0.06, "green")


def root(hue: str) -> Painter:
    """A tapering vegetable with leaves."""

    def paint(b: Brush) -> None:
        b.polygon(((0.12, 0.88), (0.52, 0.28), (0.72, 0.48)), hue)
        for x, y in ((0.66, 0.12), (0.82, 0.2), (0.9, 0.36)):
            b.mark(((0.62, 0.38), (x, y)), 0.08, "green")

    return paint


def long(hue: str, cap: str = "") -> Painter:
    """A long vegetable."""

    def paint(b: Brush) -> None:
        b.stroke(((0.24, 0.76), (0.72, 0.3)), 0.28, hue)
        if cap:
            b.disc(0.78, 0.24, 0.11, cap)

    return paint


def _bread(b: Brush) -> None:
    b.box(0.16, 0.3, 0.68, 0.56, "orange", 0.06)
    for x in (0.32, 0.68):
        b.oval(x, 0.3, 0.2, 0.15, "orange")
    b.box(0.26, 0.4, 0.48, 0.38, "wood", 0.04)


def _egg(b: Brush) -> None:
    b.oval(0.5, 0.54, 0.26, 0.36, "white")


def _cheese(b: Brush) -> None:
    b.polygon(((0.1, 0.76), (0.1, 0.52), (0.86, 0.24), (0.9, 0.76)), "yellow")
    for x, y in ((0.36, 0.62), (0.62, 0.5), (0.72, 0.66)):
        b.disc(x, y, 0.06, "orange")


def _plate(b: Brush) -> None:
    b.oval(0.5, 0.55, 0.46, 0.4, "white")
    b.oval(0.5, 0.55, 0.27, 0.23, "white")


def _bowl(b: Brush) -> None:
    b.polygon(((0.08, 0.44), (0.92, 0.44), (0.72, 0.84), (0.28, 0.84)), "cyan")
    b.oval(0.5, 0.44, 0.43, 0.14, "white")


def _tray(b: Brush) -> None:
    b.box(0.04, 0.28, 0.92, 0.52, "brown", 0.08)
    b.box(0.14, 0.38, 0.72, 0.32, "wood", 0.04)


def board(b: Brush) -> None:
    """A cutting board."""
    b.box(0.08, 0.3, 0.66, 0.5, "wood", 0.06)
    b.box(0.72, 0.48, 0.22, 0.14, "wood", 0.05)
    b.mark(((0.2, 0.44), (0.6, 0.44)), 0.03, "brown")
    b.mark(((0.2, 0.62), (0.6, 0.62)), 0.03, "brown")


def _knife(b: Brush) -> None:
    b.polygon(((0.12, 0.86), (0.56, 0.3), (0.7, 0.44)), "white")
    b.stroke(((0.66, 0.34), (0.86, 0.12)), 0.13, "black")


def _fork(b: Brush) -> None:
    b.stroke(((0.2, 0.88), (0.56, 0.46)), 0.08, "gray")
    for dx, dy in ((-0.1, -0.08), (0.02, 0.0), (0.12, 0.1)):
        b.stroke(((0.56 + dx * 0.8, 0.46 + dy * 0.8), (0.76 + dx, 0.22 + dy)), 0.05, "gray")


def _spoon(b: Brush) -> None:
    b.stroke(((0.18, 0.88), (0.58, 0.44)), 0.08, "gray")
    b.oval(0.7, 0.3, 0.17, 0.2, "gray")


def _cup(b: Brush) -> None:
    b.stroke(((0.68, 0.4), (0.88, 0.46), (0.84, 0.66), (0.66, 0.7)), 0.07, "blue")
    b.box(0.2, 0.3, 0.5, 0.54, "blue", 0.08)
    b.oval(0.45, 0.31, 0.25, 0.08, "white")


def _mug(b: Brush) -> None:
    b.stroke(((0.62, 0.36), (0.88, 0.4), (0.86, 0.7), (0.62, 0.72)), 0.09, "purple")
    b.box(0.1, 0.24, 0.56, 0.62, "purple", 0.04)


def _kiwi(b: Brush) -> None:
    b.oval(0.5, 0.54, 0.38, 0.34, "brown")
    b.oval(0.5, 0.54, 0.28, 0.24, "green")
    b.oval(0.5, 0.54, 0.09, 0.07, "white")


def _meat(b: Brush) -> None:
    b.oval(0.46, 0.54, 0.38, 0.3, "red")
    b.oval(0.5, 0.5, 0.16, 0.1, "white")
    b.stroke(((0.76, 0.7), (0.92, 0.84)), 0.1, "white")


def _spatula(b: Brush) -> None:
    b.stroke(((0.16, 0.9), (0.56, 0.46)), 0.08, "black")
    b.polygon(((0.48, 0.36), (0.72, 0.1), (0.94, 0.32), (0.68, 0.58)), "gray")


def _kettle(b: Brush) -> None:
    b.stroke(((0.26, 0.3), (0.36, 0.1), (0.62, 0.1), (0.72, 0.3)), 0.07, "black")
    b.polygon(((0.7, 0.56), (0.98, 0.3), (0.98, 0.42), (0.76, 0.74)), "gray")
    b.oval(0.48, 0.6, 0.34, 0.3, "gray")


def bottle(hue: str) -> Painter:
    """A bottle with a label."""

    def paint(b: Brush) -> None:
        b.box(0.42, 0.06, 0.16, 0.3, hue, 0.03)
        b.box(0.3, 0.3, 0.4, 0.62, hue, 0.1)
        b.box(0.34, 0.5, 0.32, 0.22, "white", 0.02)

    return paint


def can(hue: str) -> Painter:
    """A tin."""

    def paint(b: Brush) -> None:
        b.box(0.24, 0.22, 0.52, 0.66, hue, 0.06)
        b.oval(0.5, 0.24, 0.26, 0.1, "gray")

    return paint


def _carton(b: Brush) -> None:
    b.box(0.1, 0.34, 0.8, 0.54, "brown", 0.02)
    b.polygon(((0.1, 0.36), (0.26, 0.16), (0.58, 0.16), (0.5, 0.36)), "wood")
    b.polygon(((0.9, 0.36), (0.8, 0.16), (0.58, 0.16), (0.5, 0.36)), "wood")


THINGS: dict[str, Painter] = {
    "apple": fruit("red"), "orange": fruit("orange"), "peach": fruit("magenta"), "kiwi": _kiwi, "pear": _pear,
    "banana": _banana, "lemon": _lemon, "pumpkin": _pumpkin, "tomato": _tomato, "carrot": root("orange"),
    "cucumber": long("green"), "bread": _bread, "meat": _meat, "egg": _egg, "cheese": _cheese,
    "plate": _plate, "bowl": _bowl, "tray": _tray, "knife": _knife, "fork": _fork, "spoon": _spoon,
    "spatula": _spatula, "cup": _cup, "mug": _mug, "bottle": bottle("green"), "kettle": _kettle,
    "can": can("red"), "cardboardbox": _carton,
}  # fmt: skip
"""Kind of thing to its painter."""


def thing_sprite(sheet: SpriteSheet, kind: str, side: int, ground: str) -> Overlay:
    """The sprite of a thing."""

    def paint(draw: ImageDraw, scale: float) -> None:
        THINGS[kind](Brush(sheet, draw, side, scale, ground))

    return sheet.overlay(("thing", kind, ground), side, side, paint)


def _cabinet(b: Brush, state: str) -> None:
    """Two doors, shut, or swung out with the shelf showing."""
    if state == "closed":
        b.box(0.06, 0.06, 0.88, 0.88, "brown", 0.02)
        b.mark(((0.5, 0.08), (0.5, 0.92)), 0.05, "ink")
        for x in (0.4, 0.6):
            b.disc(x, 0.5, 0.06, "yellow")
        return
    b.box(0.2, 0.06, 0.6, 0.88, "white", 0.02)
    b.mark(((0.22, 0.5), (0.78, 0.5)), 0.05, "ink")
    b.polygon(((0.2, 0.06), (0.0, 0.16), (0.0, 0.98), (0.2, 0.94)), "brown")
    b.polygon(((0.8, 0.06), (1.0, 0.16), (1.0, 0.98), (0.8, 0.94)), "brown")


def _drawer(b: Brush, state: str) -> None:
    """A front with a handle, shut, or pulled out with its inside showing."""
    if state == "closed":
        b.box(0.06, 0.22, 0.88, 0.52, "brown", 0.03)
        b.stroke(((0.36, 0.48), (0.64, 0.48)), 0.08, "yellow")
        return
    b.box(0.06, 0.08, 0.88, 0.2, "brown", 0.02)
    b.polygon(((0.12, 0.28), (0.88, 0.28), (0.98, 0.66), (0.02, 0.66)), "white")
    b.box(0.02, 0.64, 0.96, 0.3, "brown", 0.02)
    b.stroke(((0.4, 0.79), (0.6, 0.79)), 0.07, "yellow")


def _sink(b: Brush, state: str) -> None:
    b.box(0.04, 0.26, 0.92, 0.68, "gray", 0.1)
    b.box(0.14, 0.36, 0.72, 0.48, "cyan", 0.08)
    b.stroke(((0.5, 0.3), (0.5, 0.1), (0.68, 0.1), (0.68, 0.24)), 0.08, "white")
    b.disc(0.5, 0.62, 0.05, "black")


def _toaster(b: Brush, state: str) -> None:
    b.box(0.08, 0.3, 0.8, 0.6, "gray", 0.14)
    b.box(0.2, 0.22, 0.56, 0.12, "black", 0.03)
    b.mark(((0.92, 0.44), (0.92, 0.66)), 0.07, "ink")
    b.disc(0.7, 0.72, 0.06, "red")


def _fridge(b: Brush, state: str) -> None:
    b.box(0.2, 0.02, 0.6, 0.96, "white", 0.05)
    b.mark(((0.22, 0.36), (0.78, 0.36)), 0.04, "ink")
    b.mark(((0.7, 0.14), (0.7, 0.28)), 0.06, "ink")
    b.mark(((0.7, 0.46), (0.7, 0.66)), 0.06, "ink")


def _oven(b: Brush, state: str) -> None:
    b.box(0.06, 0.08, 0.88, 0.86, "gray", 0.05)
    for x in (0.24, 0.42, 0.6, 0.78):
        b.disc(x, 0.2, 0.055, "black")
    b.box(0.16, 0.36, 0.68, 0.46, "black", 0.04)
    b.mark(((0.22, 0.44), (0.78, 0.44)), 0.05, "white")


def _board(b: Brush, state: str) -> None:
    board(b)


FURNITURE = {
    "cabinet": _cabinet,
    "drawer": _drawer,
    "sink": _sink,
    "toaster": _toaster,
    "fridge": _fridge,
    "oven": _oven,
    "cutting board": _board,
}
"""Kind of furniture to its painter."""


def furniture_sprite(sheet: SpriteSheet, kind: str, state: str, side: int, ground: str) -> Overlay:
    """The sprite of furniture; `state` is `open` or `closed`, or empty where it does not open."""

    def paint(draw: ImageDraw, scale: float) -> None:
        FURNITURE[kind](Brush(sheet, draw, side, scale, ground), state)

    return sheet.overlay(("furniture", kind, state, ground), side, side, paint)


def _panda(b: Brush) -> None:
    """A single arm on a base that is bolted down."""
    b.box(0.2, 0.84, 0.6, 0.12, "gray", 0.02)
    b.stroke(((0.46, 0.84), (0.4, 0.5), (0.66, 0.26)), 0.13, "white")
    for x, y in ((0.46, 0.8), (0.4, 0.5), (0.66, 0.26)):
        b.disc(x, y, 0.09, "gray")
    b.stroke(((0.66, 0.26), (0.82, 0.42)), 0.08, "white")
    b.mark(((0.74, 0.46), (0.78, 0.56)), 0.05, "ink")
    b.mark(((0.86, 0.4), (0.94, 0.48)), 0.05, "ink")


def _fetch(b: Brush) -> None:
    """A round base on wheels, a column, a flat head, one arm."""
    b.box(0.38, 0.22, 0.18, 0.5, "gray", 0.04)
    b.stroke(((0.5, 0.42), (0.74, 0.5), (0.88, 0.36)), 0.09, "blue")
    b.mark(((0.84, 0.34), (0.88, 0.24)), 0.045, "ink")
    b.mark(((0.9, 0.36), (0.97, 0.28)), 0.045, "ink")
    b.box(0.28, 0.1, 0.38, 0.15, "blue", 0.06)
    b.disc(0.4, 0.175, 0.035, "white")
    b.disc(0.54, 0.175, 0.035, "white")
    b.box(0.18, 0.66, 0.58, 0.2, "blue", 0.1)
    for x in (0.3, 0.64):
        b.disc(x, 0.88, 0.09, "black")


def _unitree_h1(b: Brush) -> None:
    """A slender humanoid: oval head, thin limbs."""
    for side in (-1, 1):
        b.stroke(
            ((0.5 + side * 0.07, 0.56), (0.5 + side * 0.1, 0.76), (0.5 + side * 0.1, 0.93)), 0.09, "black"
        )
        b.mark(((0.5 + side * 0.1, 0.95), (0.5 + side * 0.18, 0.95)), 0.05, "black")
        b.stroke(
            ((0.5 + side * 0.17, 0.32), (0.5 + side * 0.27, 0.46), (0.5 + side * 0.27, 0.62)), 0.075, "black"
        )
    b.box(0.37, 0.26, 0.26, 0.33, "white", 0.06)
    b.oval(0.5, 0.14, 0.085, 0.115, "black")
    b.mark(((0.46, 0.13), (0.54, 0.13)), 0.03, "white")


def _stompy(b: Brush) -> None:
    """A bulky humanoid: square head with an aerial, broad shoulders, heavy limbs."""
    for side in (-1, 1):
        b.box(0.5 + side * 0.13 - 0.09, 0.62, 0.18, 0.26, "orange", 0.03)
        b.box(0.5 + side * 0.15 - 0.12, 0.86, 0.24, 0.11, "gray", 0.03)
        b.box(0.5 + side * 0.36 - 0.09, 0.32, 0.18, 0.36, "orange", 0.05)
        b.disc(0.5 + side * 0.36, 0.7, 0.08, "gray")
    b.box(0.24, 0.3, 0.52, 0.36, "orange", 0.05)
    b.box(0.35, 0.41, 0.3, 0.14, "gray", 0.02)
    b.box(0.36, 0.1, 0.28, 0.2, "gray", 0.02)
    b.disc(0.44, 0.2, 0.035, "white")
    b.disc(0.56, 0.2, 0.035, "white")
    b.mark(((0.5, 0.1), (0.5, 0.02)), 0.03, "ink")


def _legs(b: Brush, hue: str, xs: tuple[float, ...], top: float, bend: float, width: float) -> None:
    for x in xs:
        b.stroke(((x, top), (x + bend, (top + 0.93) / 2), (x, 0.93)), width, hue)


def _unitree_go2(b: Brush) -> None:
    """A small dog: slim body, bent legs, a head with a snout, no arm."""
    _legs(b, "gray", (0.3, 0.74), 0.6, -0.08, 0.05)
    _legs(b, "gray", (0.22, 0.66), 0.6, -0.08, 0.06)
    b.box(0.16, 0.48, 0.58, 0.17, "gray", 0.08)
    b.box(0.68, 0.38, 0.22, 0.17, "gray", 0.06)
    b.disc(0.88, 0.46, 0.045, "black")


def _anymal_c(b: Brush) -> None:
    """A large quadruped: boxy red body with a handle, straight legs with black feet, no head, no arm."""
    for x in (0.16, 0.4, 0.62, 0.84):
        b.stroke(((x, 0.6), (x, 0.9)), 0.09, "black")
        b.disc(x, 0.92, 0.06, "black")
    b.mark(((0.3, 0.36), (0.3, 0.24), (0.7, 0.24), (0.7, 0.36)), 0.05, "ink")
    b.box(0.08, 0.34, 0.84, 0.3, "red", 0.04)
    b.box(0.28, 0.42, 0.44, 0.12, "white", 0.02)


ROBOTS = {
    "panda": _panda,
    "fetch": _fetch,
    "unitree_h1": _unitree_h1,
    "stompy": _stompy,
    "unitree_go2": _unitree_go2,
    "anymal_c": _anymal_c,
}
"""Robot type to the painter of its silhouette."""


def robot_sprite(sheet: SpriteSheet, kind: str, side: int, ground: str) -> Overlay:
    """The silhouette of a robot type."""

    def paint(draw: ImageDraw, scale: float) -> None:
        ROBOTS[kind](Brush(sheet, draw, side, scale, ground))

    return sheet.overlay(("robot", kind, ground), side, side, paint)
