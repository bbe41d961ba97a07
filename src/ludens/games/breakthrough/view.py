"""The view of Breakthrough: black and white pawns on a checkered board."""

from __future__ import annotations

from string import ascii_lowercase

from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.breakthrough.rules import Breakthrough
from ludens.games.open_spiel.adapter import SpielState

_CODES = {".": 0, "b": 1, "w": 2}


class BreakthroughView(TurnView):
    """Rows are counted from the bottom, columns lettered from the left."""

    codes = {0: "empty", 1: "black", 2: "white"}
    marks = {0: ".", 1: "b", 2: "w"}

    def __init__(self, game: Breakthrough, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self.rows, self.columns = game.rows, game.columns
        inks = ("ink", "line", "black", "white")
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=inks, grounds=("page", "light", "dark")
        )
        labels = [self.row_label(row) for row in range(self.rows)]
        columns = ascii_lowercase[: self.columns]
        self.board = draw_board(
            self._sheet,
            self.rows,
            self.columns,
            labels,
            columns,
            style="checkered",
            box=self.box(self._sheet),
        )

    def row_label(self, row: int) -> str:
        return str(self.rows - row)

    def column_label(self, column: int) -> str:
        return ascii_lowercase[column]

    def cells(self) -> list[str]:
        return [
            self.column_label(c) + self.row_label(r) for r in range(self.rows) for c in range(self.columns)
        ]

    def answers(self) -> list[str]:
        return [start + end for start in self.cells() for end in self.cells() if start != end]

    def values(self, seat: str) -> dict[str, object]:
        far = 1 if seat == "black" else self.rows
        way = "down, towards row 1" if seat == "black" else f"up, towards row {self.rows}"
        last = ascii_lowercase[self.columns - 1]
        return {**super().values(seat), "far": far, "way": way, "last": last}

    def matrix(self, state: SpielState) -> Matrix:
        lines = str(state.spiel).splitlines()[: self.rows]
        return [[_CODES[mark] for mark in line[1:]] for line in lines]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        ground = self.board.ground(row, column)
        return self._sheet.stone(self.codes[code], self.board.room(0.74), ground) if code else None

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.stone(seat, px, "page")

    def squares(self, move: str) -> tuple[str, str]:
        return move[:2], move[2:4]
