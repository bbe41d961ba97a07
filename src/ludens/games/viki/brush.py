"""A brush for sprites of the kitchen: shapes with outlines on a tile whose side is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import SpriteSheet
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
