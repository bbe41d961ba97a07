"""Breakthrough: OpenSpiel's rules, alpha-beta on bitboards, pawns on a checkered board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.state import State
from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.open_spiel import SpielGame, SpielState


@dataclass(frozen=True)
class Breakthrough(SpielGame):
    """A race of pawns: the first to reach the far side, or to take every enemy pawn, wins.

    Seats: `black` starts on the two top rows, moves first and down; `white` starts on the two bottom rows
    and moves up.
    Observation: the board, columns a to h from the left, rows 1 to 8 from the bottom.
    Actions: from and to, as in `a7a6`: one row ahead, straight or diagonally; only a diagonal move captures.
    Rewards: +1 for the winner, -1 for the loser. There are no draws.
    """

    name = "breakthrough"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.breakthrough:BreakthroughView"
    best = "bot/alphabeta?depth=5"
    spiel_name = "breakthrough"
    stable_names = True
    bots = {"alphabeta": "ludens.games.breakthrough:AlphaBeta"}

    rows: int = option(8, low=4, high=8, help="rows of the board")
    columns: int = option(8, low=3, high=8, help="columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"rows": self.rows, "columns": self.columns}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return str(spiel.action_to_string(player, action)).rstrip("*")

    def evaluate(self, state: State, seat: str) -> float:
        """The lead of our foremost pawn over theirs, as a share of the way."""
        assert isinstance(state, SpielState)
        board = state.spiel.observation_string(0)
        lines = board.splitlines()[: self.rows]
        black = max(row for row, line in enumerate(lines) if "b" in line)
        white = max(self.rows - 1 - row for row, line in enumerate(lines) if "w" in line)
        lead = (black - white) / (self.rows - 1)
        return lead if seat == "black" else -lead


WON = 1000
"""More than any lead; a win in fewer moves scores higher."""

Cells = tuple[int, int]


class Position:
    """Two bitboards; moves are (from, to) cell numbers."""

    __slots__ = ("_last", "_left", "_right", "_seen", "black", "columns", "rows", "white")

    def __init__(self, black: int, white: int, rows: int, columns: int) -> None:
        self.black, self.white, self.rows, self.columns = black, white, rows, columns
        edge = sum(1 << (row * columns) for row in range(rows))
        full = (1 << (rows * columns)) - 1
        self._left, self._right = full & ~edge, full & ~(edge << (columns - 1))
        self._last = rows - 1
        # Positions reached by another order of moves: the bounds between which their value lies, and the move
        # that was best. Who is to move follows from the depth within one search.
        self._seen: dict[tuple[int, int, int], tuple[int, int, Cells]] = {}

    def best(self, black_moves: bool, depth: int) -> list[Cells]:
        """All moves that search finds best."""
        self._seen.clear()
        own, other = (self.black, self.white) if black_moves else (self.white, self.black)
        found: list[Cells] = []
        best = -2 * WON
        for move in self._moves(own, other, black_moves):
            value = self._after(own, other, move, black_moves, depth, best - 1, best + 1)
            if value > best:
                value = self._after(own, other, move, black_moves, depth, best, 2 * WON)
                found, best = [move], value
            elif value == best:
                found.append(move)
        return found

    def _after(self, own: int, other: int, move: Cells, down: bool, depth: int, alpha: int, beta: int) -> int:
        """The value of a move for the side that makes it; `depth` includes this move."""
        start, end = move
        come = 1 << end
        own, other = own ^ (1 << start) | come, other & ~come
        if not other or (end >= self._last * self.columns if down else end < self.columns):
            return WON + depth - 1
        return -self._value(other, own, not down, depth - 1, -beta, -alpha)

    def _value(self, own: int, other: int, down: bool, depth: int, alpha: int, beta: int) -> int:
        """The value of a position for the side to move, which moves down the board or up."""
        last, columns = self._last, self.columns
        ours = _foremost(own, down, last, columns)
        theirs = _foremost(other, not down, last, columns)
        if depth == 0:
            return ours - theirs
        if ours == last - 1:  # the foremost pawn can always move: none of its own pawns is ahead of it
            return WON + depth - 1
        if depth == 1:
            return self._one_move(own, other, down, ours, theirs)
        threat = 0
        if theirs == last - 1:
            row = (1 << columns) - 1
            threat = other & (row << columns if down else row << (last - 1) * columns)
            if threat & (threat - 1):
                return 2 - WON - depth
        else:
            mine, yours = (depth + 1) // 2, depth // 2
            if ours + mine < last and other.bit_count() > mine:
                most = ours + mine - _foremost(_without(other, not down, mine), not down, last, columns)
                if most <= alpha:
                    return most
            if theirs + yours < last and own.bit_count() > yours:
                least = _foremost(_without(own, down, yours), down, last, columns) - theirs - yours
                if least >= beta:
                    return least
        return self._searched(own, other, down, depth, alpha, beta, threat)

    def _searched(
        self, own: int, other: int, down: bool, depth: int, alpha: int, beta: int, threat: int
    ) -> int:
        key = (own, other, depth)
        low, high, known = self._seen.get(key, (-2 * WON, 2 * WON, (-1, -1)))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        moves = self._moves(own, other, down)
        best, floor, chosen = -2 * WON, alpha, known
        if threat:  # the side that does not capture the pawn before its goal has lost
            target = threat.bit_length() - 1
            moves = [move for move in moves if move[1] == target]
            best = 2 - WON - depth
            floor = max(floor, best)
        elif known in moves:
            moves.remove(known)
            moves.insert(0, known)
        for move in moves:
            if floor >= beta:
                break
            value = self._after(own, other, move, down, depth, floor, beta)
            if value > best:
                best, chosen = value, move
                floor = max(floor, value)
        self._seen[key] = (best if best > alpha else low, best if best < beta else high, chosen)
        return best

    def _one_move(self, own: int, other: int, down: bool, ours: int, theirs: int) -> int:
        """The value of the last move before the horizon: advance, or capture the only foremost pawn."""
        last, columns = self._last, self.columns
        value = ours + 1 - theirs
        row = last - theirs if down else theirs
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
        taken = max(ours, last - theirs) - _foremost(rest, not down, last, columns)
        return max(value, taken)

    def _moves(self, own: int, other: int, down: bool) -> list[Cells]:
        """Every move, the most advanced pawns first: they decide races and prune most."""
        columns, moves = self.columns, []
        step = columns if down else -columns
        full = (1 << (self.rows * columns)) - 1
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
        moves.sort(key=_end, reverse=down)
        return moves


def _end(move: Cells) -> int:
    return move[1]


def _foremost(pawns: int, down: bool, last: int, columns: int) -> int:
    """How many rows the foremost pawn is from its own edge."""
    if down:
        return (pawns.bit_length() - 1) // columns
    return last - ((pawns & -pawns).bit_length() - 1) // columns


def _without(pawns: int, down: bool, count: int) -> int:
    """The pawns without the given number of foremost ones."""
    for _ in range(count):
        pawns = pawns ^ (1 << (pawns.bit_length() - 1)) if down else pawns & (pawns - 1)
    return pawns


@dataclass
class AlphaBeta(Agent):
    """Searches `depth` moves ahead with the paper's evaluation; ties are broken at random."""

    depth: int = option(5, low=1, high=12, help="moves looked ahead")
    kind = "bot/alphabeta"
    sees = "state"
    computes = True

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action: equally good moves are equally likely."""
        game = self.game
        assert isinstance(state, SpielState)
        assert isinstance(game, Breakthrough)
        good = _best(str(state.spiel), game, self.seat == "black", self.depth)
        return dict.fromkeys(good, 1 / len(good))

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = self.random.choice(list(self.policy(ask.state)))
        return Reply(action, action)


@lru_cache(maxsize=256)
def _best(board: str, game: Breakthrough, black_moves: bool, depth: int) -> tuple[str, ...]:
    moves = _position(board, game).best(black_moves, depth)
    return tuple(_name(start, game) + _name(end, game) for start, end in moves)


def position_of(state: SpielState, game: Breakthrough) -> Position:
    """OpenSpiel's board as bitboards."""
    return _position(str(state.spiel), game)


def _position(board: str, game: Breakthrough) -> Position:
    lines = board.splitlines()[: game.rows]
    cells = "".join(line[1:] for line in lines)
    black = sum(1 << cell for cell, mark in enumerate(cells) if mark == "b")
    white = sum(1 << cell for cell, mark in enumerate(cells) if mark == "w")
    return Position(black, white, game.rows, game.columns)


def _name(cell: int, game: Breakthrough) -> str:
    row, column = divmod(cell, game.columns)
    return "abcdefgh"[column] + str(game.rows - row)


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
