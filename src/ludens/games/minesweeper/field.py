"""The field of Minesweeper: cells by number, their neighbours, their names, and what can be seen of them.

What can be seen is a tuple with one code a cell: -1 hidden, 0 to 8 open with so many mines around, 9 a mine.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from string import ascii_uppercase

HIDDEN, MINE = -1, 9

Seen = tuple[int, ...]


@lru_cache(maxsize=64)
def neighbours(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """For every cell the up to eight cells that touch it."""
    return tuple(
        tuple(
            r * columns + c
            for r in range(max(0, row - 1), min(rows, row + 2))
            for c in range(max(0, column - 1), min(columns, column + 2))
            if (r, c) != (row, column)
        )
        for row in range(rows)
        for column in range(columns)
    )


@lru_cache(maxsize=64)
def names(rows: int, columns: int) -> tuple[str, ...]:
    """What the cells are called, row by row: A1, A2, ..."""
    return tuple(f"{ascii_uppercase[row]}{column + 1}" for row in range(rows) for column in range(columns))


def around(mines: Collection[int], touching: tuple[int, ...]) -> int:
    """How many of these cells hold a mine."""
    return sum(cell in mines for cell in touching)


def spread(mines: Collection[int], cell: int, touching: tuple[tuple[int, ...], ...]) -> dict[int, int]:
    """What opening a safe cell shows: itself, and wherever no mine is near, everything around."""
    shown: dict[int, int] = {}
    waiting = [cell]
    while waiting:
        here = waiting.pop()
        if here not in shown:
            shown[here] = around(mines, touching[here])
            if not shown[here]:
                waiting += touching[here]
    return shown
