"""Sudoku: one digit of each in every row, column and box; digits cannot be taken back."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

from ludens.core.agent import ReasoningBot
from ludens.core.errors import BadOption
from ludens.core.game import Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.reply import DASHES, ActionFormat
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.draw import Picture, get_theme
from ludens.draw.palette import hex_name, mix
from ludens.games.boards import BoardView, Matrix, cell_name

SIDE, CELLS = 9, 81
ROW = tuple(cell // 9 for cell in range(CELLS))
COLUMN = tuple(cell % 9 for cell in range(CELLS))
BOX = tuple(cell // 27 * 3 + cell % 9 // 3 for cell in range(CELLS))
NAMES = tuple(cell_name(cell, SIDE) for cell in range(CELLS))
NUMBER = {name: cell for cell, name in enumerate(NAMES)}
_UNITS = (ROW, COLUMN, BOX)
PEERS = tuple(
    tuple(o for o in range(CELLS) if o != cell and any(unit[o] == unit[cell] for unit in _UNITS))
    for cell in range(CELLS)
)
"""For every cell, the 20 others in its row, column and box."""

DIGITS = tuple(tuple(digit for digit in range(1, 10) if mask >> digit & 1) for mask in range(1 << 10))
"""The digits in a mask: bit 5 stands for the digit 5."""
ALL = 0b1111111110

Units = tuple[list[int], list[int], list[int]]
"""The digits still missing, as masks, by row, column and box."""


def open_digits(grid: Sequence[int]) -> Units | None:
    """The missing digits of every row, column and box; None when one of them holds a digit twice."""
    rows, columns, boxes = [ALL] * 9, [ALL] * 9, [ALL] * 9
    for cell, digit in enumerate(grid):
        if digit:
            bit = 1 << digit
            if not rows[ROW[cell]] & columns[COLUMN[cell]] & boxes[BOX[cell]] & bit:
                return None
            rows[ROW[cell]] ^= bit
            columns[COLUMN[cell]] ^= bit
            boxes[BOX[cell]] ^= bit
    return rows, columns, boxes


def candidates(grid: Sequence[int], cell: int) -> int:
    """The digits that may go into a cell, as a mask."""
    digits = 0
    for peer in PEERS[cell]:
        digits |= 1 << grid[peer]
    return ALL & ~digits


Grid = tuple[int, ...]


@lru_cache(maxsize=256)
def _open_cells(grid: Grid) -> tuple[tuple[int, int], ...]:
    """The empty cells of a grid, each with the mask of the digits that may go into it."""
    return tuple((cell, candidates(grid, cell)) for cell, digit in enumerate(grid) if not digit)


def solutions(grid: Sequence[int], order: Sequence[int] | None = None) -> Iterator[Grid]:
    """The solutions of a grid, none when it already breaks a rule; `order` gives the digits to try first."""
    units = open_digits(grid)
    if units is None:
        return
    tried = DIGITS
    if order is not None:
        tried = tuple(tuple(d for d in order if mask >> d & 1) for mask in range(1 << 10))
    empty = [cell for cell, digit in enumerate(grid) if not digit]
    yield from _fill(list(grid), units, empty, tried)


def solve(grid: Sequence[int], order: Sequence[int] | None = None) -> Grid | None:
    return next(solutions(grid, order), None)


def _fill(cells: list[int], units: Units, empty: list[int], tried: Sequence[Sequence[int]]) -> Iterator[Grid]:
    if not empty:
        yield tuple(cells)
        return
    rows, columns, boxes = units
    fewest, best, choice = 10, 0, 0
    for place, cell in enumerate(empty):
        mask = rows[ROW[cell]] & columns[COLUMN[cell]] & boxes[BOX[cell]]
        count = mask.bit_count()
        if count < fewest:
            if not count:
                return
            fewest, best, choice = count, place, mask
            if count == 1:
                break
    cell = empty[best]
    empty[best] = empty[-1]
    empty.pop()
    row, column, box = ROW[cell], COLUMN[cell], BOX[cell]
    for digit in tried[choice]:
        bit = 1 << digit
        cells[cell] = digit
        rows[row] ^= bit
        columns[column] ^= bit
        boxes[box] ^= bit
        yield from _fill(cells, units, empty, tried)
        rows[row] ^= bit
        columns[column] ^= bit
        boxes[box] ^= bit
    cells[cell] = 0
    empty.append(cell)
    empty[best], empty[-1] = empty[-1], empty[best]


FEWEST, MOST = 25, 80
"""Fewer than 25 clues are rare when digits are removed at random; 81 would leave nothing to do."""
EASY, HARD = 45, 26
"""The range of the number of clues where the option does not set it."""


@dataclass(frozen=True)
class SudokuPuzzle:
    """The clues, and the solution."""

    clues: Grid
    solution: Grid


@lru_cache(maxsize=1024)
def puzzle(seed: int, clues: int) -> SudokuPuzzle:
    """The puzzle of a seed with this many clues; 0 lets the seed choose."""
    random = stream(seed, "puzzle")
    count = clues or random.between(HARD, EASY)
    while True:
        solution = full_grid(random)
        if (grid := _remove_clues(solution, count, random)) is not None:
            return SudokuPuzzle(grid, solution)


def full_grid(random: Stream) -> Grid:
    """A random solved grid: three independent boxes are filled at random, the rest is solved."""
    cells = [0] * CELLS
    digits = list(range(1, 10))
    for corner in (0, 30, 60):
        random.shuffle(digits)
        for place, digit in enumerate(digits):
            cells[corner + place // 3 * 9 + place % 3] = digit
    random.shuffle(digits)
    solution = solve(cells, digits)
    assert solution is not None, "three such boxes can always be completed"
    return solution


def _remove_clues(solution: Grid, count: int, random: Stream) -> Grid | None:
    """Remove digits in random order while the solution stays unique; None when too many must stay."""
    cells, clues = list(solution), CELLS
    order = list(range(CELLS))
    random.shuffle(order)
    for cell in order:
        if clues == count:
            break
        digit, cells[cell] = cells[cell], 0
        if _unique(cells, cell, digit):
            clues -= 1
        else:
            cells[cell] = digit
    return tuple(cells) if clues == count else None


def _unique(cells: list[int], cell: int, digit: int) -> bool:
    """Whether no solution has another digit in this cell, given that one has this digit."""
    rivals = DIGITS[candidates(cells, cell) & ~(1 << digit)]
    return all(solve([*cells[:cell], rival, *cells[cell + 1 :]]) is None for rival in rivals)


SEAT = "player"
_ACTION = re.compile(r"([A-I][1-9])=([1-9])")


@dataclass(frozen=True)
class Sudoku(Game):
    """Fill the grid so that every row, column and box holds each digit once.

    Seats: `player`, alone.
    Observation: the grid, rows A to I from the top, columns 1 to 9 from the left; clues are told apart from
    digits placed since.
    Actions: a digit for an empty cell, as in `A1=5`; legal when the cell's row, column and box do not hold
    that digit yet, whether or not it leads to the solution. Replies such as `A1 5` are accepted. Digits
    cannot be changed.
    Rewards: +1 for the full grid, -1 when no digit fits an empty cell any more.
    Facts: `solvable_digits` counts the digits placed that are those of the one solution, `wrong_digits`
    the others, `before_first_wrong` how many were placed before the first of them.
    """

    name = "sudoku"
    seats = (SEAT,)
    view_class = "ludens.games.sudoku:SudokuView"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"surest": "ludens.games.sudoku:Surest"}
    presets = {
        "easy": Preset({"clues": 60}),
        "medium": Preset({"clues": 40}),
        "hard": Preset({"clues": 27}),
        "paper": Preset(),
    }

    clues: int = option(
        0, low=0, high=MOST, help=f"digits given, from {FEWEST}; 0 lets the seed choose {HARD} to {EASY}"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.clues < FEWEST:
            raise BadOption(f"option 'clues' of sudoku must be 0 or at least {FEWEST}, not {self.clues}.")

    def actions(self, seat: str) -> tuple[str, ...]:
        """Every digit for every cell, row by row from the top."""
        return tuple(f"{name}={digit}" for name in NAMES for digit in range(1, 10))

    def start(self, seed: int) -> SudokuState:
        return SudokuState(puzzle(seed, self.clues))


class SudokuState(State):
    """A partly filled grid."""

    def __init__(self, puzzle: SudokuPuzzle) -> None:
        self.puzzle = puzzle
        self.grid = list(puzzle.clues)
        self.placed: tuple[int, ...] = ()
        """The cells filled since the start, in order."""
        self.dead_cell = self._dead_cell()

    def _dead_cell(self) -> int | None:
        """An empty cell that no digit fits, if there is one."""
        return next((cell for cell, mask in _open_cells(tuple(self.grid)) if not mask), None)

    @property
    def solved(self) -> bool:
        """Whether every cell is filled: legal digits break no rule, so that is the solution."""
        return 0 not in self.grid

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.dead_cell is not None or self.solved else (SEAT,)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        return Legal(
            f"{NAMES[cell]}={digit}" for cell, mask in _open_cells(tuple(self.grid)) for digit in DIGITS[mask]
        )

    def solution(self, seat: str) -> str | None:
        """The solution's digit for the first empty cell; any legal digit where the grid cannot be solved."""
        if (solved := solve(self.grid)) is None:
            return self.legal(seat).first
        cell = self.grid.index(0)
        return f"{NAMES[cell]}={solved[cell]}"

    def refusal(self, seat: str, action: str) -> str | None:
        match = _ACTION.fullmatch(action)
        if seat not in self.to_act or match is None:
            return super().refusal(seat, action)
        cell, digit = NUMBER[match[1]], int(match[2])
        if self.grid[cell]:
            return f"{match[1]} already holds the digit {self.grid[cell]}."
        twin = next((peer for peer in PEERS[cell] if self.grid[peer] == digit), None)
        if twin is None:
            return None
        units = zip(("row", "column", "box"), _UNITS, strict=True)
        shared = next(name for name, unit in units if unit[twin] == unit[cell])
        return f"the {shared} of {match[1]} already holds the digit {digit}, at {NAMES[twin]}."

    def _advance(self, actions: Mapping[str, str]) -> None:
        name, _, digit = actions[SEAT].partition("=")
        cell = NUMBER[name]
        self.grid[cell] = int(digit)
        self.placed = (*self.placed, cell)
        self.dead_cell = self._dead_cell()

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 1.0 if self.solved else 0.0 if self.dead_cell is None else -1.0}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {SEAT: -1.0}

    @property
    def facts(self) -> dict[str, Any]:
        right = [self.grid[cell] == self.puzzle.solution[cell] for cell in self.placed]
        return {
            "winner": SEAT if self.solved else None,
            "moves": len(self.placed),
            "clues": sum(map(bool, self.puzzle.clues)),
            "solvable_digits": sum(right),
            "wrong_digits": right.count(False),
            "before_first_wrong": right.index(False) if False in right else len(right),
        }

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.grid = self.grid.copy()
        return twin


