"""Sprites of the things in the kitchen, one painter a kind; shapes tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ludens.draw import Overlay, SpriteSheet
from ludens.games.viki.brush import Brush

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

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


PAINTERS: dict[str, Painter] = {
    "apple": fruit("red"), "orange": fruit("orange"), "peach": fruit("magenta"), "kiwi": _kiwi, "pear": _pear,
    "banana": _banana, "lemon": _lemon, "pumpkin": _pumpkin, "tomato": _tomato, "carrot": root("orange"),
    "cucumber": long("green"), "bread": _bread, "meat": _meat, "egg": _egg, "cheese": _cheese,
    "plate": _plate, "bowl": _bowl, "tray": _tray, "knife": _knife, "fork": _fork, "spoon": _spoon,
    "spatula": _spatula, "cup": _cup, "mug": _mug, "bottle": bottle("green"), "kettle": _kettle,
    "can": can("red"), "cardboardbox": _carton,
}  # fmt: skip
"""Kind of thing to its painter."""


def thing(sheet: SpriteSheet, kind: str, side: int, ground: str) -> Overlay:
    """The sprite of a thing."""

    def paint(draw: ImageDraw, scale: float) -> None:
        PAINTERS[kind](Brush(sheet, draw, side, scale, ground))

    return sheet.overlay(("thing", kind, ground), side, side, paint)
