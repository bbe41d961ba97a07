"""What every canvas can do: rectangles, lines, sprites and lines of text, placed by slice assignment.

Whatever sticks out over the rim is clipped, never an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from PIL import Image, ImageDraw

from ludens.core.errors import BadOption
from ludens.draw import fonts
from ludens.draw.picture import Picture
from ludens.draw.studio import Overlay, Sprite

if TYPE_CHECKING:
    from ludens.draw.kits import Kit


class Surface:
    """Palette indices to draw on; `Canvas` adds paragraphs, tables and panels."""

    __slots__ = ("ground", "height", "kit", "pixels", "width")

    def __init__(self, kit: Kit, ground: str, width: int, height: int, pixels: Sprite | None = None) -> None:
        self.kit = kit
        self.ground = ground
        self.width = width
        self.height = height
        self.pixels = np.full((height, width), kit.index(ground), np.uint8) if pixels is None else pixels

    def copy(self) -> Self:
        """An independent copy."""
        return type(self)(self.kit, self.ground, self.width, self.height, self.pixels.copy())

    def picture(self) -> Picture:
        """The finished picture; drawing on afterwards does not change it."""
        return Picture(self.pixels, self.kit.palette.colours)

    def fill(self, x: int, y: int, w: int, h: int, colour: str) -> None:
        """A filled rectangle."""
        if w > 0 and h > 0:
            self.pixels[max(0, y) : max(0, y + h), max(0, x) : max(0, x + w)] = self.kit.index(colour)

    def frame(self, x: int, y: int, w: int, h: int, colour: str, width: int = 1) -> None:
        """The outline of a rectangle, drawn inside it."""
        self.fill(x, y, w, width, colour)
        self.fill(x, y + h - width, w, width, colour)
        self.fill(x, y, width, h, colour)
        self.fill(x + w - width, y, width, h, colour)

    def line(self, x0: int, y0: int, x1: int, y1: int, colour: str, width: int = 1) -> None:
        """A straight line between two points; slanted ones are smooth on any background."""
        half = width // 2
        if x0 == x1 or y0 == y1:
            self.fill(
                min(x0, x1) - half, min(y0, y1) - half, abs(x1 - x0) + width, abs(y1 - y0) + width, colour
            )
            return
        left, top = max(-width, min(x0, x1) - width), max(-width, min(y0, y1) - width)
        right, bottom = min(self.width, max(x0, x1)) + width, min(self.height, max(y0, y1)) + width
        if right <= left or bottom <= top:
            return
        image = Image.new("L", ((right - left) * 4, (bottom - top) * 4), 0)
        ends = [((x - left) * 4 + 2, (y - top) * 4 + 2) for x, y in ((x0, y0), (x1, y1))]
        ImageDraw.Draw(image).line(ends, fill=255, width=width * 4)
        self.blend(np.array(image.reduce(4), np.uint8), left, top, colour)

    def place(self, sprite: Sprite | Overlay, x: int, y: int) -> None:
        """Put a sprite with its top left corner at (x, y)."""
        mask = None
        if isinstance(sprite, Overlay):
            mask, sprite = sprite.mask, sprite.pixels
        h, w = sprite.shape
        right, bottom = x + w, y + h
        if x < 0 or y < 0 or right > self.width or bottom > self.height:
            if right <= 0 or bottom <= 0 or x >= self.width or y >= self.height:
                return
            cut = np.s_[max(0, -y) : self.height - y, max(0, -x) : self.width - x]
            sprite, mask = sprite[cut], None if mask is None else mask[cut]
            x, y = max(0, x), max(0, y)
        if mask is None:
            self.pixels[y:bottom, x:right] = sprite
        else:
            np.copyto(self.pixels[y:bottom, x:right], sprite, where=mask)

    def centre(self, sprite: Sprite | Overlay, cx: int, cy: int) -> None:
        """Put a sprite with its middle at (cx, cy)."""
        h, w = sprite.pixels.shape if isinstance(sprite, Overlay) else sprite.shape
        self.place(sprite, cx - w // 2, cy - h // 2)

    def blend(self, coverage: Sprite, x: int, y: int, colour: str) -> None:
        """Mix a colour into what is there by a coverage mask (0 to 255): smooth anywhere, but slower."""
        h, w = coverage.shape
        rows, columns = slice(max(0, y), max(0, y + h)), slice(max(0, x), max(0, x + w))
        below = self.pixels[rows, columns]
        if not below.size:
            return
        coverage = coverage[max(0, -y) :, max(0, -x) :][: below.shape[0], : below.shape[1]]
        partly = (coverage > 0) & (coverage < 255)
        level = coverage[partly].astype(np.int32)[:, None]
        under = self.kit.palette.colours[below[partly]].astype(np.int32)
        mixed = (under * (255 - level) + np.array(self.kit.rgb(colour), np.int32) * level + 127) // 255
        below[partly] = self.kit.palette.quantise(mixed.astype(np.uint8)[None])[0]
        below[coverage == 255] = self.kit.index(colour)

    def text(
        self,
        x: int,
        y: int,
        string: str,
        px: int,
        ink: str = "ink",
        ground: str | None = None,
        anchor: str = "lm",
        bold: bool = False,
        mono: bool = False,
        room: int | None = None,
    ) -> int:
        """One line of text; returns its width.

        Args:
            x: Where the anchor lies.
            y: Where the anchor lies.
            string: Anything; what cannot be drawn shows as a box.
            px: Font size in pixels.
            ink: Colour of the letters.
            ground: Colour behind them; the canvas's own unless given.
            anchor: l, m or r (left, middle, right) and then t, m or b (top, middle, bottom).
            bold: Bold letters.
            mono: Letters of equal width.
            room: Widest it may be; longer text ends in an ellipsis.
        """
        if len(anchor) != 2 or anchor[0] not in "lmr" or anchor[1] not in "tmb":
            raise BadOption(f"an anchor is l, m or r and then t, m or b, not {anchor!r}.")
        if room is not None:
            string = fonts.fit(string, room, px, bold, mono)
        sprite = self.kit.text(string, px, ink, self.ground if ground is None else ground, bold, mono)
        h, w = int(sprite.shape[0]), int(sprite.shape[1])
        self.place(
            sprite, x - {"l": 0, "m": w // 2, "r": w}[anchor[0]], y - {"t": 0, "m": h // 2, "b": h}[anchor[1]]
        )
        return w
