"""An exact solver: bitmasks, and always the cell with the fewest digits left to choose from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ludens.games.sudoku.grid import BOX, COLUMN, DIGITS, ROW, Units, open_digits

Grid = tuple[int, ...]


def solutions(grid: Sequence[int], most: int = 2) -> list[Grid]:
    """The first solutions of a grid, `most` at the most; none when the grid already breaks a rule."""
    units = open_digits(grid)
    if units is None:
        return []
    empty = [cell for cell, digit in enumerate(grid) if not digit]
    return list(islice(_fill(list(grid), units, empty, DIGITS), most))


def solve(grid: Sequence[int], order: Sequence[int] | None = None) -> Grid | None:
    """A solution, or None when there is none; `order` says which digits are tried first."""
    units = open_digits(grid)
    if units is None:
        return None
    tried = DIGITS
    if order is not None:
        tried = tuple(tuple(d for d in order if mask >> d & 1) for mask in range(1 << 10))
    empty = [cell for cell, digit in enumerate(grid) if not digit]
    return next(_fill(list(grid), units, empty, tried), None)


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