@dataclass
class Surest(ReasoningBot):
    """Fills a cell that the fewest digits fit, of these one with the most digits around it; right in every
    grid that can be solved.

    With `reason` it first names cells that more digits fit, with their digits: a player who imitates it
    learns to look for a cell that only one fits.
    """

    kind = "bot/surest"
    single: bool = option(
        False, help="where several digits fit every cell, fill one that is the only place for its digit"
    )

    def reasons(self, state: SudokuState, move: str) -> list[str]:
        empty = [cell for cell, digit in enumerate(state.grid) if not digit]
        target, fitting = NAMES.index(move[:2]), {cell: _digits(state.grid, cell) for cell in empty}
        harder = sorted(
            (cell for cell in empty if cell != target and len(fitting[cell]) > 1),
            key=lambda cell: len(fitting[cell]) + FAR * self.random.random(),
        )
        tried = self.random.between(0, TRIED) * (self.random.below(3) > 0)
        lines = [f"{NAMES[cell]}: {' '.join(fitting[cell])}" for cell in (*harder[:tried], target)]
        if self.single and len(fitting[target]) > 1:
            lines += [f"{move[-1]} {unit}" for unit in _only_in(state.grid, target, int(move[-1]))[:1]]
        return lines

    def choose(self, state: SudokuState) -> str:
        grid = state.grid
        solved = solve(grid)
        if solved is None:
            return state.legal(SEAT).sample(self.random)
        empty = [cell for cell, digit in enumerate(grid) if not digit]
        rank = {c: (candidates(grid, c).bit_count(), sum(not grid[peer] for peer in PEERS[c])) for c in empty}
        least = min(rank.values())
        cells = [cell for cell in empty if rank[cell] == least]
        if self.single and least[0] > 1:
            cells = [cell for cell in empty if _only_in(grid, cell, solved[cell])] or cells
        cell = self.random.choice(cells)
        return f"{NAMES[cell]}={solved[cell]}"


