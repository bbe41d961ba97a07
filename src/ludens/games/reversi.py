"""Reversi: OpenSpiel's othello, alpha-beta on bitboards, black and white discs on squares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from ludens.core.agent import Bot
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.games.boards import Matrix, StoneView, cell_name
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import BoardGame, SpielState

PASS = "PASS"
_PASS_NUMBER = 64


@dataclass(frozen=True)
class Reversi(BoardGame):
    """Enclose the other side's discs to turn them over; most discs at the end win.

    Seats: `black` moves first, then `white`.
    Observation: the board, rows A to H from the top, columns 1 to 8 from the left.
    Actions: the cell to play on, as in `D3`; `PASS` when there is none.
    Rewards: +1 for more discs of your colour when nobody can move, -1 for fewer, 0 for as many.
    Openings: a search of three moves finds neither side ahead by more than the worth of two or three moves to
    choose from. Twins: an opening and the same one seen from the other side of the board, with no valid move
    in common.
    """

    name = "reversi"
    seats = ("black", "white")
    version = 3
    view_class = "ludens.games.reversi:ReversiView"
    spiel_name = "othello"
    stable_names = True
    actions_told = False
    usual_opening = 8
    best = "bot/alphabeta?depth=4&endgame=8"
    presets = {
        "easy": Preset(),
        "medium": Preset({"opening": 4}, others="bot/alphabeta?depth=1&endgame=0"),
        "hard": Preset({"opening": 8}, others="bot/alphabeta?depth=3"),
        "paper": Preset(others="bot/alphabeta"),
    }
    bots: ClassVar[Mapping[str, str]] = {"alphabeta": "ludens.games.reversi:ReversiAlphaBeta"}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return PASS if action == _PASS_NUMBER else cell_name(action, 8)

    def level(self, state: SpielState) -> bool:
        return abs(ReversiSearch().value(discs(state, state.to_act[0]), 3)) <= _LEVEL

    def good_moves(self, state: SpielState) -> Collection[str]:
        return state.legal(state.to_act[0])

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        half_turn = [action if action == _PASS_NUMBER else 63 - action for action in first.spiel.history()]
        state = self.replay(half_turn)
        if state is not None:
            yield state


FULL = (1 << 64) - 1
_INNER = 0x7E7E7E7E7E7E7E7E
"""Without the outer columns: the cells a sideways line may pass through."""
_AXES = ((1, _INNER), (7, _INNER), (9, _INNER), (8, FULL))


def moves(own: int, other: int) -> int:
    """The empty cells where `own` may play."""
    open_cells = 0
    for step, mask in _AXES:
        between = other & mask
        up, down = between & own << step, between & own >> step
        for _ in range(5):
            up |= between & up << step
            down |= between & down >> step
        open_cells |= up << step | down >> step
    return open_cells & ~(own | other) & FULL


def flipped_by(own: int, other: int, cell: int) -> int:
    """The discs of the other side that a disc on this cell (a single bit) encloses."""
    flips = 0
    for step, mask in _AXES:
        between = other & mask
        up, down = between & cell << step, between & cell >> step
        for _ in range(5):
            up |= between & up << step
            down |= between & down >> step
        if up << step & own:
            flips |= up
        if down >> step & own:
            flips |= down
    return flips


def cells(board: int) -> Iterator[int]:
    while board:
        low = board & -board
        yield low
        board ^= low


# One quadrant of the board: corners are permanent, the cells beside them give the corner away.
_QUARTER = ((60, -12, 8, 5), (-12, -24, -2, -2), (8, -2, 3, 1), (5, -2, 1, 1))
_WEIGHTS = [_QUARTER[min(row, 7 - row)][min(column, 7 - column)] for row in range(8) for column in range(8)]
_PLACES = [
    [sum(_WEIGHTS[row * 8 + column] for column in range(8) if byte >> column & 1) for byte in range(256)]
    for row in range(8)
]
"""The score of every row for every set of discs in it."""
_FREEDOM, _WON = 10, 10_000
_LEVEL = 25
"""The largest lead in a level opening, worth two or three moves to choose from."""
_ORDER = {1 << cell: -weight for cell, weight in enumerate(_WEIGHTS)}


def _places(board: int) -> int:
    return sum(scores[byte] for scores, byte in zip(_PLACES, board.to_bytes(8, "little"), strict=True))


def score(own: int, other: int) -> int:
    freedom = moves(own, other).bit_count() - moves(other, own).bit_count()
    return _places(own) - _places(other) + _FREEDOM * freedom


class ReversiSearch(Negamax[tuple[int, int], int]):
    """Positions are the discs of the side to move and of the other; the move 0 is a pass."""

    def expand(
        self, position: tuple[int, int], depth: int, alpha: float, beta: float
    ) -> tuple[float, list[int]]:
        own, other = position
        if depth <= 0:
            return score(own, other), []
        if open_cells := moves(own, other):
            return -inf, sorted(cells(open_cells), key=_ORDER.__getitem__)
        if moves(other, own):
            return -inf, [0]
        ahead = own.bit_count() - other.bit_count()
        return ahead + (_WON if ahead > 0 else -_WON if ahead < 0 else 0), []

    def make(self, position: tuple[int, int], move: int) -> tuple[int, int]:
        own, other = position
        flips = flipped_by(own, other, move) if move else 0
        return other ^ flips, own | flips | move


@dataclass
class ReversiAlphaBeta(Bot):
    """Searches `depth` moves ahead, near the end to the last move; ties are broken at random."""

    kind = "bot/alphabeta"
    computes = True

    depth: int = option(3, low=1, high=10, help="moves looked ahead")
    endgame: int = option(7, low=0, high=12, help="empty cells from which on it looks ahead to the end")

    def choose(self, state: SpielState) -> str:
        names = list(state.legal(self.seat))
        if names == [PASS]:
            return PASS
        own, other = discs(state, self.seat)
        empty = 64 - (own | other).bit_count()
        depth = 2 * empty if empty <= self.endgame else self.depth  # every move may be followed by a pass
        self.random.shuffle(names)
        bits = [1 << "ABCDEFGH".index(name[0]) * 8 + int(name[1]) - 1 for name in names]
        best = ReversiSearch().first_best((own, other), depth, bits)
        return names[bits.index(best)]


def discs(state: SpielState, seat: str) -> tuple[int, int]:
    symbols = "".join(map("".join, _lines(state)))
    black, white = (sum(1 << cell for cell, mark in enumerate(symbols) if mark == side) for side in "xo")
    return (black, white) if seat == "black" else (white, black)


def _lines(state: SpielState) -> list[list[str]]:
    lines = str(state.spiel).splitlines()
    return [line.split()[1:9] for line in lines if line[:1].isdigit()]


class ReversiView(StoneView):
    """Rows are lettered A to H from the top, columns numbered from the left."""

    rows = columns = 8
    symbols = "-xo"
    grounds = ("page", "light")
    stone_size = 0.78

    def matrix(self, state: SpielState) -> Matrix:
        return self.decode(_lines(state))
