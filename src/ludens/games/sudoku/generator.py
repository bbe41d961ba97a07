"""Sudoku grids: solving them, and generating puzzles with exactly one solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ludens.core.random import Stream, stream

SIDE, CELLS = 9, 81
ROW = tuple(cell // 9 for cell in range(CELLS))
COLUMN = tuple(cell % 9 for cell in range(CELLS))
BOX = tuple(cell // 27 * 3 + cell % 9 // 3 for cell in range(CELLS))
NAMES = tuple("ABCDEFGHI"[ROW[cell]] + "123456789"[COLUMN[cell]] for cell in range(CELLS))
NUMBER = {name: cell for cell, name in enumerate(NAMES)}
PEERS = tuple(
    tuple(
        other
        for other in range(CELLS)
        if other != cell
        and (ROW[other] == ROW[cell] or COLUMN[other] == COLUMN[cell] or BOX[other] == BOX[cell])
    )
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
    taken = 0
    for peer in PEERS[cell]:
        taken |= 1 << grid[peer]
    return ALL & ~taken


Grid = tuple[int, ...]


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
    """The first of the solutions, or None."""
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
class Puzzle:
    """The clues, and the solution."""

    clues: Grid
    solution: Grid


@lru_cache(maxsize=1024)
def puzzle(seed: int, clues: int) -> Puzzle:
    """The puzzle of a seed with this many clues; 0 lets the seed choose."""
    random = stream(seed, "puzzle")
    wanted = clues or random.between(HARD, EASY)
    while True:
        solution = full_grid(random)
        if (dug := _remove_clues(solution, wanted, random)) is not None:
            return Puzzle(dug, solution)


def full_grid(random: Stream) -> Grid:
    """A random solved grid: three independent boxes are filled at random, the rest is solved."""
    cells = [0] * CELLS
    digits = list(range(1, 10))
    for corner in (0, 30, 60):
        random.shuffle(digits)
        for place, digit in enumerate(digits):
            cells[corner + place // 3 * 9 + place % 3] = digit
    random.shuffle(digits)
    found = solve(cells, digits)
    assert found is not None, "three such boxes can always be completed"
    return found


def _remove_clues(solution: Grid, wanted: int, random: Stream) -> Grid | None:
    """Remove digits in random order while the solution stays unique; None when too many must stay."""
    cells, left = list(solution), CELLS
    order = list(range(CELLS))
    random.shuffle(order)
    for cell in order:
        if left == wanted:
            break
        digit, cells[cell] = cells[cell], 0
        if _unique(cells, cell, digit):
            left -= 1
        else:
            cells[cell] = digit
    return tuple(cells) if left == wanted else None


def _unique(cells: list[int], cell: int, digit: int) -> bool:
    """Whether no solution has another digit in this cell, given that one has this digit."""
    others = candidates(cells, cell) & ~(1 << digit)
    for other in DIGITS[others]:
        cells[cell] = other
        if solve(cells) is not None:
            cells[cell] = 0
            return False
    cells[cell] = 0
    return True
