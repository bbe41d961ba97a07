"""Gomoku: OpenSpiel's rules, alpha-beta over lines of five, stones on the crossings of lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf
from string import ascii_uppercase
from typing import Any

from ludens.core.agent import Bot
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.view import RenderOptions
from ludens.games.boards import Matrix, StoneView, cell_name, neighbours
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import BoardGame, SpielState, recolourings


@dataclass(frozen=True)
class Gomoku(BoardGame):
    """Five stones in an unbroken line win.

    Seats: `black` moves first, then `white`.
    Observation: the board, rows A to O from the top, columns 1 to 15 from the left.
    Actions: an empty crossing, as in `H8`.
    Rewards: +1 for five or more in a line, -1 for the other seat, 0 for a full board without one.
    Openings: stones near each other, away from the edge; a search of three moves finds neither side ahead.
    Twins: stones on the same crossings in other colours, and other best moves.
    """

    name = "gomoku"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.gomoku:GomokuView"
    spiel_name = "gomoku"
    stable_names = True
    usual_opening = 6
    best = "bot/lines?depth=4"
    presets = {
        "easy": Preset({"size": 9}),
        "medium": Preset({"size": 11, "opening": 4}, others="bot/lines?depth=1"),
        "hard": Preset({"opening": 6}, others="bot/lines?depth=3"),
        "paper": Preset(others="bot/lines?depth=4"),
    }
    bots = {"lines": "ludens.games.gomoku:Lines"}

    size: int = option(15, low=5, high=19, help="rows and columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"size": self.size}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return cell_name(action, self.size)

    def level(self, state: SpielState) -> bool:
        return abs(LineSearch(_LEVEL_WIDTH).value(line_counts(self, state), _LEVEL_DEPTH)) <= _LEVEL

    def good_moves(self, state: SpielState) -> Collection[str]:
        position = line_counts(self, state)
        cells = position.candidates(position.side, _LEVEL_WIDTH)
        best = LineSearch(_LEVEL_WIDTH).best_moves(position, _LEVEL_DEPTH, cells)
        return [cell_name(cell, self.size) for cell in best]

    def opening_moves(self, state: SpielState) -> Sequence[str]:
        stones = state.spiel.history()
        edge = min(4, (self.size - 1) // 2)
        inner = range(edge, self.size - edge)
        near = neighbours(self.size, self.size, 2)
        cells = sorted({cell for stone in stones for cell in near[stone]} - {*stones})
        return [cell_name(cell, self.size) for cell in cells] or [
            cell_name(row * self.size + column, self.size) for row in inner for column in inner
        ]

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        return recolourings(self, first, random)


_LEVEL_DEPTH, _LEVEL_WIDTH, _LEVEL = 3, 8, 300
"""Depth and width of the search that judges openings, and the largest lead in one that is level."""
WORTH = (0, 1, 12, 130, 1500, 1_000_000)
WON = WORTH[5]


@lru_cache(maxsize=8)
def lines_of_five(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple((row + i * down) * size + column + i * right for i in range(5))
        for row, column in product(range(size), repeat=2)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        if row + 4 * down < size and 0 <= column + 4 * right < size
    )


@lru_cache(maxsize=8)
def _lines_through(size: int) -> tuple[tuple[int, ...], ...]:
    through: list[list[int]] = [[] for _ in range(size * size)]
    for number, line in enumerate(lines_of_five(size)):
        for cell in line:
            through[cell].append(number)
    return tuple(tuple(numbers) for numbers in through)


class LineCounts:
    """Stones and line counts; sides are 0 and 1."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stones: dict[int, int] = {}
        self.counts = ([0] * len(lines_of_five(size)), [0] * len(lines_of_five(size)))
        self.worth = [0, 0]
        self.won = -1
        self._through, self._near = _lines_through(size), neighbours(size, size, 2)

    @property
    def side(self) -> int:
        """The side to move, where stones were put in turn."""
        return len(self.stones) % 2

    def put(self, cell: int) -> None:
        side = self.side
        own_counts, other_counts = self.counts[side], self.counts[1 - side]
        gained = lost = 0
        for line in self._through[cell]:
            own, other = own_counts[line], other_counts[line]
            own_counts[line] = own + 1
            if not other:
                gained += WORTH[own + 1] - WORTH[own]
                if own == 4:
                    self.won = side
            elif not own:
                lost += WORTH[other]
        self.worth[side] += gained
        self.worth[1 - side] -= lost
        self.stones[cell] = side

    def take(self, cell: int) -> None:
        side = self.stones.pop(cell)
        own_counts, other_counts = self.counts[side], self.counts[1 - side]
        self.won = -1
        for line in self._through[cell]:
            own, other = own_counts[line] - 1, other_counts[line]
            own_counts[line] = own
            if not other:
                self.worth[side] -= WORTH[own + 1] - WORTH[own]
            elif not own:
                self.worth[1 - side] += WORTH[other]

    def promise(self, cell: int, side: int) -> int:
        own_counts, other_counts = self.counts[side], self.counts[1 - side]
        total = 0
        for line in self._through[cell]:
            own, other = own_counts[line], other_counts[line]
            if not other:
                total += 2 * (WORTH[own + 1] - WORTH[own])
            if not own:
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


class LineSearch(Negamax[LineCounts, int]):
    """Looks at the `width` most promising crossings at every stone."""

    undoes = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def expand(self, position: LineCounts, depth: int, alpha: float, beta: float) -> tuple[float, list[int]]:
        side = position.side
        if position.won >= 0:
            return -WON - depth, []
        if depth == 0:
            return position.worth[side] - position.worth[1 - side], []
        cells = position.candidates(side, self._width)
        return (-inf, cells) if cells else (0, [])

    def make(self, position: LineCounts, move: int) -> LineCounts:
        position.put(move)
        return position

    def undo(self, position: LineCounts, move: int) -> None:
        position.take(move)


def line_counts(game: Gomoku, state: SpielState) -> LineCounts:
    """The stones of a state."""
    position = LineCounts(game.size)
    for cell in state.spiel.history():
        position.put(cell)
    return position


@dataclass
class Lines(Bot):
    """Alpha-beta over the most promising crossings; ties are broken at random."""

    depth: int = option(3, low=1, high=6, help="stones looked ahead")
    width: int = option(10, low=1, high=60, help="crossings considered at every stone")
    kind = "bot/lines"
    computes = True

    def choose(self, state: SpielState) -> str:
        assert isinstance(self.game, Gomoku)
        position = line_counts(self.game, state)
        cells = position.candidates(position.side, self.width)
        best = LineSearch(self.width).best_moves(position, self.depth, cells)
        return self.game.action_name(state.spiel, position.side, self.random.choice(best))


class GomokuView(StoneView):
    """Rows are lettered from the top, columns numbered from the left."""

    symbols = ".bw"
    grounds = ("page", "wood")
    style = "points"
    least_cell = 7
    stone_size = 0.84

    def __init__(self, game: Gomoku, render: RenderOptions, seed: int = 0) -> None:
        self.rows = self.columns = game.size
        super().__init__(game, render, seed)

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "last": ascii_uppercase[self.rows - 1]}

    def matrix(self, state: SpielState) -> Matrix:
        return self.decode(str(state.spiel).lower().split()[-self.rows :])
