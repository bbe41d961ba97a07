"""Clues that bots give: true sentences about a scene, in words that the clue checker reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ludens.games.spy.meaning import MIDDLE
from ludens.games.spy.scene import ATTRIBUTES, Object

THERE_IS = "There is a "
_NAME = re.compile(" ".join(f"(?:{'|'.join(values)})" for values in ATTRIBUTES.values()))


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


def full_names(clue: str) -> list[str]:
    """The objects that a clue describes by all their attributes, in its order."""
    return _NAME.findall(clue)


def joined_names(text: str) -> str:
    """The text with each full name of an object as one word, `large_red_metal_cube`.

    A small model finds one token again, in a clue and in its list of what it sees; four it hardly does.
    """
    return _NAME.sub(lambda name: name[0].replace(" ", "_"), text)
