"""The 5x5 grid: cells, the five actions, and tables of where they lead.

A cell is a whole number, counted row by row from the top left; people read it as `A1` to `E5`, rows A to E
from the top and columns 1 to 5 from the left.
"""

from __future__ import annotations

from functools import lru_cache

from ludens.core.legal import Legal

SIDE = 5
CELLS = SIDE * SIDE
MIDDLE = CELLS // 2

ACTIONS = Legal(("STAY", "RIGHT", "LEFT", "UP", "DOWN"))

_MOVES = {"STAY": (0, 0), "RIGHT": (0, 1), "LEFT": (0, -1), "UP": (-1, 0), "DOWN": (1, 0)}


def _clipped(place: int) -> int:
    return min(max(place, 0), SIDE - 1)


def _after(cell: int, action: str) -> int:
    (row, column), (down, right) = divmod(cell, SIDE), _MOVES[action]
    return _clipped(row + down) * SIDE + _clipped(column + right)


def _apart(one: int, other: int) -> int:
    return abs(one // SIDE - other // SIDE) + abs(one % SIDE - other % SIDE)


AFTER = {action: tuple(_after(cell, action) for cell in range(CELLS)) for action in ACTIONS}
"""`AFTER[action][cell]`: where the action leads; a move off the grid stays."""

DISTANCE = tuple(tuple(_apart(here, there) for there in range(CELLS)) for here in range(CELLS))
"""`DISTANCE[here][there]`: steps between two cells."""

TOWARD = tuple(
    tuple(
        tuple(a for a in ACTIONS if DISTANCE[AFTER[a][here]][there] < DISTANCE[here][there]) or ("STAY",)
        for there in range(CELLS)
    )
    for here in range(CELLS)
)
"""`TOWARD[here][there]`: the actions that come nearer, one or two of them; `STAY` when there."""


@lru_cache(maxsize=CELLS * CELLS)
def around(goal: int, wall: int) -> tuple[int, ...]:
    """For every cell, the steps to the goal without entering the wall; infinite for the wall itself."""
    steps, edge, reached = {goal: 0}, {goal}, 0
    while edge:
        reached += 1
        edge = {AFTER[action][cell] for cell in edge for action in ACTIONS} - steps.keys() - {wall}
        steps |= dict.fromkeys(edge, reached)
    return tuple(steps.get(cell, CELLS) for cell in range(CELLS))


def name(cell: int) -> str:
    """The name of a cell: `A1` is the top left, `E5` the bottom right."""
    return f"{'ABCDE'[cell // SIDE]}{cell % SIDE + 1}"
