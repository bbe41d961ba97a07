"""Boards as other programs might draw them: other frames, grids, colours, fonts and pieces for every seed.

What a model reads only as Ludens draws it, it has not learnt to read. These pictures are for training; boards
drawn by other libraries test it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ludens import draw
from ludens.core.random import Stream
from ludens.draw import Picture

T = TypeVar("T")
RGB = tuple[int, int, int]
SIDE = 512
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "")
"""Files of the package; the last one is Pillow's own font."""
SOLID, HOLLOW = "♟♞♝♜♛♚", "♙♘♗♖♕♔"
STYLES = {"chess": ("checked",), "breakthrough": ("checked", "lines"), "gomoku": ("crossings", "lines")}
KINDS = ("pawn", "knight", "bishop", "rook", "queen", "king")


def sketch(board: str, names: Sequence[Sequence[str]], random: Stream) -> Picture:
    """A board with these things in its cells, each named as in the legend of `perceive`."""
    return Sketch(board, names, random).picture()


class Sketch:
    """One picture: its frame, its colours and how it draws things are drawn from the seed first."""

    def __init__(self, board: str, names: Sequence[Sequence[str]], random: Stream) -> None:
        self._board, self._names, self._random = board, names, random
        self._rows, self._columns = len(names), len(names[0])
        self._page = self._grey(225, 255) if self._chance(0.75) else self._grey(20, 70)
        self._ink = _contrary(self._page, random)
        self._font = random.choice(FONTS)
        self._image = Image.new("RGB", (SIDE, SIDE), self._page)
        self._draw = ImageDraw.Draw(self._image)
        margins = [random.between(4, 62) for _ in range(2)]
        width, height = (SIDE - margin - random.between(4, 40) for margin in margins)
        cell = min(width / self._columns, height / self._rows)
        self._cell = (cell, cell) if self._chance(0.7) else (width / self._columns, height / self._rows)
        self._left, self._top = margins
        self._fill_share = 0.6 + 0.3 * random.random()
        self._choices: dict[str, Any] = {}

    def picture(self) -> Picture:
        style = self._style()
        self._ground(style)
        if self._chance(0.6):
            self._labels()
        for row, names in enumerate(self._names):
            for column, name in enumerate(names):
                self._thing(name, row, column)
        return Picture(np.asarray(self._image))

    def _style(self) -> str:
        return self._random.choice(STYLES.get(self._board, ("lines", "lines", "plain")))

    def _ground(self, style: str) -> None:
        random, (w, h) = self._random, self._cell
        self._light, self._dark = self._page, self._page
        if style == "checked":
            hue = random.choice([(1, 1, 1), (1.1, 0.95, 0.75), (0.8, 1.05, 0.8), (0.8, 0.95, 1.15)])
            light, dark = random.between(195, 245), random.between(105, 185)
            self._light, self._dark = (_tinted(level, hue) for level in (light, dark))
        elif self._chance(0.5):
            hue = random.choice([(1.1, 0.9, 0.6), (0.6, 1.1, 0.7), (1, 1, 1), (0.8, 0.95, 1.15)])
            self._light = self._dark = _tinted(random.between(110, 235), hue)
        right, bottom = self._left + w * self._columns, self._top + h * self._rows
        self._draw.rectangle((self._left, self._top, right, bottom), self._light)
        if style == "checked":
            for row in range(self._rows):
                for column in range(row % 2 == 0, self._columns, 2):
                    self._draw.rectangle(self._box(row, column), self._dark)
            return
        if style == "plain":
            return
        line, shift = self._line_colour(), 0.5 if style == "crossings" else 0.0
        for row in range(self._rows + (not shift)):
            y = self._top + (row + shift) * h
            heavy = self._board == "sudoku" and row % 3 == 0
            self._draw.line((self._left + shift * w, y, right - shift * w, y), line, 5 if heavy else 2)
        for column in range(self._columns + (not shift)):
            x = self._left + (column + shift) * w
            heavy = self._board == "sudoku" and column % 3 == 0
            self._draw.line((x, self._top + shift * h, x, bottom - shift * h), line, 5 if heavy else 2)

    def _labels(self) -> None:
        """Letters and numbers beside the board; which of them goes where does not matter for its contents."""
        small = self._typeface(int(min(self._cell) * 0.3) + 6)
        letters = self._chance(0.5)
        for column in range(self._columns):
            name = chr(97 + column) if letters else str(column + 1)
            above = (self._left + (column + 0.5) * self._cell[0], max(8, self._top - 12))
            self._draw.text(above, name, self._ink, small, "mm")
        for row in range(self._rows):
            name = str(self._rows - row) if letters else chr(65 + row)
            beside = (max(8, self._left - 12), self._top + (row + 0.5) * self._cell[1])
            self._draw.text(beside, name, self._ink, small, "mm")

    def _thing(self, name: str, row: int, column: int) -> None:
        if name == "empty":
            return
        x, y = self._left + (column + 0.5) * self._cell[0], self._top + (row + 0.5) * self._cell[1]
        size = min(self._cell) * self._fill_share
        if self._board == "minesweeper":
            self._field(name, row, column, x, y, size)
        elif self._board == "chess":
            colour, kind = name.split()
            self._chessman(colour == "white", KINDS.index(kind), x, y, size * 1.15)
        elif name in ("black", "white"):
            self._disc(name == "white", x, y, size / 2)
        elif name in ("X", "O"):
            self._mark(name, x, y, size / 2)
        else:
            self._text(name, x, y, size, self._digit_ink())

    def _field(self, name: str, row: int, column: int, x: float, y: float, size: float) -> None:
        """Of Minesweeper: hidden cells are tiles, mines are discs with rays or stars."""
        if name == "hidden":
            left, top, right, bottom = self._box(row, column)
            inset = self._once("inset", lambda: self._random.between(0, 4))
            tile = self._once("tile", lambda: self._grey(120, 190))
            box = (left + inset, top + inset, right - inset, bottom - inset)
            self._draw.rectangle(box, tile, self._once("rim", lambda: _contrary(self._light, self._random)))
        elif name == "a mine":
            if self._once("star", lambda: self._chance(0.4)):
                self._text("*", x, y + size * 0.15, size * 1.3, self._once("mine", self._digit_ink))
                return
            radius, reach = size * 0.3, size * 0.45
            for dx, dy in ((1, 0), (0, 1), (0.7, 0.7), (0.7, -0.7)):
                ends = (x - dx * reach, y - dy * reach, x + dx * reach, y + dy * reach)
                self._draw.line(ends, (15, 15, 15), 3)
            self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), (15, 15, 15))
        elif name.isdigit():
            hues = self._once("hues", self._hues)
            self._text(name, x, y, size, hues[int(name) - 1])

    def _hues(self) -> list[RGB]:
        """Colours of numbers: one for each, as usual, or one for all."""
        ink = _contrary(self._light, self._random)
        usual = [(20, 20, 220), (10, 120, 20), (210, 20, 20), (20, 10, 110)]
        usual += [(120, 20, 20), (10, 120, 130), (20, 20, 20), (110, 110, 110)]
        return [ink] * 8 if self._chance(0.4) else usual

    def _disc(self, white: bool, x: float, y: float, radius: float) -> None:
        fill = self._once(f"disc {white}", lambda: self._grey(225, 255) if white else self._grey(0, 60))
        rim = self._once("disc rim", lambda: self._random.choice([(0, 0, 0), (60, 60, 60), (120, 120, 120)]))
        box = (x - radius, y - radius, x + radius, y + radius)
        self._draw.ellipse(box, fill, rim, self._once("disc line", lambda: self._random.between(1, 3)))

    def _mark(self, name: str, x: float, y: float, radius: float) -> None:
        ink = self._once(f"ink {name}", self._digit_ink)
        if self._once("letters", lambda: self._chance(0.5)):
            self._text(name, x, y, radius * 2, ink)
            return
        line = self._once("mark line", lambda: self._random.between(4, 14))
        if name == "O":
            self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), None, ink, line)
            return
        for sign in (1, -1):
            self._draw.line((x - radius, y - sign * radius, x + radius, y + sign * radius), ink, line)

    def _chessman(self, white: bool, kind: int, x: float, y: float, size: float) -> None:
        """A sign of a font, filled or hollow, or a figure of simple shapes."""
        style = self._once("chessmen", lambda: self._random.choice(("signs", "hollow", "figures", "figures")))
        fill = self._once(f"man {white}", lambda: self._grey(228, 255) if white else self._grey(0, 70))
        edge = self._once(f"edge {white}", lambda: self._grey(0, 60) if white or self._chance(0.5) else fill)
        wide = self._once("wide", lambda: 0.8 + 0.35 * self._random.random())
        line = self._once("man line", lambda: self._random.between(1, 3))
        lean = self._once("lean", lambda: 0.15 * (self._random.random() - 0.5))
        key = (style, white, kind, round(size), fill, edge, round(wide, 2), line, round(lean, 2))
        piece = _figure(*key[1:]) if style == "figures" else _sign(*key)
        self._image.paste(piece, (round(x - piece.width / 2), round(y - piece.height / 2)), piece)

    def _text(self, text: str, x: float, y: float, size: float, ink: RGB) -> None:
        self._draw.text((x, y), text, ink, self._typeface(int(size)), "mm")

    def _typeface(self, px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        return typeface(self._font, max(8, px))

    def _digit_ink(self) -> RGB:
        return self._once("digit ink", lambda: _contrary(self._light, self._random))

    def _line_colour(self) -> RGB:
        return _contrary(self._light, self._random) if self._chance(0.6) else (128, 128, 128)

    def _box(self, row: int, column: int) -> tuple[float, float, float, float]:
        w, h = self._cell
        left, top = self._left + column * w, self._top + row * h
        return left, top, left + w, top + h

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """A random choice that is made once for a picture."""
        if name not in self._choices:
            self._choices[name] = make()
        choice: T = self._choices[name]
        return choice

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _grey(self, low: int, high: int) -> RGB:
        level = self._random.between(low, high)
        red, green, blue = (min(255, max(0, level + self._random.between(-8, 8))) for _ in range(3))
        return red, green, blue


def _tinted(level: int, hue: Sequence[float]) -> RGB:
    red, green, blue = (min(255, int(level * part)) for part in hue)
    return red, green, blue


def _contrary(ground: RGB, random: Stream) -> RGB:
    """A colour that is easily seen on the ground."""
    light = sum(ground) > 3 * 127
    red, green, blue = (random.between(0, 110) if light else random.between(150, 255) for _ in range(3))
    return red, green, blue


@lru_cache(maxsize=256)
def typeface(file: str, px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    if not file:
        return ImageFont.load_default(px)
    return ImageFont.truetype(str(Path(draw.__file__).parent / "fonts" / file), px)


@lru_cache(maxsize=512)
def _sign(
    style: str, white: bool, kind: int, size: int, fill: RGB, edge: RGB, wide: float, line: int, lean: float
) -> Image.Image:
    """A chess sign of the package's font, stretched and leaning."""
    big = max(16, size * 2)
    image = Image.new("RGBA", (big, big), (*fill, 0))
    pen, font = ImageDraw.Draw(image), typeface(FONTS[0], int(big * 0.95))
    hollow = style == "hollow" and white
    if hollow:
        pen.text((big / 2, big / 2), SOLID[kind], (*fill, 255), font, "mm")
    text = HOLLOW[kind] if hollow else SOLID[kind]
    ink, stroke = (edge if hollow else fill), 0 if hollow else 2 * line
    pen.text((big / 2, big / 2), text, (*ink, 255), font, "mm", stroke_width=stroke, stroke_fill=(*edge, 255))
    return _bent(image, size, wide, lean)


def _bent(image: Image.Image, size: int, wide: float, lean: float) -> Image.Image:
    half = image.width / 2
    matrix = (1 / wide, lean, half - half / wide - lean * half, 0, 1, 0)
    bent = image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    return bent.resize((max(4, size), max(4, size)), Image.Resampling.BOX)


Points = list[tuple[float, float]]
BASE: Points = [(0.2, 0.95), (0.8, 0.95), (0.72, 0.82), (0.28, 0.82)]
BODIES: dict[str, Points] = {
    "pawn": [(0.3, 0.82), (0.44, 0.5), (0.56, 0.5), (0.7, 0.82)],
    "knight": [
        (0.3, 0.82), (0.45, 0.55), (0.2, 0.55), (0.18, 0.42), (0.42, 0.18), (0.45, 0.08), (0.56, 0.17),
        (0.75, 0.35), (0.78, 0.6), (0.72, 0.82),
    ],
    "bishop": [(0.32, 0.82), (0.36, 0.6), (0.3, 0.42), (0.5, 0.16), (0.7, 0.42), (0.64, 0.6), (0.68, 0.82)],
    "rook": [
        (0.3, 0.82), (0.34, 0.38), (0.25, 0.32), (0.25, 0.15), (0.36, 0.15), (0.36, 0.23), (0.45, 0.23),
        (0.45, 0.15), (0.55, 0.15), (0.55, 0.23), (0.64, 0.23), (0.64, 0.15), (0.75, 0.15), (0.75, 0.32),
        (0.66, 0.38), (0.7, 0.82),
    ],
    "queen": [
        (0.28, 0.82), (0.12, 0.28), (0.32, 0.5), (0.34, 0.18), (0.46, 0.46), (0.5, 0.14), (0.54, 0.46),
        (0.66, 0.18), (0.68, 0.5), (0.88, 0.28), (0.72, 0.82),
    ],
    "king": [
        (0.28, 0.82), (0.14, 0.5), (0.26, 0.36), (0.44, 0.42), (0.46, 0.28), (0.36, 0.28), (0.36, 0.19),
        (0.46, 0.19), (0.46, 0.07), (0.54, 0.07), (0.54, 0.19), (0.64, 0.19), (0.64, 0.28), (0.54, 0.28),
        (0.56, 0.42), (0.74, 0.36), (0.86, 0.5), (0.72, 0.82),
    ],
}  # fmt: skip
DOTS: dict[str, Points] = {
    "pawn": [(0.5, 0.36)],
    "bishop": [(0.5, 0.12)],
    "queen": [(0.12, 0.24), (0.34, 0.14), (0.5, 0.1), (0.66, 0.14), (0.88, 0.24)],
}
RADII = {"pawn": 0.17, "bishop": 0.06, "queen": 0.055}


@lru_cache(maxsize=512)
def _figure(
    white: bool, kind: int, size: int, fill: RGB, edge: RGB, wide: float, line: int, lean: float
) -> Image.Image:
    """A chessman of polygons and dots."""
    big, name = max(24, size * 2), KINDS[kind]
    image = Image.new("RGBA", (big, big), (*fill, 0))
    pen = ImageDraw.Draw(image)
    for points in (BASE, BODIES[name]):
        pen.polygon([(x * big, y * big) for x, y in points], (*fill, 255), (*edge, 255), 2 * line)
    radius = RADII.get(name, 0) * big
    for x, y in DOTS.get(name, ()):
        box = (x * big - radius, y * big - radius, x * big + radius, y * big + radius)
        pen.ellipse(box, (*fill, 255), (*edge, 255), 2 * line)
    if name == "bishop":
        pen.line((0.5 * big, 0.3 * big, 0.5 * big, 0.5 * big), (*edge, 255), 2 * line)
    elif name == "knight":
        pen.ellipse((0.4 * big, 0.3 * big, 0.45 * big, 0.35 * big), (*edge, 255))
    return _bent(image, size, wide, lean)
