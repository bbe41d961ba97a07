"""Boards with pieces on them: a cell is drawn once for what stands in it, and a part of the picture that
shows the same rows as lately is not put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ludens.draw import bands
from ludens.draw.bands import Band
from ludens.draw.boards import Board
from ludens.draw.picture import Picture
from ludens.draw.shelves import Shelves
from ludens.draw.studio import Overlay, Sprite

KEPT_BYTES = 32 * 2**20

Codes = tuple[int, ...]
Piece = Callable[[int, int, int], Sprite | Overlay | None]
"""What stands in the cell of a row and column for a code; None for nothing. No larger than its cell."""


class Rows:
    """A board and the pieces on it, given by a matrix of codes.

    Args:
        board: The empty board.
        piece: What to draw in a cell; the same for the same row, column and code, always.
    """

    def __init__(self, board: Board, piece: Piece) -> None:
        self._board, self._piece = board, piece
        self._cells: dict[tuple[int, int, int], Sprite | None] = {}
        self._rows: Shelves[tuple[int, Codes], Sprite] = Shelves(KEPT_BYTES)
        self._bands: Shelves[tuple[int, tuple[Codes, ...]], Band] = Shelves(bands.KEPT_BYTES)
        self._size = bands.ROWS * board.base.width
        height, last = board.base.height, board.rows - 1
        self._shown: list[tuple[int, int, slice]] = []
        """For each band its limits in the picture, and the rows of the board that it shows a part of."""
        for top in range(0, height, bands.ROWS):
            end = min(top + bands.ROWS, height)
            first, final = (top - board.y) // board.px, (end - 1 - board.y) // board.px
            self._shown.append((top, end, slice(max(0, first), max(0, min(last, final) + 1))))

    def picture(self, matrix: Sequence[Sequence[int]]) -> Picture:
        """The board with its pieces."""
        codes = [tuple(row) for row in matrix]
        keys = [(top, tuple(codes[rows])) for top, _, rows in self._shown]
        found = [self._bands.get(key, self._size) for key in keys]
        new = self._whole(codes) if found.count(None) > len(found) // 2 else None
        shown = []
        for key, band, (top, end, rows) in zip(keys, found, self._shown, strict=True):
            if band is None:
                pixels = self._pixels(top, end, rows, codes) if new is None else new[top:end]
                band = self._bands.put(key, bands.one(pixels), self._size)
            shown.append(band)
        return Picture.of(shown, self._board.kit.palette.colours)

    def _whole(self, codes: Sequence[Codes]) -> Sprite:
        """The pixels of a picture of which little was seen before."""
        pixels = self._board.base.pixels.copy()
        for row, here in enumerate(codes):
            self._fill(pixels[self._board.y + row * self._board.px :], row, here)
        return pixels

    def _pixels(self, top: int, end: int, rows: slice, codes: Sequence[Codes]) -> Sprite:
        """The pixels of a band."""
        pixels, px = self._board.base.pixels[top:end].copy(), self._board.px
        for row in range(rows.start, rows.stop):
            at = self._board.y + row * px
            low, high = max(top, at), min(end, at + px)
            pixels[low - top : high - top] = self._row(row, codes[row])[low - at : high - at]
        return pixels

    def _row(self, row: int, codes: Codes) -> Sprite:
        size = self._board.px * self._board.base.width
        drawn = self._rows.get((row, codes), size)
        return self._rows.put((row, codes), self._draw(row, codes), size) if drawn is None else drawn

    def _draw(self, row: int, codes: Codes) -> Sprite:
        top = self._board.y + row * self._board.px
        pixels = self._board.base.pixels[top : top + self._board.px].copy()
        self._fill(pixels, row, codes)
        return pixels

    def _fill(self, pixels: Sprite, row: int, codes: Codes) -> None:
        """Draw a row's cells into pixels that begin with it."""
        px, x = self._board.px, self._board.x
        for column, code in enumerate(codes):
            key = (row, column, code)
            cell = self._cells[key] if key in self._cells else self._cell(*key)
            if cell is not None:
                pixels[:px, x : x + px] = cell
            x += px

    def _cell(self, row: int, column: int, code: int) -> Sprite | None:
        """What a cell looks like with its piece; None where there is none."""
        board, cell, piece = self._board, None, self._piece(row, column, code)
        if piece is not None:
            canvas, (x, y, px) = board.canvas(), board.cell(row, column)
            board.put(canvas, row, column, piece)
            cell = canvas.pixels[y : y + px, x : x + px].copy()
        self._cells[row, column, code] = cell
        return cell
