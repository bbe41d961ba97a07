"""Which sphere is the goal: by the colour of the torus, and in random manuals by its place as well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.maze.mazes import COLOURS, MAZES, Cell
from ludens.games.comma.puzzle import Facts, Manual, Unclear

_NEEDS = {"torus": "the colour of the torus", "place": "the row and the column of the torus, counted from 1"}
_NUMBER = re.compile(r"[0-9]{1,2}")


def place(cell: Cell) -> str:
    """A cell in words, counted from 1 as on the panel's rim."""
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


@dataclass(frozen=True)
class MazeManual(Manual):
    """For every place of the torus the colours of the spheres, in the order of the torus's `COLOURS`."""

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
    """For every place of the torus another pairing of colours, in the order of the places."""
    cells = sorted(maze.torus for maze in MAZES)
    return MazeManual(tuple((cell, tuple(random.sample(COLOURS, len(COLOURS)))) for cell in cells))
