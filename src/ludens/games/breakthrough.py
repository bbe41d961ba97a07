"""Breakthrough: OpenSpiel's rules, alpha-beta on bitboards, pawns on a checkered board."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from operator import itemgetter
from string import ascii_lowercase
from typing import Any

from ludens.core.agent import Bot
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.state import State
from ludens.core.view import RenderOptions
from ludens.games.boards import ChequeredView, Matrix, StoneView
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import BoardGame, SpielState


@dataclass(frozen=True)
class Breakthrough(BoardGame):
    """A race of pawns: the first to reach the far side, or to take every enemy pawn, wins.

    Seats: `black` starts on the two top rows, moves first and down; `white` starts on the two bottom rows
    and moves up.
    Observation: the board, columns a to h from the left, rows 1 to 8 from the bottom.
    Actions: from and to, as in `a7a6`: one row ahead, straight or diagonally; only a diagonal move captures.
    Rewards: +1 for the winner, -1 for the loser. There are no draws.
    Openings: a search of five moves finds the foremost pawns of both sides equally far, or one step apart.
    Twins: an opening and its mirror image, left for right.
    """

    name = "breakthrough"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.breakthrough:BreakthroughView"
    best = "bot/alphabeta?depth=5"
    presets = {
        "easy": Preset({"rows": 5, "columns": 5}),
        "medium": Preset({"rows": 6, "columns": 6, "opening": 4}, others="bot/alphabeta?depth=1"),
        "hard": Preset({"opening": 8}, others="bot/alphabeta?depth=3"),
        "paper": Preset(others="bot/mcts"),
    }
    spiel_name = "breakthrough"
    stable_names = True
    actions_told = False
    usual_opening = 8
    bots = {"alphabeta": "ludens.games.breakthrough:BreakthroughAlphaBeta"}

    rows: int = option(8, low=4, high=8, help="rows of the board")
    columns: int = option(8, low=3, high=8, help="columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"rows": self.rows, "columns": self.columns}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return str(spiel.action_to_string(player, action)).rstrip("*")

    def actions(self, seat: str) -> tuple[str, ...]:
        """Every step ahead from every cell, row by row from the seat's own side."""
        files, ahead = ascii_lowercase[: self.columns], 1 if seat == "white" else -1
        ranks = range(1, self.rows) if seat == "white" else range(self.rows, 1, -1)
        return tuple(
            f"{files[column]}{rank}{files[to]}{rank + ahead}"
            for rank in ranks
            for column in range(self.columns)
            for to in range(max(0, column - 1), min(self.columns, column + 2))
        )

    def evaluate(self, state: State, seat: str) -> float:
        """The lead of our foremost pawn over theirs, as a share of the way."""
        assert isinstance(state, SpielState)
        board = state.spiel.observation_string(0)
        lines = board.splitlines()[: self.rows]
        black = max(row for row, line in enumerate(lines) if "b" in line)
        white = max(self.rows - 1 - row for row, line in enumerate(lines) if "w" in line)
        lead = (black - white) / (self.rows - 1)
        return lead if seat == "black" else -lead

    def level(self, state: SpielState) -> bool:
        position = position_of(str(state.spiel), self, state.to_act == ("black",))
        return abs(PawnSearch(self.rows, self.columns).value(position, _LEVEL_DEPTH)) <= 1

    def good_moves(self, state: SpielState) -> Collection[str]:
        return best_actions(str(state.spiel), self, state.to_act == ("black",), _LEVEL_DEPTH)

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        state, columns = self._first(), ascii_lowercase[: self.columns]
        mirror = str.maketrans(columns, columns[::-1])
        for move in first.spiel.full_history():
            name = self.action_name(state.spiel, move.player, move.action)
            state.apply({state.to_act[0]: name.translate(mirror)})
        yield state


_LEVEL_DEPTH = 5
"""Moves looked ahead to see whether an opening is level."""
WON = 1000
"""More than any lead; a win in fewer moves scores higher."""

Cells = tuple[int, int]
Pawns = tuple[int, int, bool]
"""The pawns of the side to move and of the other, as bits, and whether the side moves down the board."""


