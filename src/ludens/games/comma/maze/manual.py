"""The Maze manual: the goal by the colour of the torus, and in random manuals by its place as well."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

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
    """The walls of a maze, and its spheres and torus."""

    free: frozenset[Cell]
    spheres: tuple[Cell, ...]
    """In the order of `COLOURS`."""
    torus: Cell
    size: int

    def step(self, cell: Cell, direction: str) -> Cell:
        """Where a move leads: the same cell when a wall is in the way."""
        down, right = MOVES[direction]
        there = cell[0] + down, cell[1] + right
        return there if there in self.free else cell

    def sphere(self, colour: str) -> Cell:
        """The cell of the sphere of a colour."""
        return self.spheres[COLOURS.index(colour)]

    def path(self, start: Cell, goal: Cell) -> list[str]:
        """The moves of a shortest path."""
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
    """The length of a shortest path."""
    return len(maze.path(start, goal))


def read_maze(plan: tuple[str, ...]) -> Maze:
    """Parse a maze from its rows."""
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


_NEEDS = {"torus": "the colour of the torus", "place": "the row and the column of the torus, counted from 1"}
_NUMBER = re.compile(r"[0-9]{1,2}")


def place(cell: Cell) -> str:
    """A cell in words, counted from 1 as on the panel."""
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


@dataclass(frozen=True)
class MazeManual(Manual):
    """For every place of the torus, the colours of the spheres, in the order of the torus's `COLOURS`."""

    goals: tuple[tuple[Cell, tuple[str, ...]], ...]

    def right(self, torus: Cell, colour: str) -> str:
        """The colour of the sphere where the mouse must go."""
        return dict(self.goals)[torus][COLOURS.index(colour)]

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "A panel shows a maze from above. Dark squares are walls. Somewhere in the walls there is a "
            "coloured ring, the torus, and in the free squares lie four coloured spheres. The mouse, a small "
            "grey animal, must be led to one of the spheres; there the Solver must check its position. "
            "Checking anywhere else is a mistake and takes the mouse back to where it started. Running "
            "against a wall does no harm. The Solver can see the whole maze, but not which sphere is meant."
        )
        rows = dict(self.goals)
        if len(set(rows.values())) == 1:
            told = "The colour of the torus tells the colour of the sphere:"
            table = Grid((("Torus", "Sphere"), *zip(COLOURS, self.goals[0][1], strict=True)))
        else:
            told = (
                "Colour and place of the torus tell the colour of the sphere. Rows are counted from the top, "
                "columns from the left, both from 1; the walls at the rim count."
            )
            head = ("Place of the torus", *(f"{colour} torus" for colour in COLOURS))
            table = Grid((head, *((place(cell), *spheres) for cell, spheres in self.goals)))
        return (Heading("Maze"), Paragraph(intro), Heading("Which sphere"), Paragraph(told), table)

    def advise(self, told: Sequence[Facts]) -> Facts:
        colour, where = need(told[-1] if told else {}, _NEEDS)
        numbers = [int(number) - 1 for number in _NUMBER.findall(where)]
        if colour.lower() not in COLOURS:
            raise Unclear(f"A torus is {', '.join(COLOURS)}; not {colour!r}.")
        known = [cell for cell, _ in self.goals if list(cell) == numbers]
        if not known:
            places = "; ".join(place(cell) for cell, _ in self.goals)
            raise Unclear(f"A torus is at one of these places: {places}.")
        return {"sphere": self.right(known[0], colour.lower())}


PUBLISHED = MazeManual(tuple((maze.torus, ("blue", "red", "green", "yellow")) for maze in MAZES))


def draw_manual(random: Stream) -> MazeManual:
    """For every place of the torus, another pairing of colours, in the order of the places."""
    cells = sorted(maze.torus for maze in MAZES)
    return MazeManual(tuple((cell, tuple(random.sample(COLOURS, len(COLOURS)))) for cell in cells))
