"""Clues that bots give: true sentences about a scene, in words that the clue checker reads."""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.spy.meaning import MIDDLE
from ludens.games.spy.scene import Object

THERE_IS = "There is a "


def named(thing: Object) -> str:
    """That there is such an object."""
    return THERE_IS + thing.name


def related(first: Object, second: Object) -> str:
    """Which of two objects is farther left."""
    side = "left" if first.x < second.x else "right"
    return f"The {first.name} is to the {side} of the {second.name}"


def placed(thing: Object) -> Iterator[str]:
    """In which halves of the floor an object is."""
    sides = {
        "on the left": -thing.x,
        "on the right": thing.x,
        "in the front": -thing.y,
        "in the back": thing.y,
    }
    for words, value in sides.items():
        if value > MIDDLE:
            yield f"The {thing.name} is {words}"