TRIED, FAR = 5, 2.0
"""Most cells that are named before the one that is filled. They are in the order of how many digits fit, but
cells that differ by fewer digits than `FAR` may change places."""


def _only_in(grid: Sequence[int], cell: int, digit: int) -> list[str]:
    """The units of a cell in which the digit fits no other."""
    rivals = [peer for peer in PEERS[cell] if not grid[peer] and candidates(grid, peer) >> digit & 1]
    units = {"row": ROW, "column": COLUMN, "box": BOX}
    return [name for name, unit in units.items() if all(unit[peer] != unit[cell] for peer in rivals)]


def _digits(grid: Sequence[int], cell: int) -> list[str]:
    """The digits that may go into a cell, as they are written."""
    return [str(digit) for digit in DIGITS[candidates(grid, cell)]]


_SPELT = re.compile(r"(?:([A-I])\s?([1-9])|([1-9])\s?([A-I]))\s?[=:,-]?\s?([1-9])", re.IGNORECASE | re.ASCII)


class SudokuView(BoardView):
    """Rows are lettered A to I from the top, columns numbered from the left."""

    rows = columns = SIDE
    codes = {0: "empty", **{digit: str(digit) for digit in range(1, 10)}}
    marks = {**codes, 0: "."}
    inks = ("ink", "line", "accent")
    style = "lines"
    least_cell = 10

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        colour = get_theme(render.theme, seed).colour
        self._shade = hex_name(mix(colour("page"), colour("line"), 1, 6))
        self.grounds = ("page", self._shade)
        super().__init__(game, render, seed)

    def format(self, state: SudokuState, seat: str) -> PlaceFormat:
        return PlaceFormat()

    def squares(self, move: str) -> tuple[str]:
        return (move[:2],)

    def answers(self) -> list[str]:
        return [f"{cell}={digit}" for cell in self.cells() for digit in range(1, SIDE + 1)]

    def matrix(self, state: SudokuState) -> Matrix:
        return [state.grid[start : start + SIDE] for start in range(0, CELLS, SIDE)]

    def image(self, state: SudokuState, seat: str) -> Picture:
        return self._picture(self.matrix(state), state.placed)

    def text(self, state: SudokuState, seat: str) -> str:
        placed = ", ".join(NAMES[cell] for cell in sorted(state.placed)) or "none"
        return f"{super().text(state, seat)}\nPlaced since the start: {placed}."

    def draw(self, matrix: Matrix) -> Picture:
        return self._picture(matrix, ())

    def _picture(self, matrix: Matrix, placed: Collection[int]) -> Picture:
        canvas, px = self.board.canvas(), round(self.board.px * 0.66)
        since = frozenset(placed)
        for row, digits in enumerate(matrix):
            for column, digit in enumerate(digits):
                clue = row * SIDE + column not in since
                ground, ink = (self._shade, "ink") if clue else ("page", "accent")
                if digit and clue:
                    self.board.tint(canvas, row, column, ground)
                if digit:
                    self.board.put(canvas, row, column, self._sheet.text(str(digit), px, ink, ground, clue))
        # Thick lines around the boxes come last, since shading a cell would overwrite them.
        x, y, length = self.board.x, self.board.y, self.board.px * SIDE
        width = self._sheet.px(3.5 * self._sheet.theme.line_weight)
        for third in range(4):
            offset = third * 3 * self.board.px
            canvas.line(x, y + offset, x + length, y + offset, "line", width)
            canvas.line(x + offset, y, x + offset, y + length, "line", width)
        return canvas.picture()


@dataclass(frozen=True)
class PlaceFormat(ActionFormat):
    """A last line `Action: A1=5`; `A1 5`, `A1: 5`, `A15` and `1A=5` are read, too.

    Whether the digit may go there is for the state to say, which names the digit in the way.
    """

    def ask(self, legal: Legal) -> str:
        return f"End your reply with one line: {self.label}: <cell>=<digit>, as in {self.label}: A1=5"

    def _matches(self, names: Sequence[str], legal: Legal) -> Sequence[str | None]:
        hits = (_SPELT.fullmatch(name.translate(DASHES)) for name in names)
        return [f"{hit[1] or hit[4]}{hit[2] or hit[3]}={hit[5]}".upper() if hit else None for hit in hits]
