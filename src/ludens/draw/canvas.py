"""Canvases: rectangles, lines, sprites, text and panels, written into an array of palette indices.

Anything outside the canvas is clipped, never an error.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from ludens.core.errors import BadOption
from ludens.draw import fonts
from ludens.draw.picture import Picture
from ludens.draw.pieces import SpriteSheet
from ludens.draw.sprites import Overlay, Sprite

Box = tuple[int, int, int, int]


class Canvas:
    """Pixels to draw on. Colours are theme names or `#rrggbb`; coordinates are pixels.

    Args:
        sheet: The sprites to draw with.
        ground: The background colour.
        width: Width in pixels; the sheet's size unless given.
        height: Height in pixels; the sheet's size unless given.
    """

    __slots__ = ("ground", "height", "pixels", "sheet", "width")

    def __init__(
        self, sheet: SpriteSheet, ground: str = "page", width: int | None = None, height: int | None = None
    ) -> None:
        self.sheet = sheet
        self.ground = ground
        self.width = width or sheet.size
        self.height = height or sheet.size
        self.pixels = np.full((self.height, self.width), sheet.index(ground), np.uint8)

    def copy(self) -> Canvas:
        """An independent copy."""
        canvas = object.__new__(Canvas)
        canvas.sheet, canvas.ground, canvas.pixels = self.sheet, self.ground, self.pixels.copy()
        canvas.width, canvas.height = self.width, self.height
        return canvas

    def picture(self) -> Picture:
        """The finished picture. Draw on a `copy` of the canvas afterwards: its pixels are read-only now."""
        self.pixels.setflags(write=False)
        return Picture(self.pixels, self.sheet.palette.colours)

    def fill(self, x: int, y: int, w: int, h: int, colour: str) -> None:
        """A filled rectangle."""
        if w > 0 and h > 0:
            self.pixels[max(0, y) : max(0, y + h), max(0, x) : max(0, x + w)] = self.sheet.index(colour)

    def frame(self, x: int, y: int, w: int, h: int, colour: str, width: int = 1) -> None:
        """The outline of a rectangle, drawn inside it."""
        self.fill(x, y, w, width, colour)
        self.fill(x, y + h - width, w, width, colour)
        self.fill(x, y, width, h, colour)
        self.fill(x + w - width, y, width, h, colour)

    def line(self, x0: int, y0: int, x1: int, y1: int, colour: str, width: int = 1) -> None:
        """A straight line between two points, anti-aliased on any background."""
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
        """Place a sprite with its top left corner at (x, y)."""
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
        """Place a sprite with its centre at (cx, cy)."""
        h, w = sprite.shape
        self.place(sprite, cx - w // 2, cy - h // 2)

    def blend(self, coverage: Sprite, x: int, y: int, colour: str) -> None:
        """Blend a colour into the pixels by a coverage mask (0 to 255)."""
        h, w = coverage.shape
        rows, columns = slice(max(0, y), max(0, y + h)), slice(max(0, x), max(0, x + w))
        below = self.pixels[rows, columns]
        if not below.size:
            return
        coverage = coverage[max(0, -y) :, max(0, -x) :][: below.shape[0], : below.shape[1]]
        partly = (coverage > 0) & (coverage < 255)
        level = coverage[partly].astype(np.int32)[:, None]
        under = self.sheet.palette.colours[below[partly]].astype(np.int32)
        mixed = (under * (255 - level) + np.array(self.sheet.rgb(colour), np.int32) * level + 127) // 255
        below[partly] = self.sheet.palette.quantise(mixed.astype(np.uint8)[None])[0]
        below[coverage == 255] = self.sheet.index(colour)

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
            x: Position of the anchor.
            y: Position of the anchor.
            string: Any text; what the font lacks is drawn as a box.
            px: Font size in pixels.
            ink: Colour of the letters.
            ground: Colour behind them; the ground of the canvas unless given.
            anchor: l, m or r (left, middle, right) and then t, m or b (top, middle, bottom).
            bold: Bold letters.
            mono: Monospaced letters.
            room: Maximum width; longer text ends in an ellipsis.
        """
        if len(anchor) != 2 or anchor[0] not in "lmr" or anchor[1] not in "tmb":
            raise BadOption(f"an anchor is l, m or r followed by t, m or b, not {anchor!r}.")
        if room is not None:
            string = fonts.fit(string, room, px, bold, mono)
        sprite = self.sheet.text(string, px, ink, self.ground if ground is None else ground, bold, mono)
        h, w = int(sprite.shape[0]), int(sprite.shape[1])
        self.place(
            sprite, x - {"l": 0, "m": w // 2, "r": w}[anchor[0]], y - {"t": 0, "m": h // 2, "b": h}[anchor[1]]
        )
        return w

    def rounded(
        self,
        x: int,
        y: int,
        w: int,
        h: int,
        colour: str,
        ground: str | None = None,
        radius: int | None = None,
    ) -> None:
        """A filled rectangle with round corners on `ground`."""
        behind = self.ground if ground is None else ground
        r = min(self.sheet.px(8) if radius is None else radius, w // 2, h // 2)
        self.fill(x, y, w, h, colour)
        if r < 1:
            return
        for cx, cy, dx, dy in (
            (x, y, 1, 1),
            (x + w - r, y, 0, 1),
            (x, y + h - r, 1, 0),
            (x + w - r, y + h - r, 0, 0),
        ):

            def paint(draw: ImageDraw.ImageDraw, s: float, dx: int = dx, dy: int = dy) -> None:
                d, left, top = 2 * r * s, (dx - 1) * r * s, (dy - 1) * r * s
                draw.ellipse((left, top, left + d - 1, top + d - 1), fill=self.sheet.rgb(colour))

            self.place(self.sheet.sprite(("corner", colour, dx, dy), r, r, behind, paint), cx, cy)

    def panel(
        self,
        x: int,
        y: int,
        w: int,
        h: int,
        title: str = "",
        colour: str = "panel",
        ground: str | None = None,
    ) -> Box:
        """A rounded panel with an optional bold title; returns the box (x, y, w, h) left inside it."""
        self.rounded(x, y, w, h, colour, ground)
        pad, head = self.sheet.px(12), 0
        if title:
            px = self.sheet.font_px(15)
            head = round(px * 1.6)
            self.text(x + pad, y + pad, title, px, "ink", colour, "lt", bold=True, room=max(1, w - 2 * pad))
        return x + pad, y + pad + head, max(0, w - 2 * pad), max(0, h - 2 * pad - head)
