"""The sprites of the kitchen, seen from above: tiles, objects, and chefs with what they hold.

Everything is painted on a tile whose side is 1; `Brush` turns that into the pixels of one sprite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Sprite, SpriteSheet
from ludens.draw.palette import edge_of, letter_on, mix
from ludens.draw.shapes import letters
from ludens.games.overcooked.cooking import COOK_STEPS, DISH, ONION, SOUPS, Chef, Pot
from ludens.games.overcooked.kitchens import COUNTER, DISHES, FLOOR, HATCH, ONIONS

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

HUES = ("blue", "green")
INKS = ("ink", "line", *HUES, "white", "black", "yellow", "orange", "gray", "brown")
GROUNDS = ("page", "panel", "light", "wood")

_WAYS = {"UP": (0, -1), "DOWN": (0, 1), "RIGHT": (1, 0), "LEFT": (-1, 0)}
_SLOTS = ((0.37, 0.34), (0.63, 0.34), (0.5, 0.56))
"""Positions of onions in a pot."""


class Brush:
    """Paints on one tile with a sheet's colours; outlines stand out from the tile's ground."""

    def __init__(self, sheet: SpriteSheet, draw: ImageDraw, px: int, scale: float, ground: str) -> None:
        self.rgb, self.draw, self.side, self.ground = sheet.rgb, draw, px * scale, sheet.rgb(ground)
        self.line = max(0.025, 1.6 / px)

    def disc(self, x: float, y: float, radius: float, hue: str, edge: float = 0.0) -> None:
        """A disc with an outline."""
        colour, s, edge = self.rgb(hue), self.side, min(max(edge, self.line), radius * 0.4)
        for r, fill in ((radius, edge_of(colour, self.ground)), (radius - edge, colour)):
            self.draw.ellipse(((x - r) * s, (y - r) * s, (x + r) * s, (y + r) * s), fill=fill)

    def box(self, x: float, y: float, w: float, h: float, hue: str, round_: float = 0.06) -> None:
        """A rounded box with an outline."""
        colour, s, e = self.rgb(hue), self.side, min(self.line, 0.4 * min(w, h))
        self.draw.rounded_rectangle(
            (x * s, y * s, (x + w) * s, (y + h) * s), round_ * s, fill=edge_of(colour, self.ground)
        )
        inner = ((x + e) * s, (y + e) * s, (x + w - e) * s, (y + h - e) * s)
        self.draw.rounded_rectangle(inner, max(0.0, round_ - e) * s, fill=colour)

    def say(self, words: str, x: float, y: float, room: float, size: float, on: str) -> None:
        """Letters that are legible on a colour."""
        s = self.side
        letters(self.draw, words, x * s, y * s, room * s, size * s, letter_on(self.rgb(on)))

    def onion(self, x: float, y: float, r: float) -> None:
        """An onion: a bulb with a tip and skins."""
        s, skin = self.side, self.rgb("yellow")
        tip = [(x - 0.45 * r, y - 0.62 * r), (x, y - 1.35 * r), (x + 0.45 * r, y - 0.62 * r)]
        self.draw.polygon([(a * s, b * s) for a, b in tip], fill=edge_of(skin, self.ground))
        self.disc(x, y + 0.05 * r, r * 0.95, "yellow", r * 0.17)
        for bulge in (0.32, 0.72):
            oval = ((x - bulge * r) * s, (y - 0.8 * r) * s, (x + bulge * r) * s, (y + 0.9 * r) * s)
            self.draw.ellipse(oval, outline=edge_of(skin, self.ground), width=max(1, round(r * 0.11 * s)))

    def dish(self, x: float, y: float, r: float) -> None:
        """A plate."""
        self.disc(x, y, r, "white", r * 0.14)
        self.disc(x, y, r * 0.62, "white", r * 0.09)

    def thing(self, what: str, x: float, y: float, r: float) -> None:
        """Anything that can be carried."""
        if what == ONION:
            self.onion(x, y, r)
        elif what == DISH:
            self.dish(x, y, r)
        elif what in SOUPS:
            self.disc(x, y, r * 1.15, "white", r * 0.14)
            self.disc(x, y, r * 0.84, "orange", r * 0.09)
            self.say(str(SOUPS.index(what) + 1), x, y, r * 1.2, r * 1.15, "orange")


class Art:
    """The sprites of one sheet at one tile size."""

    def __init__(self, sheet: SpriteSheet, px: int) -> None:
        self._sheet, self._px = sheet, px

    def tile(self, kind: str, holds: str = "") -> Sprite:
        """Floor, counter with its object, box, rack or hatch."""

        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, kind)
            if kind == ONIONS:
                brush.box(0.12, 0.2, 0.76, 0.66, "brown")
                for x, y in ((0.34, 0.42), (0.66, 0.42), (0.5, 0.64)):
                    brush.onion(x, y, 0.15)
            elif kind == DISHES:
                for lift in (0.1, 0.0, -0.1):
                    brush.dish(0.5 + lift, 0.5 + lift, 0.3)
            elif kind == HATCH:
                brush.box(0.08, 0.08, 0.84, 0.84, "gray")
                brush.say("SERVE", 0.5, 0.36, 0.74, 0.28, "gray")
                arrow = [(0.5, 0.86), (0.3, 0.62), (0.7, 0.62)]
                points = [(x * brush.side, y * brush.side) for x, y in arrow]
                draw.polygon(points, fill=letter_on(brush.rgb("gray")))
            brush.thing(holds, 0.5, 0.5, 0.24)

        return self._sheet.sprite(("kitchen", kind, holds), self._px, self._px, _under(kind), paint)

    def pot(self, pot: Pot) -> Sprite:
        """A pot with its onions and, while it cooks, the steps it has cooked."""

        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, COUNTER)
            brush.box(0.03, 0.3, 0.94, 0.18, "black")
            brush.disc(0.5, 0.42, 0.38, "black")
            brush.disc(0.5, 0.42, 0.32, "orange" if pot.cooked >= 0 else "gray")
            for x, y in _SLOTS[: pot.onions]:
                brush.onion(x, y, 0.13)
            if pot.cooked >= 0:
                label = "READY" if pot.ready else f"{pot.cooked}/{COOK_STEPS}"
                brush.box(0.1, 0.71, 0.8, 0.27, "white")
                brush.say(label, 0.5, 0.845, 0.72, 0.24, "white")

        return self._sheet.sprite(("pot", pot), self._px, self._px, _under(COUNTER), paint)

    def chef(self, number: int, chef: Chef, you: bool = False) -> Sprite:
        """A chef on the floor: hat with the chef's number, eyes and hands toward the tile in front.

        The chef of the seat that looks has a frame around the tile.
        """
        hue, (fx, fy) = HUES[number], _WAYS[chef.facing]

        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, FLOOR)

            def at(ahead: float, aside: float) -> tuple[float, float]:
                return 0.5 + (ahead - 0.08) * fx - aside * fy, 0.5 + (ahead - 0.08) * fy + aside * fx

            if you:
                draw.rectangle(
                    (0, 0, brush.side - 1, brush.side - 1),
                    outline=self._sheet.rgb("ink"),
                    width=round(max(2, self._px * 0.05) * scale),
                )
            brush.disc(*at(0, 0), 0.36, hue, 0.03)
            for aside in (-0.27, 0.27):
                brush.disc(*at(0.32, aside), 0.09, hue)
            for aside in (-0.12, 0.12):
                brush.disc(*at(0.22, aside), 0.075, "white", 0.015)
                brush.disc(*at(0.25, aside), 0.04, "black", 0.01)
            brush.disc(*at(-0.09, 0), 0.21, "white")
            brush.say(str(number), *at(-0.09, 0), 0.3, 0.3, "white")
            brush.thing(chef.holds, *at(0.39, 0), 0.16)

        key = ("chef", number, chef.facing, chef.holds, you)
        return self._sheet.sprite(key, self._px, self._px, _under(FLOOR), paint)

    def _ground(self, draw: ImageDraw, scale: float, kind: str) -> Brush:
        """The tile itself: a line around it, thicker around tiles that cannot be walked on."""
        brush, side = Brush(self._sheet, draw, self._px, scale, _under(kind)), self._px * scale
        ground, line = self._sheet.rgb(_under(kind)), self._sheet.rgb("line")
        soft = mix(ground, line, 1, 4) if kind == FLOOR else line
        draw.rectangle((0, 0, side - 1, side - 1), outline=soft, width=round(scale * max(1, self._px / 60)))
        return brush


def _under(kind: str) -> str:
    return "light" if kind == FLOOR else "wood"
