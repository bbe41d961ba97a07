"""The silhouettes of the six robot types: what tells them apart in the picture, with or without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Overlay, SpriteSheet
from ludens.games.viki.brush import Brush

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


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


PAINTERS = {
    "panda": _panda,
    "fetch": _fetch,
    "unitree_h1": _unitree_h1,
    "stompy": _stompy,
    "unitree_go2": _unitree_go2,
    "anymal_c": _anymal_c,
}
"""Robot type to the painter of its silhouette."""


def robot(sheet: SpriteSheet, kind: str, side: int, ground: str) -> Overlay:
    """The silhouette of a robot type."""

    def paint(draw: ImageDraw, scale: float) -> None:
        PAINTERS[kind](Brush(sheet, draw, side, scale, ground))

    return sheet.overlay(("robot", kind, ground), side, side, paint)