class PawnSearch(Negamax[Pawns, Cells]):
    """Search on two bitboards."""

    table_depth = 2

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self._last, self._columns = rows - 1, columns
        edge = sum(1 << (row * columns) for row in range(rows))
        self._full = (1 << (rows * columns)) - 1
        self._left, self._right = self._full & ~edge, self._full & ~(edge << (columns - 1))

    def make(self, position: Pawns, move: Cells) -> Pawns:
        own, other, down = position
        start, end = move
        bit = 1 << end
        return other & ~bit, own ^ (1 << start) | bit, not down

    def expand(self, position: Pawns, depth: int, alpha: float, beta: float) -> tuple[float, Sequence[Cells]]:
        own, other, down = position
        last, columns = self._last, self._columns
        if not own:
            return -WON - depth, ()
        if down:
            own_row = (own.bit_length() - 1) // columns
            other_row = last - ((other & -other).bit_length() - 1) // columns
        else:
            own_row = last - ((own & -own).bit_length() - 1) // columns
            other_row = (other.bit_length() - 1) // columns
        if other_row == last:
            return -WON - depth, ()
        if depth == 0:
            return own_row - other_row, ()
        if own_row == last - 1:  # the foremost pawn can always move: none of its own pawns is ahead of it
            return WON + depth - 1, ()
        if depth == 1:
            return self._one_move(own, other, down, own_row, other_row), ()
        if other_row == last - 1:  # the side that does not capture the pawn before its goal has lost
            row = (1 << columns) - 1
            threat = other & (row << columns if down else row << (last - 1) * columns)
            if threat & (threat - 1):
                return 2 - WON - depth, ()
            target = threat.bit_length() - 1
            return 2 - WON - depth, [move for move in self.moves(position) if move[1] == target]
        steps, other_steps = (depth + 1) // 2, depth // 2
        if own_row + steps < last and other.bit_count() > steps:
            most = own_row + steps - _foremost(_without(other, not down, steps), not down, last, columns)
            if most <= alpha:
                return most, ()
        if other_row + other_steps < last and own.bit_count() > other_steps:
            least = _foremost(_without(own, down, other_steps), down, last, columns) - other_row - other_steps
            if least >= beta:
                return least, ()
        return -inf, self.moves(position)

    def _one_move(self, own: int, other: int, down: bool, own_row: int, other_row: int) -> int:
        """The value of the last move before the horizon: advance, or capture the only foremost pawn."""
        last, columns = self._last, self._columns
        value = own_row + 1 - other_row
        row = last - other_row if down else other_row
        foremost = other >> row * columns & ((1 << columns) - 1)
        if foremost & (foremost - 1):
            return value
        pawn = foremost << row * columns
        if down:
            takers = (pawn & self._left) >> columns + 1 | (pawn & self._right) >> columns - 1
        else:
            takers = (pawn & self._left) << columns - 1 | (pawn & self._right) << columns + 1
        if not takers & own:
            return value
        rest = other ^ pawn
        if not rest:
            return WON
        after_capture = max(own_row, last - other_row) - _foremost(rest, not down, last, columns)
        return max(value, after_capture)

    def moves(self, position: Pawns) -> list[Cells]:
        """Every move, the most advanced pawns first: they decide races and prune most."""
        own, other, down = position
        moves, full = list[Cells](), self._full
        step = self._columns if down else -self._columns
        for side, movers, targets in (
            (0, own, full & ~(own | other)),
            (-1, own & self._left, full & ~own),
            (1, own & self._right, full & ~own),
        ):
            shift = step + side
            reached = (movers << shift if shift > 0 else movers >> -shift) & targets
            while reached:
                bit = reached & -reached
                end = bit.bit_length() - 1
                moves.append((end - shift, end))
                reached ^= bit
        moves.sort(key=itemgetter(1), reverse=down)
        return moves


def _foremost(pawns: int, down: bool, last: int, columns: int) -> int:
    if down:
        return (pawns.bit_length() - 1) // columns
    return last - ((pawns & -pawns).bit_length() - 1) // columns


def _without(pawns: int, down: bool, count: int) -> int:
    for _ in range(count):
        pawns = pawns ^ (1 << (pawns.bit_length() - 1)) if down else pawns & (pawns - 1)
    return pawns


@dataclass
class BreakthroughAlphaBeta(Bot):
    """Searches `depth` moves ahead with the paper's evaluation; ties are broken at random."""

    depth: int = option(5, low=1, high=12, help="moves looked ahead")
    kind = "bot/alphabeta"
    computes = True

    def policy(self, state: Any) -> dict[str, float]:
        assert isinstance(self.game, Breakthrough)
        good = best_actions(str(state.spiel), self.game, self.seat == "black", self.depth)
        return dict.fromkeys(good, 1 / len(good))

    def choose(self, state: SpielState) -> str:
        return self.random.choice(list(self.policy(state)))


@lru_cache(maxsize=256)
def best_actions(board: str, game: Breakthrough, black_moves: bool, depth: int) -> tuple[str, ...]:
    position = position_of(board, game, black_moves)
    search = PawnSearch(game.rows, game.columns)
    moves = search.best_moves(position, depth, search.moves(position))
    places = (divmod(cell, game.columns) for cell in range(game.rows * game.columns))
    names = [f"{ascii_lowercase[column]}{game.rows - row}" for row, column in places]
    return tuple(names[start] + names[end] for start, end in moves)


def position_of(board: str, game: Breakthrough, black_moves: bool) -> Pawns:
    """The pawns on a board as OpenSpiel writes it."""
    marks = "".join(line[1:] for line in board.splitlines()[: game.rows])
    black, white = (sum(1 << cell for cell, mark in enumerate(marks) if mark == side) for side in "bw")
    return (black, white, True) if black_moves else (white, black, False)


class BreakthroughView(ChequeredView, StoneView):
    """Black starts at the top."""

    symbols = ".bw"
    stone_size = 0.74

    def __init__(self, game: Breakthrough, render: RenderOptions, seed: int = 0) -> None:
        self.rows, self.columns = game.rows, game.columns
        super().__init__(game, render, seed)

    def values(self, seat: str) -> dict[str, object]:
        far = 1 if seat == "black" else self.rows
        way = "down, towards row 1" if seat == "black" else f"up, towards row {self.rows}"
        last = ascii_lowercase[self.columns - 1]
        return {**super().values(seat), "far": far, "way": way, "last": last}

    def matrix(self, state: SpielState) -> Matrix:
        return self.decode(line[1:] for line in str(state.spiel).splitlines()[: self.rows])
