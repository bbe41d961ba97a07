"""The view of Sudoku: nine boxes between thick lines; clues bold on shaded cells, placed digits thin."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ludens.core.game import Game
from ludens.core.reply import DASHES, ActionFormat
from ludens.core.state import Legal
from ludens.core.view import RenderOptions
from ludens.draw import Canvas, Picture, draw_board, get_theme, sprite_sheet
from ludens.draw.palette import mix
from ludens.games.boards import BoardView, Matrix
from ludens.games.sudoku.generator import NAMES, SIDE
from ludens.games.sudoku.rules import SudokuState

_SPELT = re.compile(r"(?:([A-I])\s?([1-9])|([1-9])\s?([A-I]))\s?[=:,-]?\s?([1-9])", re.IGNORECASE | re.ASCII)


class SudokuView(BoardView):
    """Rows are lettered A to I from the top, columns numbered from the left."""

    rows = columns = SIDE
    codes = {0: "empty", **{digit: str(digit) for digit in range(1, 10)}}
    marks = {0: ".", **{digit: str(digit) for digit in range(1, 10)}}

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        colour = get_theme(render.theme, seed).colour
        self._shade = "#{:02x}{:02x}{:02x}".format(*mix(colour("page"), colour("line"), 1, 6))
        inks, grounds = ("ink", "line", "accent"), ("page", self._shade)
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=inks, grounds=grounds)
        self.board = draw_board(self._sheet, SIDE, SIDE, "ABCDEFGHI", "123456789", style="lines", labels="lt")
        self._format = PlaceFormat()

    def format(self, state: SudokuState, seat: str) -> PlaceFormat:
        return self._format

    def squares(self, move: str) -> tuple[str]:
        return (move[:2],)

    def answers(self) -> list[str]:
        return [f"{cell}={digit}" for cell in self.cells() for digit in range(1, SIDE + 1)]

    def matrix(self, state: SudokuState) -> Matrix:
        return [state.grid[start : start + SIDE] for start in range(0, SIDE * SIDE, SIDE)]

    def image(self, state: SudokuState, seat: str) -> Picture:
        return self._picture(self.matrix(state), state.placed)

    def text(self, state: SudokuState, seat: str) -> str:
        placed = ", ".join(NAMES[cell] for cell in sorted(state.placed)) or "none"
        return f"{super().text(state, seat)}\nPlaced since the start: {placed}."

    def draw(self, matrix: Matrix) -> Picture:
        return self._picture(matrix, ())

    def _picture(self, matrix: Matrix, placed: Collection[int]) -> Picture:
        canvas, px = self.board.canvas(), round(self.board.px * 0.66)
        thin = frozenset(placed)
        for row, digits in enumerate(matrix):
            for column, digit in enumerate(digits):
                if not digit:
                    continue
                ground, ink, bold = self._shade, "ink", True
                if row * SIDE + column in thin:
                    ground, ink, bold = "page", "accent", False
                else:
                    self.board.tint(canvas, row, column, ground)
                self.board.put(canvas, row, column, self._sheet.text(str(digit), px, ink, ground, bold))
        self._draw_lines(canvas)
        return canvas.picture()

    def _draw_lines(self, canvas: Canvas) -> None:
        """Thick lines around the boxes; drawn last, since shading a cell would overwrite them."""
        x, y, length = self.board.x, self.board.y, self.board.px * SIDE
        width = self._sheet.px(3.5 * self._sheet.theme.line_weight)
        for third in range(4):
            offset = third * 3 * self.board.px
            canvas.line(x, y + offset, x + length, y + offset, "line", width)
            canvas.line(x + offset, y, x + offset, y + length, "line", width)


@dataclass(frozen=True)
class PlaceFormat(ActionFormat):
    """A last line `Action: A1=5`; `A1 5`, `A1: 5`, `A15` and `1A=5` are read, too.

    Whether the digit may go there is for the state to say, which names the digit in the way.
    """

    def ask(self, legal: Legal) -> str:
        return f"End your reply with one line: {self.label}: <cell>=<digit>, as in {self.label}: A1=5"

    def _matches(self, names: Sequence[str], legal: Legal) -> Sequence[str | None]:
        return [_placement(name) for name in names]


def _placement(name: str) -> str | None:
    spelt = _SPELT.fullmatch(name.translate(DASHES))
    return f"{spelt[1] or spelt[4]}{spelt[2] or spelt[3]}={spelt[5]}".upper() if spelt else None
