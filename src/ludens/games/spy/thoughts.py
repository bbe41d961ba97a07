"""What bots of the spy game say before a clue or a vote, step by step, so that a model can imitate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ludens.games.pointing import pointer
from ludens.games.spy.checker import check
from ludens.games.spy.flat import UNIT
from ludens.games.spy.phrases import THERE_IS, full_names, joined_names, named
from ludens.games.spy.rules import SpyState
from ludens.games.spy.scene import Object, Scene


def seen(mine: Scene) -> str:
    """The objects of a picture from left to right, with their places."""
    return ", ".join(f"{place_of(thing)} {joined_names(thing.name)}" for thing in _from_left(mine))


def place_of(thing: Object) -> str:
    """Where an object is in the picture."""
    return pointer(*(0.5 + units * UNIT / 512 for units in (thing.x, -thing.y)))


def checked(state: SpyState, mine: Scene) -> str:
    """Each clue in turn: the number of its player, the objects that it names with their places, and whether
    it is true, unless that is seen from these."""
    places = {thing.name: place_of(thing) for thing in mine.objects}
    return ", ".join(
        " ".join([str(state.speaker(index) + 1), *_found(clue, mine, places)])
        for index, clue in enumerate(state.clues)
    )


def _found(clue: str, mine: Scene, places: Mapping[str, str]) -> Iterator[str]:
    """What of a clue is in the picture, up to the first object that is not."""
    names = full_names(clue)
    for name in names:
        yield joined_names(name)
        if name not in places:
            break
        yield places[name]
    else:
        if clue == "".join([THERE_IS, *names]):
            return
    yield {True: "true", False: "false", None: "unclear"}[check(clue, mine)]


def weighed(state: SpyState, mine: Scene, changed: Mapping[str, str]) -> str:
    """Each object of a spy's picture from left to right, and why not to name it as new: the number of the
    first player who named it, or the object of the others' picture that it may have been.

    Args:
        state: With the clues so far.
        mine: The spy's own scene.
        changed: Objects that may have changed, each with what it may have been.
    """
    return ", ".join(
        " ".join([joined_names(thing.name), *_against(thing, state, changed)]) for thing in _from_left(mine)
    )


def _against(thing: Object, state: SpyState, changed: Mapping[str, str]) -> Iterator[str]:
    if named(thing) in state.clues:
        yield str(state.speaker(state.clues.index(named(thing))) + 1)
    elif thing.name in changed:
        yield joined_names(changed[thing.name])


def _from_left(mine: Scene) -> list[Object]:
    return sorted(mine.objects, key=lambda thing: thing.x)
