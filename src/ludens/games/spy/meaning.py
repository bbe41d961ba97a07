"""What the parts of a clue mean: which objects of a scene they pick out, and what is true of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ludens.games.spy.scene import RADIUS, Object, Scene

Truth = bool | None
"""None where it cannot be decided."""
Claim = Callable[[Scene], Truth]
Predicate = Callable[[Object, Scene], Truth]
Filter = Callable[[Object, Scene], bool]

MIDDLE = 0.3
"""How far from the middle an object must be to be in one half of the floor."""
SIDE: dict[str, Callable[[Object], float]] = {
    "left": lambda thing: -thing.x,
    "right": lambda thing: thing.x,
    "front": lambda thing: -thing.y,
    "behind": lambda thing: thing.y,
    "large": lambda thing: RADIUS[thing.size],
    "small": lambda thing: -RADIUS[thing.size],
}
_BOUNDS: dict[str, Callable[[int, int], bool]] = {
    "the": int.__eq__,
    "over": int.__gt__, "under": int.__lt__, "least": int.__ge__, "most": int.__le__, "exactly": int.__eq__,
}  # fmt: skip


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: which objects, and how many of them are meant."""

    quantity: str = ""
    """`a`, `the`, `all`, `both`, `no`, `only`, `half`, `several`, `count` or empty."""
    count: int = 0
    bound: str = ""
    total: int = 0
    """In `two of the four cubes`: how many there are in all."""
    plural: bool = False
    headed: bool = False
    """Whether it has a noun: `one blue` has none."""
    filters: tuple[Filter, ...] = ()
    ends: tuple[str, ...] = ()

    def matches(self, scene: Scene) -> list[Object]:
        found = [thing for thing in scene.objects if all(fits(thing, scene) for fits in self.filters)]
        for end in self.ends:
            if end in ("large", "small"):
                found = [thing for thing in found if thing.size == end] or found
            elif found:
                found = [max(found, key=SIDE[end])]
        return found

    def exists(self, scene: Scene) -> Truth:
        """Whether as many such objects exist as are meant."""
        return self.counts(len(self.matches(scene)), len(scene.objects))

    def counts(self, number: int, of: int) -> bool:
        if self.quantity == "count":
            return _BOUNDS[self.bound or "exactly"](number, self.count)
        if self.quantity == "no":
            return number == 0
        if self.quantity == "only":
            return number == max(1, self.count)
        if self.quantity == "both":
            return number == 2
        if self.quantity == "half":
            return _BOUNDS[self.bound or "exactly"](2 * number, of)
        return number >= (2 if self.plural or self.quantity == "several" else 1)

    def holds(self, scene: Scene, true_of: Callable[[Object], Truth]) -> Truth:
        """Whether something is true of the objects that are meant."""
        found = self.matches(scene)
        values = [true_of(thing) for thing in found]
        number = values.count(True)
        if self.total and len(found) != self.total:
            return False
        if self.quantity == "no":
            return number == 0
        if self.quantity == "a" or (self.quantity == "count" and self.count == 1 and not self.bound):
            return True if number else None if None in values else False
        if self.quantity in ("count", "half", "several") and not self.plural_definite:
            return None if None in values else self.counts(number, len(found))
        if not found or (self.quantity in ("only", "both") and not self.counts(len(found), 0)):
            return False
        if self.plural_definite and len(found) != self.count:
            return False
        if number == len(found):
            return True
        universal = self.plural or self.quantity in ("all", "both") or len(found) == 1
        return False if (universal or not number) and None not in values else None

    @property
    def plural_definite(self) -> bool:
        """Whether this is `the two cubes`: all of a known number."""
        return self.bound == "the"


def all_of(claims: Sequence[Claim]) -> Claim:
    def both(scene: Scene) -> Truth:
        values = [claim(scene) for claim in claims]
        return False if False in values else None if None in values else True

    return both


def said_of(phrase: Phrase, says: Predicate) -> Claim:
    return lambda scene: phrase.holds(scene, lambda thing: says(thing, scene))


def alike(phrases: Sequence[Phrase], attribute: str) -> Claim:
    """Whether all objects that the phrases pick out share an attribute."""

    def says(scene: Scene) -> Truth:
        found = [each.matches(scene) for each in phrases]
        if any(each.quantity not in ("the", "all", "both", "count") for each in phrases):
            return None
        if not all(found) or any(map(_miscounted, phrases, found)):
            return False
        things = [thing for some in found for thing in some]
        if len({getattr(thing, attribute) for thing in things}) == 1:
            return True if len(things) > 1 else None
        unclear = any(
            each.quantity == "the" and not each.plural and len(some) > 1
            for each, some in zip(phrases, found, strict=True)
        )
        return None if unclear else False

    return says


def shared_out(phrases: Sequence[Phrase], values: Sequence[str]) -> Claim:
    """Whether the objects have these values among them: `the cubes are red and blue`."""
    attribute = values[0].split()[0]

    def says(scene: Scene) -> Truth:
        found = [thing for each in phrases for thing in each.matches(scene)]
        return sorted({f"{attribute} {getattr(thing, attribute)}" for thing in found}) == sorted(values)

    return says


def _miscounted(phrase: Phrase, found: Sequence[Object]) -> bool:
    count = 2 if phrase.quantity == "both" else phrase.count if phrase.quantity == "count" else len(found)
    return len(found) != count


def has(values: Sequence[str]) -> Filter:
    """Whether an object has one of the values, each given as `color red`."""
    wanted = [value.split() for value in values]
    return lambda thing, scene: any(getattr(thing, name) == value for name, value in wanted)


def surely(says: Predicate) -> Filter:
    return lambda thing, scene: says(thing, scene) is True


def at(place: str) -> Filter:
    return lambda thing, scene: SIDE[place](thing) > MIDDLE


def membership(phrase: Phrase, sole: bool) -> Predicate:
    """Whether an object is one of those described; a tie for a superlative cannot be decided."""

    def says(thing: Object, scene: Scene) -> Truth:
        found = phrase.matches(scene)
        inside = any(each is thing for each in found)
        if inside and phrase.ends and len(found) > 1:
            return None
        return inside and (not sole or len(found) == 1)

    return says


def between(thing: Object, first: Sequence[Object], second: Sequence[Object]) -> Truth:
    pairs = [(a, b) for a in first for b in second if a is not b and thing is not a and thing is not b]
    values = [
        min(a.x, b.x) < thing.x < max(a.x, b.x) or min(a.y, b.y) < thing.y < max(a.y, b.y) for a, b in pairs
    ]
    return any(values) if all(values) or not any(values) else None


def negation(value: Truth) -> Truth:
    return None if value is None else not value


def negated(claim: Claim) -> Claim:
    return lambda scene: negation(claim(scene))
