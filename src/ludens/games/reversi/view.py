"""The view of Reversi: black and white discs on squares."""

from __future__ import annotations

from ludens.core.game import Game
from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.open_spiel.adapter import SpielState

_CODES = {"-": 0, "x": 1, "o": 2}


class ReversiView(TurnView):
    """Rows are lettered A to H from the top, columns numbered from the left."""

    rows = columns = 8
    codes = {0: "empty", 1: "black", 2: "white"}
    marks = {0: ".", 1: "b", 2: "w"}

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        inks = ("ink", "line", "black", "white")
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=inks, grounds=("page", "light"))
        self.board = draw_board(
            self._sheet, 8, 8, "ABCDEFGH", "12345678", labels="lt", box=self.box(self._sheet)
        )

    def matrix(self, state: SpielState) -> Matrix:
        grid = [line for line in str(state.spiel).splitlines() if line[:1].isdigit()]
        return [[_CODES[mark] for mark in line.split()[1:9]] for line in grid]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        return self._sheet.stone(self.codes[code], self.board.room(0.78), "light") if code else None

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.stone(seat, px, "page")
