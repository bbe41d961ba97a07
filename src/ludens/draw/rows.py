"""Boards with pieces on them: a row is drawn once for what stands in it, and a part of the picture that shows
the same rows as lately is not put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ludens.draw import bands
from ludens.draw.bands import Band
from ludens.draw.boards import Board
from ludens.draw.canvas import Canvas
from ludens.draw.picture import Picture
from ludens.draw.shelves import Shelves
from ludens.draw.studio import Overlay, Sprite

KEPT_BYTES = 32 * 2**20

Codes = tuple[int, ...]
Piece = Callable[[int, int, int], Sprite | Overlay | None]
"""What stands in the cell of a row and column for a code; None for nothing. No higher than its cell."""


class Rows:
    """A board and the pieces on it, given by a matrix of codes.

    Args:
        board: The empty board.
        piece: What to draw in a cell; the same for the same row, column and code, always.
    """

    def __init__(self, board: Board, piece: Piece) -> None:
        self._board, self._piece = board, piece
        self._rows: Shelves[tuple[int, Codes], Sprite] = Shelves(KEPT_BYTES)
        self._bands: Shelves[tuple[int, tuple[Codes, ...]], Band] = Shelves(bands.KEPT_BYTES)
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
        whole = []
        for top, end, rows in self._shown:
            key = (top, tuple(codes[rows]))
            size = (end - top) * self._board.base.width
            band = self._bands.get(key, size)
            if band is None:
                band = self._bands.put(key, bands.one(self._pixels(top, end, rows, codes)), size)
            whole.append(band)
        return Picture.of(whole, self._board.kit.palette.colours)

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
        base, px, top = self._board.base, self._board.px, self._board.y + row * self._board.px
        strip = Canvas(base.kit, base.ground, base.width, px, base.pixels[top : top + px].copy())
        here = replace(self._board, y=-row * px)
        for column, code in enumerate(codes):
            piece = self._piece(row, column, code)
            if piece is not None:
                here.put(strip, row, column, piece)
        return strip.pixels
