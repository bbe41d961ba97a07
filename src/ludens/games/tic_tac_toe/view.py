"""The view of tic-tac-toe: red crosses and blue rings between four lines."""

from __future__ import annotations

from ludens.core.game import Game
from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.open_spiel.adapter import SpielState

_CODES = {".": -1, "x": 1, "o": 0}


class TicTacToeView(TurnView):
    """Rows are lettered A to C from the top, columns numbered from the left."""

    rows = columns = 3
    codes = {-1: "empty", 1: "X", 0: "O"}
    marks = {-1: ".", 1: "X", 0: "O"}

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=("ink", "line", "red", "blue"), grounds=("page",)
        )
        self.board = draw_board(
            self._sheet, 3, 3, "ABC", "123", style="lines", labels="lt", box=self.box(self._sheet)
        )

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "mark": seat.upper()}

    def matrix(self, state: SpielState) -> Matrix:
        return [[_CODES[mark] for mark in line] for line in str(state.spiel).split()]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        if code == self.empty:
            return None
        shape, hue = ("x", "red") if code else ("o", "blue")
        return self._sheet.mark(shape, hue, self.board.room(0.62), "page")

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.mark(seat, "red" if seat == "x" else "blue", px, "page")

    def player(self, seat: str) -> str:
        return seat.upper()
