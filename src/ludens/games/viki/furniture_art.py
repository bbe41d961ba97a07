"""Sprites of furniture: cabinets and drawers open or closed, sink, toaster, fridge, oven, cutting board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Overlay, SpriteSheet
from ludens.games.viki.brush import Brush
from ludens.games.viki.object_art import board

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


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


PAINTERS = {
    "cabinet": _cabinet,
    "drawer": _drawer,
    "sink": _sink,
    "toaster": _toaster,
    "fridge": _fridge,
    "oven": _oven,
    "cutting board": _board,
}
"""Kind of furniture to its painter."""


def furniture(sheet: SpriteSheet, kind: str, state: str, side: int, ground: str) -> Overlay:
    """The sprite of furniture; `state` is `open` or `closed`, or empty where it does not open."""

    def paint(draw: ImageDraw, scale: float) -> None:
        PAINTERS[kind](Brush(sheet, draw, side, scale, ground), state)

    return sheet.overlay(("furniture", kind, state, ground), side, side, paint)
