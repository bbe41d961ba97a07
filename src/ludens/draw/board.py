"""Boards: a labelled grid, drawn once and copied for every frame, and pictures put together from cells."""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ludens.core.errors import BadOption, UnknownName
from ludens.core.forms import Place
from ludens.draw import fonts
from ludens.draw.bands import ROWS, Band, band_cache, digest_cache, hasher
from ludens.draw.canvas import Box, Canvas
from ludens.draw.picture import Picture
from ludens.draw.pieces import SpriteSheet
from ludens.draw.sprites import Overlay, Sprite

STYLES = ("squares", "checkered", "lines", "points")
MAX_CACHED = 64
_STARS = {9: (2, 4, 6), 13: (3, 6, 9), 15: (3, 7, 11), 19: (3, 9, 15)}

Labels = tuple[str, ...]
Piece = Callable[[int, int, int], Sprite | Overlay | None]
"""What to draw in a cell, from row, column and code; None for nothing. At most as large as the cell."""
DrawFoot = Callable[[Canvas, Any], None]
Strip = tuple[Hashable, ...]
"""What is in the cells of a row."""


@dataclass(frozen=True, eq=False)
class Board:
    """A drawn grid and the geometry of its cells. Row 0 is the top row, column 0 the left one.

    Attributes:
        x: Left edge of the grid.
        y: Top edge of the grid.
        px: Side of a cell in pixels.
    """

    sheet: SpriteSheet
    rows: int
    columns: int
    style: str
    x: int
    y: int
    px: int
    base: Canvas

    def canvas(self) -> Canvas:
        """A new canvas with the empty board on it."""
        return self.base.copy()

    def cell(self, row: int, column: int) -> tuple[int, int, int]:
        """Left edge, top edge and side of a cell; on "points" the intersection is its middle."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError(f"no cell ({row}, {column}) on a board of {self.rows} by {self.columns}")
        return self.x + column * self.px, self.y + row * self.px, self.px

    def middle(self, row: int, column: int) -> tuple[int, int]:
        """The pixel at the centre of a cell."""
        x, y, px = self.cell(row, column)
        return x + px // 2, y + px // 2

    def place(self, row: int, column: int) -> Place:
        """Where a cell is on the picture."""
        x, y, px = self.cell(row, column)
        return Place.of_pixels((x, y, px, px), self.base.width, self.base.height)

    def ground(self, row: int, column: int) -> str:
        """The name of the background colour of a cell."""
        if self.style == "checkered":
            return "dark" if (row + column) % 2 else "light"
        return {"squares": "light", "lines": self.base.ground, "points": "wood"}[self.style]

    def room(self, part: float = 0.8) -> int:
        """The side of a sprite that fills this part of a cell and can be centred exactly."""
        side = max(1, round(self.px * part))
        return side - (self.px - side) % 2 if side > 1 else side

    def put(self, canvas: Canvas, row: int, column: int, sprite: Sprite | Overlay) -> None:
        """Place a sprite at the centre of a cell."""
        x, y, px = self.cell(row, column)
        h, w = sprite.shape
        canvas.place(sprite, x + (px - w) // 2, y + (px - h) // 2)

    def outline(self, canvas: Canvas, row: int, column: int, colour: str = "ink") -> None:
        """A frame inside a cell, around the sprite in it."""
        x, y, px = self.cell(row, column)
        inset = 0 if self.style in ("checkered", "points") else _line_width(self.sheet)
        side = px - 2 * inset + inset % 2
        canvas.frame(
            x + inset, y + inset, side, side, colour, min(max(2, round(px * 0.06)), self.sheet.px(4))
        )

    def tint(self, canvas: Canvas, row: int, column: int, colour: str = "highlight") -> None:
        """Fill a cell up to its lines with a colour, on which later sprites are placed."""
        x, y, px = self.cell(row, column)
        if self.style == "checkered":
            canvas.fill(x, y, px, px, colour)
            return
        width = _line_width(self.sheet)
        before, after = width // 2, width - width // 2
        canvas.fill(x + after, y + after, px - before - after, px - before - after, colour)


def _line_width(sheet: SpriteSheet, units: float = 1.5) -> int:
    return max(1, round(units * sheet.size / 512 * sheet.theme.line_weight))


def draw_board(
    sheet: SpriteSheet,
    rows: int,
    columns: int,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    style: str = "squares",
    labels: str = "lb",
    box: Box | None = None,
    size: tuple[int, int] | None = None,
) -> Board:
    """A board, drawn at the first call and then cached.

    Args:
        sheet: The sprites to draw with.
        rows: Number of rows.
        columns: Number of columns.
        row_labels: From the top row down; None for none.
        column_labels: From the left; None for none.
        style: "squares" (equal cells), "checkered", "lines" (only the lines between cells) or "points"
            (pieces on the intersections of lines, as in go).
        labels: The sides with labels: any of l, r, t and b.
        box: The part (x, y, w, h) of the picture for grid and labels; the whole of it unless given.
        size: Width and height of the picture; a square of the sheet's size unless given.
    """
    marks = tuple(row_labels or ()), tuple(column_labels or ())
    size = size or (sheet.size, sheet.size)
    return _draw(sheet, rows, columns, *marks, style, labels, box or (0, 0, *size), size)


@lru_cache(maxsize=MAX_CACHED)
def _draw(
    sheet: SpriteSheet,
    rows: int,
    columns: int,
    down: Labels,
    across: Labels,
    style: str,
    labels: str,
    box: Box,
    size: tuple[int, int],
) -> Board:
    if style not in STYLES:
        raise UnknownName("board style", style, STYLES)
    if rows < 1 or columns < 1 or len(down) not in (0, rows) or len(across) not in (0, columns):
        raise BadOption(
            f"a board of {rows} by {columns} cannot have {len(down)} row and {len(across)} column labels."
        )
    pad = sheet.px(10)
    rough = min((box[2] - 2 * pad) / (columns + 0.7), (box[3] - 2 * pad) / (rows + 0.7))
    px = round(min(sheet.px(18), max(9, rough * 0.45)))
    bold, gap = sheet.theme.bold_labels, max(3, round(px * 0.4))
    wide = max((fonts.width(label, px, bold) for label in down), default=0)
    side = wide + gap if down else 0
    end = round(px * 0.95) + gap if across else 0
    left, right = side * ("l" in labels), side * ("r" in labels)
    top, bottom = end * ("t" in labels), end * ("b" in labels)
    inner_w, inner_h = box[2] - 2 * pad - left - right, box[3] - 2 * pad - top - bottom
    cell = min(inner_w // columns, inner_h // rows)
    if cell < 4:
        raise BadOption(f"a board of {rows} by {columns} does not fit into {box[2]} by {box[3]} pixels.")
    x = box[0] + pad + left + (inner_w - cell * columns) // 2
    y = box[1] + pad + top + (inner_h - cell * rows) // 2
    base = Canvas(sheet, "page", *size)
    board = Board(sheet, rows, columns, style, x, y, cell, base)
    _grid(board)
    width, height = cell * columns, cell * rows
    for number, label in enumerate(down):
        at = y + number * cell + cell // 2
        if "l" in labels:
            base.text(x - gap, at, label, px, "ink", None, "rm", bold)
        if "r" in labels:
            base.text(x + width + gap, at, label, px, "ink", None, "lm", bold)
    for number, label in enumerate(across):
        at = x + number * cell + cell // 2
        for edge, label_y in (("t", y - gap - round(px * 0.4)), ("b", y + height + gap + round(px * 0.42))):
            if edge in labels:
                base.text(at, label_y, label, px, "ink", None, "mm", bold, room=max(cell, px))
    base.pixels.setflags(write=False)
    return board


def _grid(board: Board) -> None:
    canvas, sheet, x, y, px = board.base, board.sheet, board.x, board.y, board.px
    width, height, line = px * board.columns, px * board.rows, _line_width(sheet)
    if board.style == "checkered":
        rim = sheet.px(2)
        canvas.fill(x - rim, y - rim, width + 2 * rim, height + 2 * rim, "line")
        for row in range(board.rows):
            for column in range(board.columns):
                canvas.fill(x + column * px, y + row * px, px, px, board.ground(row, column))
        return
    if board.style == "points":
        canvas.rounded(x, y, width, height, "wood", radius=sheet.px(6))
        line, left, top = _line_width(sheet, 1.2), x + px // 2, y + px // 2
        right, bottom = left + width - px, top + height - px
        for row in range(board.rows):
            canvas.line(left, top + row * px, right, top + row * px, "line", line)
        for column in range(board.columns):
            canvas.line(left + column * px, top, left + column * px, bottom, "line", line)
        if board.rows == board.columns and board.rows in _STARS:
            star = max(3, round(px * 0.2)) | 1
            for row in _STARS[board.rows]:
                for column in _STARS[board.rows]:
                    canvas.centre(sheet.dot("line", star, "wood"), *board.middle(row, column))
        return
    if board.style == "squares":
        canvas.fill(x, y, width, height, "light")
    outer = board.style == "squares"
    for row in range(not outer, board.rows + outer):
        canvas.line(x, y + row * px, x + width, y + row * px, "line", line)
    for column in range(not outer, board.columns + outer):
        canvas.line(x + column * px, y, x + column * px, y + height, "line", line)


class Framed(NamedTuple):
    """The code of a cell that is framed."""

    code: int


def _digest(bands: Sequence[Band], start: int, ends: Sequence[int]) -> bytes:
    """The digest of the pixels from `start` in the first of these bands to the end in each one.

    What the first one adds to it is the same with any others below.
    """
    if len(bands) == 1:
        return hasher(bands[0].pixels[start : ends[0]]).digest()
    rows = bands[0].tail(start).copy()
    for band, end in zip(bands[1:], ends[1:], strict=True):
        rows.update(band.pixels[:end])
    return rows.digest()


class CellCache:
    """Pictures of a board from matrices of codes.

    A cell is drawn once for each row, column and code. A strip (a row of cells, or all that is above or below
    the board) is a band of the picture, made of the last one at its place and the cells that are different.

    Args:
        board: The empty board.
        piece: What to draw in a cell; always the same for the same row, column and code.
        draw_foot: Draws below the board what `picture` is given as `foot`.
    """

    def __init__(self, board: Board, piece: Piece, draw_foot: DrawFoot | None = None) -> None:
        self._board, self._piece, self._draw_foot = board, piece, draw_foot
        self._cells: dict[tuple[int, int, Hashable], Sprite] = {}
        self._tops = [0, *[board.y + row * board.px for row in range(board.rows + 1)]]
        empty: list[Strip] = [(), *[(None,) * board.columns] * board.rows, (None,)]
        parts = np.split(board.base.pixels, self._tops[1:])
        self._last = [*zip(empty, map(self._new_band, parts), strict=True)]
        self._spans = [self._span(top, top + ROWS) for top in range(0, board.base.height, ROWS)]

    def _span(self, top: int, bottom: int) -> tuple[slice, int, list[int]]:
        """The strips that rows of the picture are in: where they start in the first, and end in each one."""
        tops, width = self._tops, self._board.base.width
        span = slice(bisect(tops, top) - 1, bisect_left(tops, bottom))
        return span, (top - tops[span.start]) * width, [(bottom - y) * width for y in tops[span]]

    def picture(
        self, matrix: Sequence[Sequence[int]], framed: Iterable[tuple[int, int]] = (), foot: Hashable = None
    ) -> Picture:
        """The board with its pieces.

        Args:
            matrix: The codes, row by row from the top.
            framed: Row and column of cells with a frame around the piece.
            foot: What to draw below the board; None for nothing.
        """
        strips: list[Strip] = [(), *map(tuple, matrix), (foot,)]
        for row, column in framed:
            codes = list(strips[row + 1])
            codes[column] = Framed(matrix[row][column])
            strips[row + 1] = tuple(codes)
        bands = [self._band(place, strip) for place, strip in enumerate(strips)]
        return Picture.of_bands(bands, self._board.sheet.palette.colours, partial(self._join_digests, bands))

    def _band(self, place: int, strip: Strip) -> Band:
        """The band of a strip."""
        before, band = self._last[place]
        if strip != before:
            key, last = (self, place, strip), band
            band = band_cache.get(key) or band_cache.add(key, self._draw_strip(place, strip, before, last))
            self._last[place] = strip, band
        return band

    def _join_digests(self, bands: Sequence[Band]) -> bytes:
        """The digests of a picture, each of `ROWS` rows."""
        serials, digests = [band.serial for band in bands], []
        for number, (span, start, ends) in enumerate(self._spans):
            key = (number, *serials[span])
            digests.append(digest_cache.get(key) or digest_cache.add(key, _digest(bands[span], start, ends)))
        return b"".join(digests)

    def _draw_strip(self, place: int, strip: Strip, before: Strip, last: Band) -> Band:
        """A strip, made of the last one at its place."""
        board, row = self._board, place - 1
        x, width = (board.x, board.px) if row < board.rows else (0, board.base.width)
        pixels = last.array.copy()
        for column, code in enumerate(strip):
            if code != before[column]:
                cell = self._cells.get((row, column, code))
                if cell is None:
                    cell = self._cells[row, column, code] = self._draw_cell(row, column, code)
                pixels[:, x : x + width] = cell
            x += width
        return self._new_band(pixels)

    def _new_band(self, pixels: Sprite) -> Band:
        return Band(pixels.reshape(-1).data, self._board.base.width)

    def _draw_cell(self, row: int, column: int, code: Any) -> Sprite:
        """The pixels of a cell; the foot is the only one in the row below the board."""
        board, canvas = self._board, self._board.canvas()
        if row == board.rows:
            if code is not None and self._draw_foot is not None:
                self._draw_foot(canvas, code)
            return canvas.pixels[self._tops[-1] :].copy()
        piece = self._piece(row, column, code.code if isinstance(code, Framed) else code)
        if piece is not None:
            board.put(canvas, row, column, piece)
        if isinstance(code, Framed):
            board.outline(canvas, row, column)
        x, y, px = board.cell(row, column)
        return canvas.pixels[y : y + px, x : x + px].copy()
