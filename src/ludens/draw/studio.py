"""Where sprites are made: paint once at four times the size, shrink, quantise to the kit's palette, keep.

A sprite is a read-only 2-D uint8 array of palette indices: an opaque rectangle on a stated ground colour.
An `Overlay` adds a mask, for the rare sprite that must lie over several grounds at once.
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
from ludens.draw.colour import RGB
from ludens.draw.palette import Palette
from ludens.draw.themes import Theme

Sprite = NDArray[np.uint8]
Paint = Callable[[ImageDraw.ImageDraw, float], object]

SMALLEST, LARGEST = 256, 1024
CACHE_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class Overlay:
    """A sprite with a mask: only pixels where `mask` is true are placed."""

    pixels: Sprite
    mask: NDArray[np.bool_]


P = ParamSpec("P")
S = TypeVar("S", bound="Studio")


def remembered(make: Callable[Concatenate[S, P], Sprite]) -> Callable[Concatenate[S, P], Sprite]:
    """Keep what a sprite method makes, by its arguments."""
    name = make.__name__

    @wraps(make)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Sprite:
        key: Hashable = (name, args, tuple(kwargs.items())) if kwargs else (name, args)
        try:
            found: Sprite | None = self._sprites.get(key)
        except TypeError:
            key = repr(key)
            found = self._sprites.get(key)
        return self._keep(key, make(self, *args, **kwargs)) if found is None else found

    return call


class Studio:
    """Palette, sprite cache and text for one theme and one picture size (see `Kit`)."""

    def __init__(
        self,
        theme: Theme,
        size: int,
        inks: Sequence[str] | None = None,
        grounds: Sequence[str] | None = None,
    ) -> None:
        if not SMALLEST <= size <= LARGEST:
            raise BadOption(f"a picture is {SMALLEST} to {LARGEST} pixels wide, not {size}.")
        self.theme = theme
        self.size = size
        self.palette = Palette(theme, inks, grounds)
        self.kept: dict[Hashable, object] = {}
        self._sprites: dict[Hashable, Any] = {}
        self._bytes = 0
        self._index: dict[str, int] = {}
        self._pixels: dict[float, int] = {}
        self._ramps: dict[tuple[str, str], Sprite] = {}

    def px(self, units: float) -> int:
        """Logical units to pixels: a picture is 512 units wide at every size. At least one pixel."""
        found = self._pixels.get(units)
        if found is None:
            found = self._pixels[units] = max(1, round(units * self.size / 512))
        return found

    def font_px(self, units: float) -> int:
        """Like `px`, for font sizes: never below the 9 pixels that can still be read."""
        return max(9, self.px(units))

    def rgb(self, colour: str) -> RGB:
        """The RGB of a theme colour or `#rrggbb`, for use inside a `paint` function."""
        return self.theme.colour(colour)

    def index(self, colour: str) -> int:
        """The palette index of a theme colour or `#rrggbb` (the nearest entry unless it was declared)."""
        found = self._index.get(colour)
        if found is None:
            found = self._index[colour] = self.palette.index(self.theme.colour(colour))
        return found

    def sprite(self, key: Hashable, width: int, height: int, ground: str, paint: Paint) -> Sprite:
        """A sprite of your own, painted once and kept.

        `paint(draw, scale)` gets a Pillow `ImageDraw` on an RGB image of `width * scale` by `height * scale`
        pixels filled with the ground; multiply every coordinate, line width and font size by `scale`. The
        result is shrunk (that is the anti-aliasing) and quantised. Take colours from `kit.rgb(name)` and
        fonts from `ludens.draw.fonts.font`, and draw nothing that is not determined by `key`, width, height
        and ground: the same key must always mean the same pixels.

            def paint(draw, scale):
                corners = [(x * scale, y * scale) for x, y in ((0, 40), (20, 0), (40, 40))]
                draw.polygon(corners, fill=kit.rgb("red"))

            roof = kit.sprite("roof", 40, 40, "page", paint)
        """
        full = ("sprite", key, width, height, ground)
        found: Sprite | None = self._sprites.get(full)
        return self._keep(full, self._paint(width, height, ground, paint)) if found is None else found

    def overlay(self, key: Hashable, width: int, height: int, paint: Paint) -> Overlay:
        """Like `sprite`, without a ground: what `paint` leaves alone stays see-through. Edges are hard."""
        full = ("overlay", key, width, height)
        found: Overlay | None = self._sprites.get(full)
        if found is None:
            image, scale = self._blank(width, height, "RGBA", (0, 0, 0, 0))
            paint(ImageDraw.Draw(image), scale)
            rgba = np.array(image.reduce(scale), np.uint8)
            found = Overlay(self.palette.quantise(rgba[..., :3]), rgba[..., 3] > 127)
            self._store(full, found, 2 * found.pixels.nbytes)
        return found

    def cutout(self, key: Hashable, make: Callable[[str], Sprite], ground: str) -> Overlay:
        """Any sprite as an overlay: `kit.cutout("me", lambda g: kit.token("red", 40, g), "wood")`.

        The sprite is made on white and on black as well; where those differ, the ground shines through.
        """
        full = ("cutout", key, ground)
        found: Overlay | None = self._sprites.get(full)
        if found is None:
            on_white, on_black = (
                self.palette.colours[make(g)].astype(np.int32) for g in ("#ffffff", "#000000")
            )
            found = Overlay(make(ground), np.abs(on_white - on_black).sum(2) < 383)
            self._store(full, found, 2 * found.pixels.nbytes)
        return found

    @remembered
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
        return self.ramp(ink, ground)[fonts.mask(string, px, bold, mono)]

    def ramp(self, ink: str, ground: str) -> Sprite:
        """Palette indices for coverage 0 (ground) to 255 (ink)."""
        found = self._ramps.get((ink, ground))
        if found is None:
            found = self._ramps[ink, ground] = self.palette.ramp(self.rgb(ink), self.rgb(ground))
        return found

    def _blank(self, width: int, height: int, mode: str, fill: tuple[int, ...]) -> tuple[Image.Image, int]:
        width, height = max(1, width), max(1, height)
        scale = 4 if width * height <= 1 << 18 else 2
        return Image.new(mode, (width * scale, height * scale), fill), scale

    def _paint(self, width: int, height: int, ground: str, paint: Paint) -> Sprite:
        image, scale = self._blank(width, height, "RGB", self.rgb(ground))
        paint(ImageDraw.Draw(image), scale)
        return self.palette.quantise(np.array(image.reduce(scale), np.uint8))

    def _keep(self, key: Hashable, sprite: Sprite) -> Sprite:
        sprite.setflags(write=False)
        self._store(key, sprite, sprite.nbytes)
        return sprite

    def _store(self, key: Hashable, made: Sprite | Overlay, size: int) -> None:
        """Remember a sprite. A full cache is emptied: pixels cannot change, only be made again."""
        if self._bytes + size > CACHE_BYTES:
            self._sprites.clear()
            self._bytes = 0
        self._bytes += size + 200
        self._sprites[key] = made
