"""Gomoku: OpenSpiel's rules, alpha-beta over lines of five, stones on the crossings of lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.view import RenderOptions
from ludens.draw import Sprite, draw_board, sprite_sheet
from ludens.games.boards import Matrix, TurnView
from ludens.games.open_spiel import SpielGame, SpielState


@dataclass(frozen=True)
class Gomoku(SpielGame):
    """Five stones in an unbroken line win.

    Seats: `black` moves first, then `white`.
    Observation: the board, rows A to O from the top, columns 1 to 15 from the left.
    Actions: an empty crossing, as in `H8`.
    Rewards: +1 for five or more in a line, -1 for the other seat, 0 for a full board without one.
    """

    name = "gomoku"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.gomoku:GomokuView"
    spiel_name = "gomoku"
    stable_names = True
    best = "bot/lines?depth=4"
    bots = {"lines": "ludens.games.gomoku:Lines"}

    size: int = option(15, low=5, high=19, help="rows and columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"size": self.size}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return f"{ascii_uppercase[action // self.size]}{action % self.size + 1}"


WORTH = (0, 1, 12, 130, 1500, 1_000_000)
WON = WORTH[5]


@lru_cache(maxsize=8)
def lines_of_five(size: int) -> tuple[tuple[int, ...], ...]:
    """Every line of five crossings, each as five cell numbers."""
    lines = []
    for row in range(size):
        for column in range(size):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last_row, last_column = row + 4 * down, column + 4 * right
                if last_row < size and 0 <= last_column < size:
                    lines.append(tuple((row + i * down) * size + column + i * right for i in range(5)))
    return tuple(lines)


@lru_cache(maxsize=8)
def _lines_through(size: int) -> tuple[tuple[int, ...], ...]:
    through: list[list[int]] = [[] for _ in range(size * size)]
    for number, line in enumerate(lines_of_five(size)):
        for cell in line:
            through[cell].append(number)
    return tuple(tuple(numbers) for numbers in through)


@lru_cache(maxsize=8)
def _neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    near = []
    for cell in range(size * size):
        row, column = divmod(cell, size)
        near.append(
            tuple(
                r * size + c
                for r in range(max(0, row - 2), min(size, row + 3))
                for c in range(max(0, column - 2), min(size, column + 3))
                if (r, c) != (row, column)
            )
        )
    return tuple(near)


class Position:
    """Stones and line counts; sides are 0 and 1."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stones: dict[int, int] = {}
        self.counts = ([0] * len(lines_of_five(size)), [0] * len(lines_of_five(size)))
        self.worth = [0, 0]
        self.won = -1
        self._through, self._near = _lines_through(size), _neighbours(size)

    def put(self, cell: int, side: int) -> None:
        """Place a stone."""
        mine, theirs = self.counts[side], self.counts[1 - side]
        gained = lost = 0
        for line in self._through[cell]:
            held, other = mine[line], theirs[line]
            mine[line] = held + 1
            if not other:
                gained += WORTH[held + 1] - WORTH[held]
                if held == 4:
                    self.won = side
            elif not held:
                lost += WORTH[other]
        self.worth[side] += gained
        self.worth[1 - side] -= lost
        self.stones[cell] = side

    def take(self, cell: int) -> None:
        """Remove a stone."""
        side = self.stones.pop(cell)
        mine, theirs = self.counts[side], self.counts[1 - side]
        self.won = -1
        for line in self._through[cell]:
            held, other = mine[line] - 1, theirs[line]
            mine[line] = held
            if not other:
                self.worth[side] -= WORTH[held + 1] - WORTH[held]
            elif not held:
                self.worth[1 - side] += WORTH[other]

    def promise(self, cell: int, side: int) -> int:
        """What a stone of this side here would gain and block."""
        mine, theirs = self.counts[side], self.counts[1 - side]
        total = 0
        for line in self._through[cell]:
            held, other = mine[line], theirs[line]
            if not other:
                total += 2 * (WORTH[held + 1] - WORTH[held])
            if not held:
                total += WORTH[other + 1] - WORTH[other]
        return total

    def candidates(self, side: int, width: int) -> list[int]:
        """The most promising empty crossings near stones, best first; the centre of an empty board."""
        if not self.stones:
            return [self.size * self.size // 2]
        near = {cell for stone in self.stones for cell in self._near[stone] if cell not in self.stones}
        if not near:
            near = {cell for cell in range(self.size * self.size) if cell not in self.stones}
        return sorted(near, key=lambda cell: (-self.promise(cell, side), cell))[:width]

    def value(self, side: int, depth: int, alpha: int, beta: int, width: int) -> int:
        """The value of the position for the side to move, searching `depth` stones ahead."""
        if self.won >= 0:
            return -WON - depth
        if depth == 0:
            return self.worth[side] - self.worth[1 - side]
        best = -2 * WON
        for cell in self.candidates(side, width):
            self.put(cell, side)
            best = max(best, -self.value(1 - side, depth - 1, -beta, -alpha, width))
            self.take(cell)
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best if best > -2 * WON else 0


@dataclass
class Lines(Agent):
    """Alpha-beta over the most promising crossings; ties are broken at random."""

    depth: int = option(3, low=1, high=6, help="stones looked ahead")
    width: int = option(10, low=1, high=60, help="crossings considered at every stone")
    kind = "bot/lines"
    sees = "state"
    computes = True

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        assert isinstance(self.game, Gomoku)
        position = Position(self.game.size)
        for index, cell in enumerate(state.spiel.history()):
            position.put(cell, index % 2)
        side = len(position.stones) % 2
        action = self.game.action_name(state.spiel, side, self._best(position, side))
        return Reply(action, action)

    def _best(self, position: Position, side: int) -> int:
        best: list[int] = []
        best_value = -2 * WON
        for cell in position.candidates(side, self.width):
            position.put(cell, side)
            # A window one below the best value tells equal moves from worse ones.
            value = -position.value(1 - side, self.depth - 1, -2 * WON, -(best_value - 1), self.width)
            position.take(cell)
            if value > best_value:
                best, best_value = [cell], value
            elif value == best_value:
                best.append(cell)
        return self.random.choice(best)


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
