"""Sprites: painted once at four times the size, reduced, quantised to the palette, and cached.

A sprite is a read-only 2-D uint8 array of palette indices: an opaque rectangle on a given ground colour.
An `Overlay` adds a mask, for the rare sprite that lies over several grounds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ludens.core.errors import BadOption
from ludens.draw import fonts
from ludens.draw.palette import RGB, Palette
from ludens.draw.theme import DEFAULT_INKS, GROUNDS, Theme

Sprite = NDArray[np.uint8]
Paint = Callable[[ImageDraw.ImageDraw, float], object]

MIN_SIZE, MAX_SIZE = 64, 1024
SMALL = 192
"""Pictures below this size have no words and no labels: they could not be read."""
CACHE_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class Overlay:
    """A sprite with a mask: only pixels where `mask` is true are placed."""

    pixels: Sprite
    mask: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width."""
        return self.pixels.shape


P = ParamSpec("P")
S = TypeVar("S", bound="SpriteCache")


def cached(make: Callable[Concatenate[S, P], Sprite]) -> Callable[Concatenate[S, P], Sprite]:
    """Cache the sprites that a method makes, by its arguments."""
    name = make.__name__

    @wraps(make)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Sprite:
        key: Hashable = (name, args, tuple(kwargs.items())) if kwargs else (name, args)
        try:
            sprite: Sprite | None = self._sprites.get(key)
        except TypeError:
            key = repr(key)
            sprite = self._sprites.get(key)
        return self._add(key, make(self, *args, **kwargs)) if sprite is None else sprite

    return call


class SpriteCache:
    """Palette, text and sprites for one theme and one picture size, each sprite made once.

    Coordinates are pixels, with (0, 0) at the top left. To be independent of the picture's size, think of it
    as 512 units wide and convert with `px`.

    Args:
        theme: The look.
        size: Longer side of the picture in pixels, 64 to 1024.
        inks: Colours that will be drawn with. Declaring the few a view needs gives smoother edges, since the
            palette has only 256 entries; colours outside the list still work.
        grounds: Colours that will be drawn upon.
    """

    def __init__(
        self,
        theme: Theme,
        size: int,
        inks: Sequence[str] | None = None,
        grounds: Sequence[str] | None = None,
    ) -> None:
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise BadOption(f"a picture is {MIN_SIZE} to {MAX_SIZE} pixels wide, not {size}.")
        self.theme = theme
        self.size = size
        self.palette = Palette(
            theme.colours,
            [theme.colour(name) for name in (DEFAULT_INKS if inks is None else inks)],
            [theme.colour(name) for name in (GROUNDS if grounds is None else grounds)],
        )
        self._sprites: dict[Hashable, Any] = {}
        self._bytes = 0
        self._index: dict[str, int] = {}
        self._pixels: dict[float, int] = {}
        self._ramps: dict[tuple[str, str], Sprite] = {}

    def px(self, units: float) -> int:
        """Logical units to pixels: a picture is 512 units wide at every size. At least one pixel."""
        pixels = self._pixels.get(units)
        if pixels is None:
            pixels = self._pixels[units] = max(1, round(units * self.size / 512))
        return pixels

    def font_px(self, units: float) -> int:
        """Like `px`, for font sizes: at least 9 pixels, the smallest readable size."""
        return max(9, self.px(units))

    def rgb(self, colour: str) -> RGB:
        """The RGB of a theme colour or `#rrggbb`, for use inside a `paint` function."""
        return self.theme.colour(colour)

    def index(self, colour: str) -> int:
        """The palette index of a theme colour or `#rrggbb` (the nearest entry unless it was declared)."""
        index = self._index.get(colour)
        if index is None:
            index = self._index[colour] = self.palette.index(self.theme.colour(colour))
        return index

    def sprite(self, key: Hashable, width: int, height: int, ground: str, paint: Paint) -> Sprite:
        """A custom sprite, painted once.

        `paint(draw, scale)` gets a Pillow `ImageDraw` on an RGB image of `width * scale` by `height * scale`
        pixels filled with the ground; multiply every coordinate, line width and font size by `scale`. Take
        colours from `sheet.rgb(name)` and fonts from `ludens.draw.fonts.font`. What is painted must depend on
        `key`, width, height and ground only.

            def paint(draw, scale):
                corners = [(x * scale, y * scale) for x, y in ((0, 40), (20, 0), (40, 40))]
                draw.polygon(corners, fill=sheet.rgb("red"))

            roof = sheet.sprite("roof", 40, 40, "page", paint)
        """
        full = ("sprite", key, width, height, ground)
        sprite: Sprite | None = self._sprites.get(full)
        return self._add(full, self._paint(width, height, ground, paint)) if sprite is None else sprite

    def overlay(self, key: Hashable, width: int, height: int, paint: Paint) -> Overlay:
        """Like `sprite`, without a ground: what `paint` leaves alone is transparent. Edges are hard."""
        full = ("overlay", key, width, height)
        overlay: Overlay | None = self._sprites.get(full)
        if overlay is None:
            image, scale = _large_image(width, height, "RGBA", (0, 0, 0, 0))
            paint(ImageDraw.Draw(image), scale)
            rgba = np.array(image.reduce(scale), np.uint8)
            overlay = Overlay(self.palette.quantise(rgba[..., :3]), rgba[..., 3] > 127)
            self._store(full, overlay, 2 * overlay.pixels.nbytes)
        return overlay

    @cached
    def text(
        self,
        string: str,
        px: int,
        ink: str = "ink",
        ground: str = "page",
        bold: bool = False,
        mono: bool = False,
    ) -> Sprite:
        """One line of text; `px` is the font size, the sprite is about 1.17 times as high."""
        ramp = self._ramps.get((ink, ground))
        if ramp is None:
            ramp = self._ramps[ink, ground] = self.palette.ramp(self.rgb(ink), self.rgb(ground))
        return ramp[fonts.mask(string, px, bold, mono)]

    def _paint(self, width: int, height: int, ground: str, paint: Paint) -> Sprite:
        image, scale = _large_image(width, height, "RGB", self.rgb(ground))
        paint(ImageDraw.Draw(image), scale)
        return self.palette.quantise(np.array(image.reduce(scale), np.uint8))

    def _add(self, key: Hashable, sprite: Sprite) -> Sprite:
        sprite.setflags(write=False)
        self._store(key, sprite, sprite.nbytes)
        return sprite

    def _store(self, key: Hashable, sprite: Sprite | Overlay, size: int) -> None:
        """Cache a sprite. A full cache is cleared, which costs time and changes no pixel."""
        if self._bytes + size > CACHE_BYTES:
            self._sprites.clear()
            self._bytes = 0
        self._bytes += size + 200
        self._sprites[key] = sprite


def _large_image(width: int, height: int, mode: str, fill: tuple[int, ...]) -> tuple[Image.Image, int]:
    """An image to paint on and how many times larger than the sprite it is."""
    width, height = max(1, width), max(1, height)
    scale = 4 if width * height <= 1 << 18 else 2
    return Image.new(mode, (width * scale, height * scale), fill), scale
