"""Drawn scenes: each object is one sprite at its place on the floor, and none hides another.

The floor is seen from above, the objects from the front: right is right, and what is farther behind is higher
up. Metal shines, rubber is dull and dotted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ludens.draw import Canvas, Overlay, Picture, SpriteSheet, get_theme, sprite_sheet
from ludens.draw.palette import BLACK, RGB, WHITE, edge_of, letter_on, mix
from ludens.draw.shapes import letters
from ludens.games.spy.scene import COLORS, RADIUS, Object, Scene

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

UNIT = 63.0
"""One unit of the floor in units of the picture, which is 512 wide."""
WIDTH = 1.9
"""Width of a sprite in radii of its object: the corners of two cubes side by side do not touch."""
GROUND = "panel"
LEGEND = "A gray   N brown   B blue   others by first letter"
"""Explains the letters of lettered themes."""
PURE, DARK, DARKER, LIGHT = (BLACK, 0, 20), (BLACK, 7, 20), (BLACK, 12, 20), (WHITE, 8, 20)
"""The shades of a colour: towards black or white by a share."""

Points = Sequence[tuple[float, float]]


class Floor:
    """Draws scenes in one theme and size."""

    def __init__(self, theme: str, size: int, seed: int = 0) -> None:
        look = get_theme(theme, seed if theme == "random" else 0)
        shades = [
            mix(look.colour(color), *shade) for color in COLORS for shade in (PURE, DARK, DARKER, LIGHT)
        ]
        inks = ("ink", "muted", "line", "white", *("#{:02x}{:02x}{:02x}".format(*rgb) for rgb in shades))
        self.sheet = sprite_sheet(theme, size, seed, inks, (GROUND,))
        self._empty = self._floor()
        self._sprites: dict[tuple[str, str, str, str], Overlay] = {}

    def draw(self, scene: Scene) -> Picture:
        canvas, size, unit = self._empty.copy(), self.sheet.size, UNIT * self.sheet.size / 512
        for thing in scene.objects:
            canvas.centre(
                self._sprite(thing), round(size / 2 + thing.x * unit), round(size / 2 - thing.y * unit)
            )
        return canvas.picture()

    def _floor(self) -> Canvas:
        """The empty floor; lettered themes explain their letters at the bottom, where no object can be."""
        sheet, px = self.sheet, self.sheet.px
        canvas = Canvas(sheet, GROUND)
        canvas.frame(0, 0, sheet.size, sheet.size, "line", px(2))
        if sheet.theme.lettered:
            low = sheet.size - px(2) - round(sheet.font_px(13) * 0.6) - 3
            canvas.text(px(10), low, LEGEND, sheet.font_px(13), "ink", GROUND)
        return canvas

    def _sprite(self, thing: Object) -> Overlay:
        key = thing.shape, thing.size, thing.material, thing.color
        sprite = self._sprites.get(key)
        if sprite is None:
            side = self.sheet.px(WIDTH * RADIUS[thing.size] * UNIT)
            pixels = self.sheet.sprite(
                ("spy", *key), side, side, GROUND, _Painter(self.sheet, thing, side).paint
            )
            sprite = self._sprites[key] = Overlay(pixels, pixels != self.sheet.index(GROUND))
        return sprite


class _Painter:
    """Paints one object into a square of 100 by 100 points."""

    def __init__(self, sheet: SpriteSheet, thing: Object, side: int) -> None:
        self.thing, self.side = thing, side
        self.base = base = sheet.rgb(thing.color)
        self.dark, self.darker, self.light = (mix(base, *shade) for shade in (DARK, DARKER, LIGHT))
        self.edge = edge_of(base, sheet.rgb(GROUND))
        self.letter = sheet.theme.letter(thing.color)
        self.rim = max(3.0, 240 / side)
        """Width of the outline: 2.4 pixels at least, so that it stands out after blending."""

    def paint(self, draw: ImageDraw, scale: float) -> None:
        self.draw, self.point = draw, self.side * scale / 100
        paint = {"cube": self._cube, "sphere": self._sphere, "cylinder": self._cylinder}[self.thing.shape]
        x, y = paint(self.thing.material == "metal")
        if self.letter:
            room = 34 * self.point
            spot = 19 * self.point
            cx, cy = x * self.point, y * self.point
            draw.ellipse((cx - spot, cy - spot, cx + spot, cy + spot), fill=self.base)
            letters(draw, self.letter, cx, cy, room, room, letter_on(self.base))

    def _cube(self, metal: bool) -> tuple[float, float]:
        front = ((6, 30), (72, 30), (72, 96), (6, 96))
        top = ((6, 30), (28, 6), (94, 6), (72, 30))
        right = ((72, 30), (94, 6), (94, 70), (72, 96))
        self._fill(top, self.light)
        self._fill(front, self.base)
        self._fill(right, self.darker if metal else self.dark)
        if metal:
            self._fill(((10, 62), (10, 42), (22, 30), (38, 30)), WHITE)
            self._fill(((34, 96), (72, 54), (72, 66), (46, 96)), self.light)
            self._fill(((40, 14), (58, 14), (50, 23), (32, 23)), WHITE)
        else:
            self._dots([(x, y) for x in (17, 39, 61) for y in (41, 63, 85)])
        for points in (front, top, right):
            corners = [(x * self.point, y * self.point) for x, y in (*points, points[0], points[1])]
            self.draw.line(corners, self.edge, round(self.rim * self.point), joint="curve")
        return 39, 63

    def _sphere(self, metal: bool) -> tuple[float, float]:
        radius = 48 - self.rim
        self._disc(50, 50, 48, 48, self.edge)
        self._disc(50, 50, radius, radius, self.dark)
        if metal:
            self._disc(48, 47, radius - 5, radius - 5, self.base)
            p, r = self.point, radius - 6
            chord = ((48 - r) * p, (50 - r) * p, (48 + r) * p, (50 + r) * p)
            self.draw.chord(chord, 20, 160, fill=self.darker)
            self._disc(48, 60, radius - 14, 15, self.base)
            self._disc(36, 30, 16, 11, WHITE)
            self._disc(61, 22, 5, 4, WHITE)
        else:
            self._disc(47, 47, radius - 4, radius - 4, self.base)
            self._dots([(x, y) for x in (30, 50, 70) for y in (30, 50, 70)])
        return 50, 52

    def _cylinder(self, metal: bool) -> tuple[float, float]:
        inner, foot = 38 - self.rim, 15 - self.rim * 0.8
        self._disc(50, 82, 38, 16, self.edge)
        self._fill(((12, 20), (88, 20), (88, 82), (12, 82)), self.edge)
        for left, right, colour in self._bands(metal, inner):
            self._fill(((left, 20), (right, 20), (right, 82), (left, 82)), colour)
            steps = [left + (right - left) * i / 12 for i in range(13)]
            curve = [(x, 82 + foot * max(0.0, 1 - ((x - 50) / inner) ** 2) ** 0.5) for x in steps]
            self._fill([(left, 81), *curve, (right, 81)], colour)
        if not metal:
            self._dots([(x, y) for x in (28, 50, 72) for y in (46, 64, 82)])
        self._disc(50, 20, 38, 16, self.edge)
        self._disc(50, 20, inner, 16 - self.rim, self.light)
        if metal:
            self._disc(44, 19, 14, 4, WHITE)
        return 50, 60

    def _bands(self, metal: bool, inner: float) -> list[tuple[float, float, RGB]]:
        """Vertical stripes from left to right: edges and colours."""
        left, right = 50 - inner, 50 + inner
        if not metal:
            return [(left, 68, self.base), (68, right, self.dark)]
        return [
            (left, 25, self.darker), (25, 38, WHITE), (38, 62, self.base), (62, 68, self.light),
            (68, right, self.darker),
        ]  # fmt: skip

    def _fill(self, points: Points, colour: RGB) -> None:
        self.draw.polygon([(x * self.point, y * self.point) for x, y in points], fill=colour)

    def _disc(self, x: float, y: float, rx: float, ry: float, colour: RGB) -> None:
        p = self.point
        self.draw.ellipse(((x - rx) * p, (y - ry) * p, (x + rx) * p, (y + ry) * p), fill=colour)

    def _dots(self, points: Points) -> None:
        for x, y in points:
            self._disc(x, y, 3.6, 3.6, self.darker)
