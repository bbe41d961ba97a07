"""The grid of Sudoku: 81 cells by number, what they are called, and which may not hold the same digit.

Cell 0 is A1, cell 8 is A9, cell 80 is I9. A grid is a sequence of 81 digits, 0 where a cell is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

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
"""For every cell the 20 others in its row, column and box."""

DIGITS = tuple(tuple(digit for digit in range(1, 10) if mask >> digit & 1) for mask in range(1 << 10))
"""The digits in a mask: bit 5 stands for the digit 5."""
ALL = 0b1111111110

Units = tuple[list[int], list[int], list[int]]
"""Digits still to be placed, as masks, by row, column and box."""


def open_digits(grid: Sequence[int]) -> Units | None:
    """What every row, column and box still lacks; None when one of them holds a digit twice."""
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
    """The digits that may go into a cell without standing twice in its row, column or box, as a mask."""
    taken = 0
    for peer in PEERS[cell]:
        taken |= 1 << grid[peer]
    return ALL & ~taken
