"""Tic-tac-toe: OpenSpiel's rules, a perfect player, marks on a grid of lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from ludens.core.agent import Bot
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.draw import Sprite
from ludens.games.boards import Matrix, TurnView, cell_name
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import BoardGame, SpielState, recolourings


@dataclass(frozen=True)
class TicTacToe(BoardGame):
    """Three in a row on a 3x3 board.

    Seats: `x` moves first, then `o`.
    Observation: the board, rows A to C from the top, columns 1 to 3 from the left.
    Actions: an empty cell, `A1` to `C3`.
    Rewards: +1 for three of your marks in a line, -1 for the other seat, 0 for a full board without one.
    Openings: positions that are drawn with best play. Twins: marks on the same cells; a move that does not
    lose in one of them loses in the other.
    """

    name = "tic_tac_toe"
    seats = ("x", "o")
    version = 2
    view_class = "ludens.games.tic_tac_toe:TicTacToeView"
    best = "bot/minimax"
    presets = {
        "easy": Preset(),
        "medium": Preset({"opening": 2}, others="bot/minimax?slips=0.3"),
        "hard": Preset({"opening": 2}, others="bot/minimax"),
        "paper": Preset(others="bot/minimax"),
    }
    spiel_name = "tic_tac_toe"
    stable_names = True
    usual_opening = 3
    bots: ClassVar[Mapping[str, str]] = {"minimax": "ludens.games.tic_tac_toe:Minimax"}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return cell_name(action, 3)

    def level(self, state: SpielState) -> bool:
        board, mover, waiter = _position(state)
        return SEARCH.value((board, mover, waiter), board.count(".")) == 0

    def good_moves(self, state: SpielState) -> Collection[str]:
        position = _position(state)
        cells = [cell for cell, mark in enumerate(position[0]) if mark == "."]
        after = {cell: SEARCH.value(SEARCH.make(position, cell), len(cells) - 1) for cell in cells}
        return [cell_name(cell, 3) for cell, value in after.items() if value <= 0]

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        return recolourings(self, first, random)


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class TicTacToeSearch(Negamax[tuple[str, str, str], int]):
    """Positions are the board, the side to move and the other; wins are worth more the sooner they come."""

    table_depth = 0

    def expand(
        self, position: tuple[str, str, str], depth: int, alpha: float, beta: float
    ) -> tuple[float, list[int]]:
        board, _, waiter = position
        if any(board[a] == board[b] == board[c] == waiter for a, b, c in LINES):
            return -1 - depth, []
        cells = [cell for cell, mark in enumerate(board) if mark == "."]
        return (-inf, cells) if cells else (0, [])

    def make(self, position: tuple[str, str, str], move: int) -> tuple[str, str, str]:
        board, mover, waiter = position
        return board[:move] + mover + board[move + 1 :], waiter, mover


SEARCH = TicTacToeSearch()


def _position(state: SpielState) -> tuple[str, str, str]:
    """The board, the side to move and the other."""
    board, [mover] = "".join(str(state.spiel).split()), state.to_act
    return board, mover, "o" if mover == "x" else "x"


@dataclass
class Minimax(Bot):
    """Never loses, and wins as soon as possible; ties are broken at random."""

    kind = "bot/minimax"

    slips: float = option(0.0, low=0, high=1, help="share of moves played at random, to be a weaker opponent")

    def choose(self, state: SpielState) -> str:
        position = _position(state)
        cells = [cell for cell, mark in enumerate(position[0]) if mark == "."]
        if not (self.slips > 0 and self.random.random() < self.slips):
            cells = SEARCH.best_moves(position, len(cells), cells)
        return state.game.action_name(state.spiel, 0, self.random.choice(cells))


class TicTacToeView(TurnView):
    """Rows are lettered A to C from the top, columns numbered from the left."""

    rows = columns = 3
    codes = {-1: "empty", 1: "X", 0: "O"}
    marks = {-1: ".", 1: "X", 0: "O"}
    symbols = ".xo"
    inks, grounds = ("ink", "line", "red", "blue"), ("page",)
    style = "lines"
    least_cell = 14

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "mark": seat.upper()}

    def matrix(self, state: SpielState) -> Matrix:
        return self.decode(str(state.spiel).split())

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        if code == self.empty:
            return None
        shape, hue = ("x", "red") if code else ("o", "blue")
        return self._sheet.mark(shape, hue, self.board.room(0.62), "page")

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.mark(seat, "red" if seat == "x" else "blue", px, "page")

    def player(self, seat: str) -> str:
        return seat.upper()
