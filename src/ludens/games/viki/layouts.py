"""Layouts: where the areas of a kitchen are, how high they are, and what furniture stands in which.

There are 120 layouts, each derived from its number; the last 20 are held out for the split `layout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.core.random import stream
from ludens.games.viki.data import AREAS
from ludens.games.viki.scene import Area

COUNT = 120
HELD_OUT = 20
STYLES = 12
_HOMES = {
    "cabinet": ("kitchen work area", "room", "kitchen island area"),
    "drawer": ("kitchen work area", "kitchen island area", "table"),
    "sink": ("room", "kitchen work area"),
    "toaster": ("kitchen work area", "kitchen island area", "table"),
    "fridge": ("room", "kitchen work area"),
    "oven": ("kitchen work area", "room"),
    "cutting board": ("kitchen work area", "kitchen island area", "table"),
}
"""The areas in which furniture may stand."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A kitchen without things and robots."""

    name: str
    width: float
    depth: float
    areas: tuple[Area, ...]
    homes: dict[str, str]
    """The area of each piece of furniture."""


@lru_cache(maxsize=COUNT)
def layout(number: int) -> Layout:
    """The layout with this number, 0 to 119.

    Areas stand on a grid with at least 1.6 m between centres, so that no arm bridges two of them. In some
    layouts table and island are one area, the table.
    """
    random = stream(number, "viki", "layout")
    step_x, step_y = 1.8 + random.below(5) * 0.1, 1.6 + random.below(5) * 0.1
    names = ["kitchen work area", "table", "room", "rack", "ground"]
    if random.random() < 0.7:
        names.append("kitchen island area")
    slots = random.sample([(column, row) for column in range(4) for row in range(3)], len(names))
    areas = tuple(
        Area(
            name=name,
            x=round(1.0 + column * step_x, 2),
            y=round(1.0 + row * step_y, 2),
            width=round(1.0 + random.below(5) * 0.1, 1),
            depth=round(0.7 + random.below(4) * 0.1, 1),
            height=random.choice(AREAS[name]),
        )
        for name, (column, row) in zip(names, slots, strict=True)
    )
    homes = {kind: random.choice([name for name in where if name in names]) for kind, where in _HOMES.items()}
    return Layout(
        name=f"L{number:03}",
        width=round(2.0 + 3 * step_x, 2),
        depth=round(2.0 + 2 * step_y, 2),
        areas=areas,
        homes=homes,
    )
