"""What clues leave open: the scenes, close to one's own, of which none of the clues is false.

Whether a clue says something new is a matter of meaning. It does if it excludes a world that the clues before
it have left open; another wording of what is known excludes none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any

from ludens.games.spy.checker import check
from ludens.games.spy.clues import named
from ludens.games.spy.scene import ATTRIBUTES, COLORS, FEWEST, FLOOR, MOST, SHAPES, Object, Scene

_BESIDE = FLOOR + 0.5
"""Where an object is added: its place is to the right of and behind all others."""


@lru_cache(maxsize=256)
def variations(scene: Scene) -> tuple[Scene, ...]:
    """Scenes that differ in one respect: an attribute of an object, or of all that are alike; the places of
    two objects; one object more or less, within the numbers that scenes have."""
    return tuple(_variations(scene))


def _variations(scene: Scene) -> Iterator[Scene]:
    things = scene.objects
    groups = {name: [i for i, thing in enumerate(things) if thing.name == name] for name in _names(scene)}
    for group in groups.values():
        for some in [group, *([i] for i in group if len(group) > 1)]:
            for attribute, values in ATTRIBUTES.items():
                for value in values:
                    if value != getattr(things[group[0]], attribute):
                        new: dict[str, Any] = {attribute: value}
                        yield _replaced(scene, {i: replace(things[i], **new) for i in some})
    for a, b in combinations(range(len(things)), 2):
        first, second = things[a], things[b]
        swapped = {a: replace(first, x=second.x, y=second.y), b: replace(second, x=first.x, y=first.y)}
        yield _replaced(scene, swapped)
    if len(things) > FEWEST:
        for thing in things:
            yield Scene(tuple(each for each in things if each is not thing))
    if len(things) < MOST:
        unused = [color for color in COLORS if all(thing.color != color for thing in things)]
        for shape in SHAPES:
            yield Scene((*things, Object(shape, "small", "rubber", unused[0], _BESIDE, _BESIDE)))


def _names(scene: Scene) -> dict[str, None]:
    return dict.fromkeys(thing.name for thing in scene.objects)


def _replaced(scene: Scene, new: dict[int, Object]) -> Scene:
    return Scene(tuple(new.get(index, thing) for index, thing in enumerate(scene.objects)))


@lru_cache(maxsize=1024)
def left_open(clues: tuple[str, ...], scene: Scene) -> tuple[Scene, ...]:
    """The variations of a scene that clues do not exclude. Clues that are false of it, or that cannot be
    decided, say nothing."""
    if not clues:
        return variations(scene)
    before, last = left_open(clues[:-1], scene), clues[-1]
    return (
        tuple(world for world in before if check(last, world) is not False) if check(last, scene) else before
    )


def adds(clue: str, worlds: Sequence[Scene]) -> bool:
    """Whether a clue excludes one of the worlds."""
    return any(check(clue, world) is False for world in worlds)


@lru_cache(maxsize=1024)
def untold(clues: tuple[str, ...], scene: Scene) -> tuple[Object, ...]:
    """The objects of a scene whose description adds to the clues."""
    candidates = untold(clues[:-1], scene) if clues else scene.objects
    worlds = left_open(clues, scene)
    return tuple(thing for thing in candidates if adds(named(thing), worlds))


def repetitions(clues: Sequence[str], scene: Scene) -> list[bool]:
    """Of each clue, whether it is true and adds nothing to those before it, while an object was untold."""
    repeated = []
    for index, clue in enumerate(clues):
        before = tuple(clues[:index])
        new = not check(clue, scene) or adds(clue, left_open(before, scene))
        repeated.append(not new and bool(untold(before, scene)))
    return repeated


def first_told(clues: Sequence[str], scene: Scene) -> dict[str, int]:
    """The names of the objects that clues describe completely, each with the index of the clue that does."""
    told = dict[str, int]()
    for index in range(len(clues)):
        open_names = {thing.name for thing in untold(tuple(clues[: index + 1]), scene)}
        told |= {name: index for name in _names(scene) if name not in open_names and name not in told}
    return told


def replacements(clues: Sequence[str], scene: Scene, change: Collection[str]) -> dict[str, str]:
    """The objects that others may see replaced: each with the first replacement that makes a clue true that
    is false of the scene. A clue that every object could explain tells nothing."""
    changed = dict[str, str]()
    for clue in clues:
        if check(clue, scene) is False:
            explained = {
                thing.name: other
                for index, thing in enumerate(scene.objects)
                if (other := _explanation(clue, scene, index, change))
            }
            if len(explained) < len(_names(scene)):
                changed = explained | changed
    return changed


def _explanation(clue: str, scene: Scene, index: int, change: Collection[str]) -> str:
    """The name of a replacement of one object with which the clue is true; empty if there is none."""
    thing = scene.objects[index]
    attributes = [name for name in ATTRIBUTES if name in change]
    others = [[value for value in ATTRIBUTES[name] if value != getattr(thing, name)] for name in attributes]
    for values in product(*others):
        new: dict[str, Any] = dict(zip(attributes, values, strict=True))
        other = replace(thing, **new)
        if check(clue, _replaced(scene, {index: other})):
            return other.name
    return ""
