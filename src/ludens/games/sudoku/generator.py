"""Puzzles with exactly one solution: a full grid from which digits are taken while it stays the only one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.core.random import Stream, stream
from ludens.games.sudoku.grid import CELLS, DIGITS, candidates
from ludens.games.sudoku.solver import Grid, solve

FEWEST, MOST = 25, 80
"""Fewer than 25 clues are rare when digits are taken at random; 81 would leave nothing to do."""
EASY, HARD = 45, 26
"""Between which numbers of clues the seed chooses where nobody else does."""


@dataclass(frozen=True)
class Puzzle:
    """The clues, and the one grid they lead to."""

    clues: Grid
    solution: Grid


@lru_cache(maxsize=1024)
def puzzle(seed: int, clues: int) -> Puzzle:
    """The puzzle of a seed with so many clues; 0 lets the seed choose."""
    random = stream(seed, "puzzle")
    wanted = clues or random.between(HARD, EASY)
    while True:
        solution = full_grid(random)
        if (dug := _dig(solution, wanted, random)) is not None:
            return Puzzle(dug, solution)


def full_grid(random: Stream) -> Grid:
    """A random solved grid: three boxes that do not touch are filled at will, the rest follows."""
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


def _dig(solution: Grid, wanted: int, random: Stream) -> Grid | None:
    """Take digits in random order where none but the same digit could stand; None when too many must stay."""
    cells, left = list(solution), CELLS
    order = list(range(CELLS))
    random.shuffle(order)
    for cell in order:
        if left == wanted:
            break
        digit, cells[cell] = cells[cell], 0
        if _only(cells, cell, digit):
            left -= 1
        else:
            cells[cell] = digit
    return tuple(cells) if left == wanted else None


def _only(cells: list[int], cell: int, digit: int) -> bool:
    """Whether no solution has another digit in this cell, given that one has this digit."""
    others = candidates(cells, cell) & ~(1 << digit)
    for other in DIGITS[others]:
        cells[cell] = other
        if solve(cells) is not None:
            cells[cell] = 0
            return False
    cells[cell] = 0
    return True
