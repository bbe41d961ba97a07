"""The view of Perceive: the board game's own picture."""

from __future__ import annotations

from ludens.core.random import Stream
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.perceive.matrix import MatrixFormat
from ludens.games.perceive.rules import Perceive, Position, board_of, canonical


class PerceiveView(View):
    """The board game's own picture, and a legend of codes in the rules."""

    def __init__(self, game: Perceive, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_of(game.board, render, seed)
        self._format = MatrixFormat(self._board.rows, self._board.columns)

    def image(self, state: Position, seat: str) -> Picture:
        return self._board.draw(state.matrix)

    def text(self, state: Position, seat: str) -> str:
        return self._board.transcript(state.matrix)

    def brief(self, state: Position, seat: str) -> str:
        """The board and its shape."""
        return f"{self._board.game.name} {self._board.rows}x{self._board.columns}"

    def format(self, state: Position, seat: str) -> MatrixFormat:
        return self._format

    def guess(self, state: Position, seat: str, random: Stream) -> str:
        rows, columns, codes = self._board.rows, self._board.columns, list(self._board.codes)
        return canonical([[random.choice(codes) for _ in range(columns)] for _ in range(rows)])

    def values(self, seat: str) -> dict[str, object]:
        board = self._board
        named = [f"{code} for {name}" for code, name in board.codes.items() if name != str(code)]
        legend = ", ".join(named) + (", every other number as itself" * (len(named) < len(board.codes)))
        return {"game": board.game.name, "rows": board.rows, "columns": board.columns, "legend": legend}
