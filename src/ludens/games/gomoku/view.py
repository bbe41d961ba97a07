"""The view of Gomoku: stones on the crossings of lines."""

from __future__ import annotations

from string import ascii_uppercase

from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.gomoku.rules import Gomoku
from ludens.games.open_spiel.adapter import SpielState

_CODES = {".": 0, "b": 1, "w": 2}


class GomokuView(TurnView):
    """Rows are lettered from the top, columns numbered from the left."""

    codes = {0: "empty", 1: "black", 2: "white"}
    marks = {0: ".", 1: "b", 2: "w"}

    def __init__(self, game: Gomoku, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self.rows = self.columns = game.size
        inks = ("ink", "line", "black", "white")
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=inks, grounds=("page", "wood"))
        rows = ascii_uppercase[: self.rows]
        columns = [self.column_label(column) for column in range(self.columns)]
        self.board = draw_board(
            self._sheet,
            self.rows,
            self.columns,
            rows,
            columns,
            style="points",
            labels="lt",
            box=self.box(self._sheet),
        )

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "last": ascii_uppercase[self.rows - 1]}

    def matrix(self, state: SpielState) -> Matrix:
        lines = str(state.spiel).split()[-self.rows :]
        return [[_CODES[mark.lower()] for mark in line] for line in lines]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        return self._sheet.stone(self.codes[code], self.board.room(0.84), "wood") if code else None

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.stone(seat, px, "page")
