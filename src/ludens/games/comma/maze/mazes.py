"""The mazes: the published one and seven more, each with its torus at a place of its own.

`#` is a wall, `.` is free, `O` is the torus (a wall, too), and letters are the spheres.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

Cell = tuple[int, int]
"""Row and column, counted from 0 at the top left."""

COLOURS = ("green", "blue", "red", "yellow")
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

_PLANS = """
#.####### ######### ######### #########
#G#...#B# #..Y....# #....B..# #..Y..#.#
#.#.#.#.# #.#.O.#.# #.#.##### #.###.#.#
#...#...# #.#.#.#.# #.#Y....# #G#.#..B#
###.O##.# #.#.###.# #.O##.#.# #.#.###.#
#.....#.# #R#..G..# #R..#.#.# #.#...#.#
#.###.#.# #.#####.# ###.#.#.# #.#.O.#.#
#R..#..Y# #.....#B# #....G#.# #..R#...#
###.##### ######### ######### #########

######### ######### ######### #########
#.#Y....# #Y...G..# #..G#...# #..G#..B#
#.#.#.#.# ##O####.# #.#.###.# #.####O.#
#.#.#G..# #...#...# #.#..R#.# #.#.....#
#.####O.# #.#.#.#.# #.###.#.# #.#.#####
#.......# #.#R#.#.# #.....#.# #R..#...#
#######.# #.#.#.#.# #.####O.# #.#.###.#
#B.....R# #.#..B..# #B.....Y# #....Y..#
######### ######### ######### #########
"""


@dataclass(frozen=True)
class Maze:
    """Where the mouse can go, and where spheres and torus are."""

    free: frozenset[Cell]
    spheres: tuple[Cell, ...]
    """In the order of `COLOURS`."""
    torus: Cell
    size: int

    def step(self, cell: Cell, direction: str) -> Cell:
        """Where a move leads: nowhere when a wall is in the way."""
        down, right = MOVES[direction]
        there = cell[0] + down, cell[1] + right
        return there if there in self.free else cell

    def sphere(self, colour: str) -> Cell:
        """Where the sphere of a colour is."""
        return self.spheres[COLOURS.index(colour)]

    def path(self, start: Cell, goal: Cell) -> list[str]:
        """The moves of a shortest way."""
        came: dict[Cell, tuple[Cell, str] | None] = {start: None}
        queue = deque([start])
        while queue and goal not in came:
            cell = queue.popleft()
            for direction in MOVES:
                there = self.step(cell, direction)
                if there not in came:
                    came[there] = cell, direction
                    queue.append(there)
        moves: list[str] = []
        before = came[goal]
        while before is not None:
            moves.append(before[1])
            before = came[before[0]]
        return moves[::-1]


@lru_cache(maxsize=4096)
def distance(maze: Maze, start: Cell, goal: Cell) -> int:
    """The number of moves of a shortest way."""
    return len(maze.path(start, goal))


def read_maze(plan: tuple[str, ...]) -> Maze:
    """A maze from its rows."""
    cells = {(r, c): sign for r, row in enumerate(plan) for c, sign in enumerate(row)}
    where = {sign: cell for cell, sign in cells.items()}
    return Maze(
        frozenset(cell for cell, sign in cells.items() if sign not in "#O"),
        tuple(where[colour[0].upper()] for colour in COLOURS),
        where["O"],
        len(plan),
    )


def _read() -> tuple[Maze, ...]:
    shelves = [[line.split() for line in shelf.split("\n")] for shelf in _PLANS.strip().split("\n\n")]
    return tuple(read_maze(plan) for shelf in shelves for plan in zip(*shelf, strict=True))


MAZES = _read()
PUBLISHED_MAZE = MAZES[0]
