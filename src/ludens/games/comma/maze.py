"""Maze: lead a mouse to one of four spheres; the torus determines which."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import dist
from typing import Self

from PIL.ImageDraw import ImageDraw

from ludens.core.random import Stream
from ludens.draw import Canvas, Overlay, Sprite
from ludens.draw.palette import edge_of, letter_on, mix
from ludens.draw.shapes import fill_shape, letters
from ludens.games.boards import pointer
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, read_tables
from ludens.games.comma.view import Box, CommaView

Cell = tuple[int, int]
"""Row and column, counted from 0 at the top left."""

COLOURS = ("green", "blue", "red", "yellow")
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@dataclass(frozen=True)
class MazePlan:
    """The walls of a maze, and its spheres and torus."""

    free: frozenset[Cell]
    spheres: tuple[Cell, ...]
    """In the order of `COLOURS`."""
    torus: Cell
    size: int

    def step(self, cell: Cell, direction: str) -> Cell:
        """Where a move leads: the same cell when a wall is in the way."""
        down, right = MOVES[direction]
        goal = cell[0] + down, cell[1] + right
        return goal if goal in self.free else cell

    def sphere(self, colour: str) -> Cell:
        return self.spheres[COLOURS.index(colour)]

    def path(self, start: Cell, goal: Cell) -> list[str]:
        came: dict[Cell, tuple[Cell, str] | None] = {start: None}
        queue = deque([start])
        while queue and goal not in came:
            cell = queue.popleft()
            for direction in MOVES:
                reached = self.step(cell, direction)
                if reached not in came:
                    came[reached] = cell, direction
                    queue.append(reached)
        moves: list[str] = []
        before = came[goal]
        while before is not None:
            moves.append(before[1])
            before = came[before[0]]
        return moves[::-1]


@lru_cache(maxsize=4096)
def distance(maze: MazePlan, start: Cell, goal: Cell) -> int:
    return len(maze.path(start, goal))


def read_maze(plan: tuple[str, ...]) -> MazePlan:
    cells = {(r, c): sign for r, row in enumerate(plan) for c, sign in enumerate(row)}
    where = {sign: cell for cell, sign in cells.items()}
    free = frozenset(cell for cell, sign in cells.items() if sign not in "#O")
    spheres = tuple(where[colour[0].upper()] for colour in COLOURS)
    return MazePlan(free, spheres, where["O"], len(plan))


MAZES = tuple(read_maze(tuple(plan.split())) for plan in read_tables(__file__)["plans"])
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
        return dict(self.goals)[torus][COLOURS.index(colour)]

    def blocks(self) -> tuple[Block, ...]:
        if len(set(dict(self.goals).values())) == 1:
            meaning = "The colour of the torus tells the colour of the sphere:"
            spheres = table(("Torus", "Sphere"), *zip(COLOURS, self.goals[0][1], strict=True))
        else:
            meaning = (
                "Colour and place of the torus tell the colour of the sphere. Rows are counted from the top, "
                "columns from the left, both from 1; the walls at the rim count."
            )
            head = ("Place of the torus", *(f"{colour} torus" for colour in COLOURS))
            spheres = table(head, *((place(cell), *colours) for cell, colours in self.goals))
        return read_blocks(__file__, spheres=f"{meaning}\n\n{spheres}")

    def advise(self, messages: Sequence[Facts]) -> Facts:
        colour, where = need(messages, _NEEDS)
        numbers = [int(number) - 1 for number in _NUMBER.findall(where)]
        if colour.lower() not in COLOURS:
            raise Unclear(f"A torus is {', '.join(COLOURS)}; not {colour!r}.")
        cells = [cell for cell, _ in self.goals if list(cell) == numbers]
        if not cells:
            places = "; ".join(place(cell) for cell, _ in self.goals)
            raise Unclear(f"A torus is at one of these places: {places}.")
        return {"sphere": self.right(cells[0], colour.lower())}


PUBLISHED = MazeManual(tuple((maze.torus, ("blue", "red", "green", "yellow")) for maze in MAZES))


def draw_manual(random: Stream) -> MazeManual:
    """For every place of the torus, another pairing of colours, in the order of the places."""
    cells = sorted(maze.torus for maze in MAZES)
    return MazeManual(tuple((cell, tuple(random.sample(COLOURS, len(COLOURS)))) for cell in cells))


def _spot(cell: Cell) -> str:
    """Where a cell is in the picture: column and row in twentieths."""
    x, y = LEFT + CELL * (cell[1] + 0.5), TOP + CELL * (cell[0] + 0.5)
    return pointer(x / UNITS, y / UNITS, fine=True)


class MazePanel(Puzzle[MazeManual]):
    """A mouse that moves; checking its position anywhere but at the goal returns it to the start."""

    asks = "sphere = <colour of the sphere>"
    actions = (*(f"move_{direction}" for direction in MOVES), "check_position")

    def set_up(self) -> None:
        random = self.random
        self.maze = PUBLISHED_MAZE if self.released else random.choice(MAZES)
        self.torus = random.choice(COLOURS)
        # The released starts include the goal; here the start is never the goal.
        spheres = () if self.released else self.maze.spheres
        self.start = random.choice(sorted(self.maze.free.difference(spheres)))
        self.mouse = self.start

    @property
    def goal(self) -> tuple[int, int]:
        return self.maze.sphere(self.manual.right(self.maze.torus, self.torus))

    def act(self, action: str) -> Outcome:
        if action == "check_position":
            if self.mouse == self.goal:
                return "solved"
            self.mouse = self.start
            return "mistake"
        before, self.mouse = self.mouse, self.maze.step(self.mouse, action.removeprefix("move_"))
        return "nothing" if self.mouse == before else "done"

    @property
    def progress(self) -> float:
        if self.released:
            far = dist(self.start, self.goal)
            return abs(far - dist(self.mouse, self.goal)) / far if far else 0.0
        way = distance(self.maze, self.start, self.goal)
        return max(0, way - distance(self.maze, self.mouse, self.goal)) / (way + 1)

    def describe(self) -> str:
        size = range(self.maze.size)
        signs = {cell: colour[0].upper() for colour, cell in zip(COLOURS, self.maze.spheres, strict=True)}
        signs |= {cell: "." for cell in self.maze.free if cell not in signs} | {self.maze.torus: "O"}
        rows = ["".join(signs.get((row, column), "#") for column in size) for row in size]
        head = "The maze (# wall, . free, O torus, G B R Y green, blue, red and yellow sphere):"
        torus, mouse = f"The torus is {self.torus}.", f"The mouse is at {place(self.mouse)}."
        return "\n".join([head, *rows, torus, mouse])

    def tell(self) -> Facts:
        return {"torus": self.torus, "place": place(self.maze.torus)}

    def apart(self, other: Self) -> bool:
        """From one place of one maze, the same moves lead to one place."""
        return (self.maze, self.mouse) == (other.maze, other.mouse) and self.goal != other.goal

    def working(self) -> Sequence[str]:
        """The sphere, where it is in the picture, and where the mouse is before each move."""
        cell, steps = self.mouse, list[str]()
        for direction in self.maze.path(self.mouse, self.goal):
            steps.append(f"{_spot(cell)} {direction}")
            cell = self.maze.step(cell, direction)
        sphere = self.manual.right(self.maze.torus, self.torus)
        return [f"sphere = {sphere}", f"{_spot(self.goal)} {sphere}", " ".join([*steps, _spot(cell)])]

    def follow(self, advice: Facts) -> Sequence[str]:
        colour = advice.get("sphere")
        if colour not in COLOURS:
            return []
        path = self.maze.path(self.mouse, self.maze.sphere(colour))
        return [*(f"move_{direction}" for direction in path), "check_position"]


@dataclass(frozen=True)
class Maze(Comma):
    """Lead a mouse through a maze to the right one of four spheres.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the maze from above with torus, spheres and mouse, the serial
        number, the status light, mistakes and turns, and reads its actions, their results and the
        conversation; the Expert reads the manual and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `move_up`, `move_down`, `move_left` or `move_right`
        moves the mouse by one square unless there is a wall; `check_position` claims that it has arrived. A
        wrong claim is a mistake and takes the mouse back to its start.
    Rewards: both seats get the partial score: (n - k) / (n + 1), where n is the number of moves from the
        start to the goal and k the smallest number of moves from the mouse to the goal after any message;
        the last step is the claim. Where the mouse is in the middle of a message does not count, or running
        through the whole maze would be worth most of the score.
    Manuals: the standard one goes by the colour of the torus; random ones by its colour and place.
    Released: always the same maze, a start on any free square, and as partial score the change of the
        straight-line distance to the goal over that distance at the start, whichever way it changed (so it
        can be more than 1, and 1 at the goal without a claim).
    """

    name = "comma/maze"
    view_class = "ludens.games.comma.maze:MazeView"
    skills = ("grounding", "multi-step")
    published = PUBLISHED
    puzzle_class = MazePanel
    random_manual = staticmethod(draw_manual)


LEFT, TOP, CELL, UNITS = 66, 100, 44, 512
"""Position of the first cell, size of a cell and of the picture, in units."""
WALL, FREE = "#3d4450", "white"


class MazeView(CommaView):
    """Dark walls and white corridors, numbered at the edge; spheres are shiny discs, the torus is a ring."""

    inks = (*COLOURS, "white", "gray", WALL)
    grounds = ("page", "panel", FREE, WALL)

    def boxes(self, box: Box, puzzle: MazePanel) -> Mapping[str, Box]:
        """The cells beside the mouse, and its own to check the position."""
        row, column = puzzle.mouse
        cells = {f"move_{way}": (row + down, column + right) for way, (down, right) in MOVES.items()}
        cells["check_position"] = puzzle.mouse
        lines = set(range(puzzle.maze.size))
        inside = {action: cell for action, cell in cells.items() if lines.issuperset(cell)}
        return {action: (*self.corner(cell), self.cell, self.cell) for action, cell in inside.items()}

    def draw(self, canvas: Canvas, box: Box, puzzle: MazePanel) -> None:
        sheet, maze = self.sheet, puzzle.maze
        canvas.place(self._plan(maze), sheet.px(LEFT), sheet.px(TOP))
        px, size = sheet.px, sheet.font_px(13)
        for line in range(maze.size):
            along, label = line * self.cell + self.cell // 2, str(line + 1)
            canvas.text(px(LEFT) + along, px(TOP - 13), label, size, "muted", anchor="mm")
            canvas.text(px(LEFT - 15), px(TOP) + along, label, size, "muted", anchor="mm")
        canvas.place(self.ring(puzzle.torus), *self.corner(maze.torus))
        x, y = self.corner(puzzle.mouse)
        canvas.place(self.mouse, x, y)
        if puzzle.mouse in maze.spheres:
            letter = sheet.theme.letter(COLOURS[maze.spheres.index(puzzle.mouse)])
            if letter:
                canvas.text(x + 2, y + 1, letter, sheet.font_px(14), "black", FREE, "lt", bold=True)

    @property
    def cell(self) -> int:
        return self.sheet.px(CELL)

    def corner(self, cell: Cell) -> tuple[int, int]:
        return self.sheet.px(LEFT) + cell[1] * self.cell, self.sheet.px(TOP) + cell[0] * self.cell

    def _plan(self, maze: MazePlan) -> Sprite:
        sheet, cell, side = self.sheet, self.cell, self.cell * maze.size

        def paint(draw: ImageDraw, s: float) -> None:
            for row, column in maze.free:
                x, y = column * cell * s, row * cell * s
                draw.rectangle((x, y, x + cell * s - 1, y + cell * s - 1), sheet.rgb(FREE))
            for line in range(1, maze.size):
                at, end = line * cell * s, side * s
                draw.line((at, 0, at, end), sheet.rgb("gray"), round(s))
                draw.line((0, at, end, at), sheet.rgb("gray"), round(s))
            for colour, (row, column) in zip(COLOURS, maze.spheres, strict=True):
                self._ball(draw, colour, (column + 0.5) * cell * s, (row + 0.5) * cell * s, cell * s * 0.41)

        return sheet.sprite(("comma maze", maze), side, side, WALL, paint)

    def _ball(self, draw: ImageDraw, colour: str, x: float, y: float, r: float) -> None:
        theme, fill = self.sheet.theme, self.sheet.rgb(colour)
        fill_shape(draw, "disc", x, y, r, edge_of(fill, self.sheet.rgb(FREE)))
        fill_shape(draw, "disc", x, y, r * 0.92, fill)
        if not theme.lettered:
            fill_shape(draw, "disc", x - r * 0.34, y - r * 0.4, r * 0.2, mix(fill, (255, 255, 255), 3, 5))
        letters(draw, theme.letter(colour), x, y, r * 1.2, r * 1.1, letter_on(fill))

    def ring(self, colour: str) -> Sprite:
        sheet, side = self.sheet, self.cell
        fill, light = sheet.rgb(colour), (255, 255, 255)

        def paint(draw: ImageDraw, s: float) -> None:
            r = side * s / 2
            for part, hue in ((0.96, light), (0.9, fill), (0.6, light), (0.54, sheet.rgb(WALL))):
                fill_shape(draw, "disc", r, r, r * part, hue)
            letters(draw, sheet.theme.letter(colour), r, r, r * 0.9, r * 0.86, light)

        return sheet.sprite(("comma torus", colour), side, side, WALL, paint)

    @property
    def mouse(self) -> Overlay:
        """A grey head with two ears, small enough to leave the edge of a sphere visible."""
        sheet, side = self.sheet, self.cell

        def paint(draw: ImageDraw, s: float) -> None:
            w = side * s
            for grow, hue in ((0.035, "black"), (0.0, "gray")):
                for x, y, r in ((0.36, 0.36, 0.115), (0.64, 0.36, 0.115), (0.5, 0.54, 0.2)):
                    radius = w * (r + grow)
                    box = (w * x - radius, w * y - radius, w * x + radius, w * y + radius)
                    draw.ellipse(box, sheet.rgb(hue))
            for x in (0.43, 0.57):
                draw.ellipse((w * x - w * 0.03, w * 0.47, w * x + w * 0.03, w * 0.53), sheet.rgb("black"))
            draw.ellipse((w * 0.46, w * 0.6, w * 0.54, w * 0.67), sheet.rgb("black"))

        return sheet.overlay("comma mouse", side, side, paint)
