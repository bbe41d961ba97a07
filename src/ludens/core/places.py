"""Where actions are on a picture, so that people can click on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self


class Place(NamedTuple):
    """A rectangle on a picture, in fractions of its width and height; (0, 0) is the top left corner."""

    x: float
    y: float
    width: float
    height: float

    @classmethod
    def of_pixels(cls, box: tuple[int, int, int, int], width: int, height: int) -> Self:
        """The place of a box (x, y, width, height) in pixels on a picture of this width and height."""
        return cls(box[0] / width, box[1] / height, box[2] / width, box[3] / height)

    def pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The box (x, y, width, height) in pixels on a picture of this width and height."""
        left, top = round(self.x * width), round(self.y * height)
        right, bottom = round((self.x + self.width) * width), round((self.y + self.height) * height)
        return left, top, right - left, bottom - top


Places = Mapping[str, tuple[Place, ...]]
"""For each action that can be clicked, the places to click in order: a cell, or from and to for a piece.

Where several actions have the same places (promotions, the digits of a cell), the player chooses among them
after the last click.
"""


def places_to_json(places: Places) -> dict[str, Any]:
    """Plain values for a browser: each rectangle once in `places`, and for each action their indices."""
    numbers: dict[Place, int] = {}
    actions = {
        action: [numbers.setdefault(place, len(numbers)) for place in path] for action, path in places.items()
    }
    return {"places": [[round(value, 6) for value in place] for place in numbers], "actions": actions}
