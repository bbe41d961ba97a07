"""Kitchens: the five classic layouts of Overcooked-AI.

A cell is a whole number, counted row by row from the top left; people read it as `A1`, row A at the top and
column 1 on the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

FLOOR, COUNTER, POT, ONIONS, DISHES, HATCH = ".XPODS"

LAYOUTS = {
    "cramped_room": ("XXPXX", "O..2O", "X1..X", "XDXSX"),
    "asymmetric_advantages": ("XXXXXXXXX", "O.XSXOX.S", "X...P.1.X", "X2..P...X", "XXXDXDXXX"),
    "coordination_ring": ("XXXPX", "X.1.P", "D2X.X", "O...X", "XOSXX"),
    "forced_coordination": ("XXXPX", "O.X1P", "O2X.X", "D.X.X", "XXXSX"),
    "counter_circuit": ("XXXPPXXX", "X..2...X", "D.XXXX.S", "X..1...X", "XXXOOXXX"),
}
"""`1` and `2` are the floor cells on which chef_0 and chef_1 start."""


@dataclass(frozen=True)
class Kitchen:
    """A parsed layout."""

    rows: tuple[str, ...]

    @cached_property
    def width(self) -> int:
        """Cells in a row."""
        return len(self.rows[0])

    @cached_property
    def tiles(self) -> str:
        """One letter per cell."""
        return "".join(self.rows).replace("1", FLOOR).replace("2", FLOOR)

    @cached_property
    def starts(self) -> tuple[int, int]:
        """The starting cells of the chefs."""
        joined = "".join(self.rows)
        return joined.index("1"), joined.index("2")

    @cached_property
    def pots(self) -> tuple[int, ...]:
        """The cells with a pot."""
        return self.all(POT)

    @cached_property
    def steps(self) -> dict[str, int]:
        """The offset in cell numbers of a step in each direction."""
        return {"UP": -self.width, "DOWN": self.width, "RIGHT": 1, "LEFT": -1}

    def all(self, tile: str) -> tuple[int, ...]:
        """Every cell of this kind."""
        return tuple(cell for cell, kind in enumerate(self.tiles) if kind == tile)

    def name(self, cell: int) -> str:
        """The name of a cell."""
        row, column = divmod(cell, self.width)
        return f"{'ABCDEFGHI'[row]}{column + 1}"


@lru_cache(maxsize=len(LAYOUTS))
def kitchen(layout: str) -> Kitchen:
    """The kitchen of this name."""
    return Kitchen(LAYOUTS[layout])
