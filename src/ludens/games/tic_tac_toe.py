"""Tic-tac-toe: OpenSpiel's rules, a perfect player, marks on a grid of lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.open_spiel import SpielGame, SpielState


@dataclass(frozen=True)
class TicTacToe(SpielGame):
    """Three in a row on a 3x3 board.

    Seats: `x` moves first, then `o`.
    Observation: the board, rows A to C from the top, columns 1 to 3 from the left.
    Actions: an empty cell, `A1` to `C3`.
    Rewards: +1 for three of your marks in a line, -1 for the other seat, 0 for a full board without one.
    """

    name = "tic_tac_toe"
    seats = ("x", "o")
    version = 2
    view_class = "ludens.games.tic_tac_toe:TicTacToeView"
    best = "bot/minimax"
    spiel_name = "tic_tac_toe"
    stable_names = True
    bots: ClassVar[Mapping[str, str]] = {"minimax": "ludens.games.tic_tac_toe:Minimax"}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return f"{'ABC'[action // 3]}{action % 3 + 1}"


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
NAMES = tuple(row + column for row in "ABC" for column in "123")


@lru_cache(maxsize=8192)
def value_of(board: str, mover: str, waiter: str) -> int:
    """The value of a board for the side to move: positive for a win, higher the sooner it comes."""
    if any(board[a] == board[b] == board[c] == waiter for a, b, c in LINES):
        return -1 - board.count(".")
    return max((-value_of(after, waiter, mover) for after in _after(board, mover).values()), default=0)


def _after(board: str, mover: str) -> dict[int, str]:
    return {n: board[:n] + mover + board[n + 1 :] for n, mark in enumerate(board) if mark == "."}


@dataclass
class Minimax(Agent):
    """Never loses, and wins as soon as possible; ties are broken at random."""

    kind = "bot/minimax"
    sees = "state"

    slips: float = option(0.0, low=0, high=1, help="share of moves played at random, to be a weaker opponent")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, SpielState)
        board = "".join(str(ask.state.spiel).split())
        mover, waiter = self.seat, "o" if self.seat == "x" else "x"
        values = {n: -value_of(after, waiter, mover) for n, after in _after(board, mover).items()}
        best = max(values.values())
        slips = self.slips > 0 and self.random.random() < self.slips
        cell = self.random.choice([n for n, value in values.items() if slips or value == best])
        return Reply(NAMES[cell], NAMES[cell])


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
