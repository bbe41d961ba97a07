"""Sprites of the kitchen: furniture, things and the six robot types, which differ in shape (`art.toml`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ludens.draw import Overlay, SpriteSheet
from ludens.draw.palette import edge_of
from ludens.games.viki.world import read_tables

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


Points = Sequence[tuple[float, float]]

SPRITES: dict[str, tuple[tuple[Any, ...], ...]] = read_tables("art.toml")
"""Kind of thing, kind and state of furniture, or type of robot to the calls of `SpriteBrush` for it."""


class SpriteBrush:
    """Paints with a sheet's colours; outlines stand out from the ground, the colour behind the sprite.

    `side` is that of the sprite in pixels, before supersampling by `scale`.
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

    def blob(self, x: float, y: float, w: float, h: float, hue: str) -> None:
        s = self.side
        self.draw.ellipse(((x - w) * s, (y - h) * s, (x + w) * s, (y + h) * s), fill=self.rgb(hue))

    def box(self, x: float, y: float, w: float, h: float, hue: str, corner: float) -> None:
        """A box with round corners and an outline, from its top left corner."""
        colour, s, e = self.rgb(hue), self.side, min(self.line, 0.4 * min(w, h))
        for inset, fill in ((0.0, edge_of(colour, self.ground)), (e, colour)):
            edges = ((x + inset) * s, (y + inset) * s, (x + w - inset) * s, (y + h - inset) * s)
            self.draw.rounded_rectangle(edges, max(0.0, corner - inset) * s, fill=fill)

    def polygon(self, points: Points, hue: str) -> None:
        colour, s = self.rgb(hue), self.side
        corners = [(x * s, y * s) for x, y in points]
        self.draw.polygon(corners, fill=colour)
        edge, width = edge_of(colour, self.ground), max(1, round(self.line * s))
        self.draw.line([*corners, *corners[:2]], edge, width, joint="curve")

    def stroke(self, points: Points, width: float, hue: str) -> None:
        colour, s = self.rgb(hue), self.side
        for extra, fill in ((self.line, edge_of(colour, self.ground)), (-self.line * 0.4, colour)):
            thick = max(1.0, (width + extra) * s)
            self.draw.line([(x * s, y * s) for x, y in points], fill, round(thick), joint="curve")
            for x, y in points:
                r = thick / 2
                self.draw.ellipse((x * s - r, y * s - r, x * s + r, y * s + r), fill=fill)

    def mark(self, points: Points, width: float, hue: str) -> None:
        s = self.side
        self.draw.line([(x * s, y * s) for x, y in points], self.rgb(hue), max(1, round(width * s)), "curve")


def sprite(sheet: SpriteSheet, name: str, side: int, ground: str) -> Overlay:
    """The sprite of a thing, a robot type, or furniture with its state: `cabinet closed`."""

    def paint(draw: ImageDraw, scale: float) -> None:
        brush = SpriteBrush(sheet, draw, side, scale, ground)
        for method, *arguments in SPRITES[name]:
            getattr(brush, method)(*arguments)

    return sheet.overlay(("viki", name, ground), side, side, paint)
