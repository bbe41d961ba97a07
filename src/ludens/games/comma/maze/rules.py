"""The panel with a mouse in a maze, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import dist

from ludens.games.comma.dialogue import Comma
from ludens.games.comma.maze.manual import (
    COLOURS,
    MAZES,
    MOVES,
    PUBLISHED,
    PUBLISHED_MAZE,
    MazeManual,
    distance,
    draw_manual,
    place,
)
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting


class MazePanel(Puzzle[MazeManual]):
    """A mouse that moves; checking its position anywhere but at the goal returns it to the start."""

    asks = "sphere = <colour of the sphere>"
    actions = (*(f"move_{direction}" for direction in MOVES), "check_position")

    def __init__(self, manual: MazeManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        self.maze = PUBLISHED_MAZE if self.released else random.choice(MAZES)
        self.torus = random.choice(COLOURS)
        # The released starts include the goal; here the start is never the goal.
        taken = () if self.released else self.maze.spheres
        self.start = random.choice(sorted(self.maze.free.difference(taken)))
        self.mouse = self.start

    @property
    def goal(self) -> tuple[int, int]:
        """The cell of the right sphere."""
        return self.maze.sphere(self.manual.right(self.maze.torus, self.torus))

    def act(self, action: str) -> Outcome:
        if action == "check_position":
            if self.mouse == self.goal:
                return "solved"
            self.mouse = self.start
            return "mistake"
        there = self.maze.step(self.mouse, action.removeprefix("move_"))
        if there == self.mouse:
            return "nothing"
        self.mouse = there
        return "done"

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
        return "\n".join(
            [
                "The maze (# wall, . free, O torus, G B R Y green, blue, red and yellow sphere):",
                *rows,
                f"The torus is {self.torus}.",
                f"The mouse is at {place(self.mouse)}.",
            ]
        )

    def tell(self, advice: Facts) -> Facts:
        return {"torus": self.torus, "place": place(self.maze.torus)}

    def follow(self, advice: Facts) -> Sequence[str]:
        colour = advice.get("sphere")
        if colour not in COLOURS:
            return []
        path = self.maze.path(self.mouse, self.maze.sphere(colour))
        return [*(f"move_{direction}" for direction in path), "check_position"]


@dataclass(frozen=True)
class Maze(Comma):
    """Lead a mouse through a maze to the right one of four spheres.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
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
    view_class = "ludens.games.comma.maze.view:MazeView"
    skills = ("grounding", "multi-step")
    published = PUBLISHED
    puzzle_class = MazePanel
    random_manual = staticmethod(draw_manual)
