"""A plate to paint a lesion on: shapes, strokes, softness and relief, straight into palette entries.

Everything is done in bytes: shapes are drawn as coverage, softness and relief come from blurring it, and a
table turns levels into palette entries. So every machine makes the same pixels, and in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from ludens.core.random import Stream, stream
from ludens.draw import Sprite, SpriteSheet
from ludens.draw.palette import RGB
from ludens.games.comma.telehealth import tones
from ludens.games.comma.telehealth.outlines import Outline, Specks, uneven
from ludens.games.comma.telehealth.tones import darker, lighter

Mask = Image.Image
"""Coverage, or levels from 0 to 255: an image of bytes."""
Colour = str | RGB

UNITS = 300
"""A lesion's picture is 300 units wide, whatever its size in pixels."""
_CELLS = (5, 12, 44)
"""Cells across a picture of the three textures, from coarse to fine."""
_DRAWS = 2048
_CORNERS, _WAVES = 64, 5
"""Of a blob."""


class Plate:
    """One picture being made: the skin first, then layer upon layer."""

    def __init__(self, sheet: SpriteSheet, side: int, skin: str, random: Stream) -> None:
        self.sheet, self.side, self.skin = sheet, side, skin
        self.scale = side / UNITS
        self._numbers = _numbers(random.bits(), _DRAWS)
        self._listed: list[float] = self._numbers.tolist()
        self._drawn = 0
        self._image = self._coloured((darker(skin, 22), skin, lighter(skin, 26)), self._piece(self._skin()))

    @property
    def pixels(self) -> Sprite:
        """The finished picture as palette entries."""
        return np.array(self._image, np.uint8)

    # What is drawn by lot.

    def draw(self, number: int) -> NDArray[np.float64]:
        """So many numbers in [0, 1)."""
        start, self._drawn = self._drawn, self._drawn + number
        return self._numbers[start : self._drawn]

    def within(self, low: float, high: float) -> float:
        """A number between two."""
        self._drawn += 1
        return low + (high - low) * self._listed[self._drawn - 1]

    def count(self, low: int, high: int) -> int:
        """A whole number between two, both included."""
        return int(self.within(low, high + 1))

    def blob(self, x: float, y: float, rx: float, ry: float, wobble: float, turn: float = 0.0) -> Outline:
        """The outline of an ellipse, turned (in turns), more or less uneven."""
        outline: Outline = self.blobs(np.array([[x, y]]), np.array([[rx, ry]]), wobble, np.array([turn]))[0]
        return outline

    def blobs(
        self,
        middles: NDArray[np.float64],
        sizes: NDArray[np.float64],
        wobble: float,
        turns: NDArray[np.float64],
    ) -> Specks:
        """What `blob` would draw one after the other, all at once."""
        drawn = self.draw(2 * _WAVES * len(middles)).reshape(-1, _WAVES, 2)
        return uneven(_CORNERS, drawn, middles, sizes, wobble, turns)

    def blobs_within(
        self,
        middles: NDArray[np.float64],
        wide: tuple[float, float],
        high: tuple[float, float],
        wobble: float,
    ) -> Specks:
        """Blobs with half measures between those given, turned at random."""
        each = 3 + 2 * _WAVES
        drawn = self.draw(each * len(middles)).reshape(-1, each)
        low = np.array([wide[0], high[0]])
        sizes = low + (np.array([wide[1], high[1]]) - low) * drawn[:, :2]
        waves = drawn[:, 3:].reshape(-1, _WAVES, 2)
        return uneven(_CORNERS, waves, middles, sizes, wobble, drawn[:, 2])

    def specks(
        self, places: NDArray[np.float64], low: float, high: float, flat: float, wobble: float
    ) -> Specks:
        """A small blob at every place, from round to so flat, turned at random; shape (n, 16, 2)."""
        number = len(places)
        width = low + (high - low) * self.draw(number)
        sizes = np.stack((width, width * (1 - (1 - flat) * self.draw(number))), 1)
        turns = self.draw(number)
        drawn = self.draw(4 * number).reshape(2, 2, number).transpose(2, 0, 1)
        return uneven(16, drawn, places, sizes, wobble, turns)

    def scatter(self, mask: Mask, number: int, least: int = 200, tries: int = 5) -> NDArray[np.float64]:
        """Random points where the mask covers at least so much: shape (n, 2), mostly `number` of them."""
        points = self.draw(2 * number * tries).reshape(-1, 2)
        at = (points * self.side).astype(int)
        inside = np.asarray(mask)[at[:, 1], at[:, 0]] >= least
        chosen: NDArray[np.float64] = points[inside][:number] * UNITS
        return chosen

    def grain(self, size: int, part: int) -> Mask:
        """A piece of texture around 128, its swings divided by `part`; size 0 is coarse, 2 fine."""
        return self._piece(self._texture(size, part))

    def _piece(self, texture: Mask) -> Mask:
        x, y = (int(at) for at in self.draw(2) * self.side)
        return texture.crop((x, y, x + self.side, y + self.side))

    # What is drawn.

    def shape(self, outlines: Outline | Specks, holes: Specks | None = None) -> Mask:
        """One or more filled outlines, all or nothing at every pixel; holes are taken out again."""
        image = Image.new("L", (self.side, self.side), 0)
        draw = ImageDraw.Draw(image)
        for filled, ink in ((outlines, 255), (holes, 0)):
            if filled is not None:
                for corners in (filled * self.scale).reshape(-1, 2 * filled.shape[-2]).tolist():
                    draw.polygon(corners, fill=ink)
        return image

    def strokes(self, lines: Sequence[tuple[Sequence[tuple[float, float]], float]]) -> Mask:
        """Lines with their widths."""
        image = Image.new("L", (self.side, self.side), 0)
        draw = ImageDraw.Draw(image)
        for points, width in lines:
            at = [(x * self.scale, y * self.scale) for x, y in points]
            draw.line(at, fill=255, width=max(1, round(width * self.scale)), joint="curve")
        return image

    def blur(self, mask: Mask, units: float) -> Mask:
        """The mask with edges so many units soft; very soft ones need but half the detail."""
        pixels = round(units * self.scale)
        if pixels < 6:
            return mask.filter(ImageFilter.BoxBlur(max(1, pixels)))
        half = mask.reduce(2).filter(ImageFilter.BoxBlur(pixels / 2))
        return half.resize(mask.size, Image.Resampling.NEAREST)

    def relief(self, mask: Mask, units: float, part: float) -> Mask:
        """Light from the upper left on a raised shape: over 128 where it falls, under in the shade."""
        soft, shift = self.blur(mask, units), max(1, round(units * 0.6 * self.scale))
        return ImageChops.subtract(ImageChops.offset(soft, -shift), ImageChops.offset(soft, shift), part, 128)

    def layer(self, stops: Sequence[Colour], level: Mask, mask: Mask) -> None:
        """Paint levels as a run of colours, inside a shape."""
        self._image.paste(self._coloured(tuple(stops), level), None, mask)

    def glow(self, stops: Sequence[Colour], soft: Mask, least: int) -> None:
        """Paint a soft shape as a run of colours from its border inwards, from so much coverage on."""
        self.layer(stops, soft, _translated(soft, _at_least(least)))

    def ink(self, colour: Colour, mask: Mask) -> None:
        """Paint one colour, inside a shape."""
        self._image.paste(self._table((colour, colour))[0], None, mask)

    def cover(self, mask: Mask, points: Outline) -> NDArray[np.uint8]:
        """How much a mask covers at each of some places."""
        column, row = (points * self.scale).astype(int).clip(0, self.side - 1).T
        covered: NDArray[np.uint8] = np.asarray(mask)[row, column]
        return covered

    def _coloured(self, stops: tuple[Colour, ...], level: Mask) -> Mask:
        return _translated(level, self._table(stops))

    def _table(self, stops: tuple[Colour, ...]) -> bytes:
        """Palette entries for 256 levels, in steps of 8: fewer colours make smaller files."""
        key = ("telehealth ramp", stops)
        found = self.sheet.cache.get(key)
        if found is None:
            entries = tones.ramp(self.sheet, stops).tolist()
            found = self.sheet.cache[key] = bytes(entries[level & ~7] for level in range(256))
        assert isinstance(found, bytes)
        return found

    def _skin(self) -> Mask:
        """Texture of the skin: coarse and fine together."""
        key = ("telehealth skin", self.side)
        found = self.sheet.cache.get(key)
        if found is None:
            found = self.sheet.cache[key] = add(self._texture(0, 4), self._texture(2, 6))
        assert isinstance(found, Image.Image)
        return found

    def _texture(self, size: int, part: int) -> Mask:
        """Smooth noise, twice the size of a picture; the same for all, each takes a piece."""
        key = ("telehealth texture", self.side, size, part)
        found = self.sheet.cache.get(key)
        if found is None:
            cells = 2 * _CELLS[size]
            dice = stream(size, "texture")
            small = np.array([[dice.below(256) for _ in range(cells)] for _ in range(cells)], np.uint8)
            large = Image.fromarray(small).resize((2 * self.side, 2 * self.side), Image.Resampling.BICUBIC)
            found = self.sheet.cache[key] = large.point([128 + (level - 128) // part for level in range(256)])
        assert isinstance(found, Image.Image)
        return found


def add(*levels: Mask) -> Mask:
    """Levels that swing around 128, laid over each other."""
    total, *rest = levels
    for level in rest:
        total = ImageChops.add(total, level, 1.0, -128)
    return total


def _translated(image: Mask, table: bytes) -> Mask:
    return Image.frombytes("L", image.size, image.tobytes().translate(table))


@cache
def _at_least(least: int) -> bytes:
    return bytes(255 * (level >= least) for level in range(256))


def _numbers(seed: int, count: int) -> NDArray[np.float64]:
    """Numbers in [0, 1): what a stream of this state would draw, all at once."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
