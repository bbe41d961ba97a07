"""The language of clues: spellings and phrases become tokens, tokens pick out objects of a scene; clues
that bots give."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from ludens.games.spy.scene import ATTRIBUTES, RADIUS, SHAPES, Object, Scene

LONGEST = 400
"""Longer texts are not read."""


class Token(NamedTuple):
    """A word or phrase: what it is, and its value."""

    kind: str
    value: str = ""
    plural: bool = False


_PICTURE = r"(?:picture|image|scene|photo|frame|view|drawing)"
_VIEWER = r"(?:me|us|the (?:viewer|camera|front))"
_FAR = r"(?:far|fur)"
_SIDES = r"front|foreground|bottom|back|rear|background|top|left|right"
_PARTS = r"(?:side|half|part|corner|edge|area|end)"
_VERBS = r"(?:is|are|was|were|looks?|sits?|stands?|lies?|rests?|stays?|appears?)"


def _superlative(hit: re.Match[str]) -> str:
    """`left of all others` is leftmost."""
    return hit[1].replace("rel", "end")


_PHRASES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"[’`]", "'"),
    (r"\b(\w+)n't\b", r"\1 not"),
    (r"\b(there|it|that|here|one|other)'s\b", r"\1 is"),
    (rf"\b(?:in|of|from|inside|within) (?:my|the|this|our) {_PICTURE}\b", " "),
    (rf"\b(?:my|the|this) {_PICTURE} (?:has|contains|shows|includes|features)\b", " _see "),
    (r"\b(?:i|you|we) (?:can |could |do |also )*(?:see|notice|spot|observe|find|count|have)\b", " _see "),
    (r"\b(?:there|here) (?:is|are|exists?|can be seen)\b", " _see "),
    (r"\b(?:can be|is|are) (?:seen|visible|present|found|shown)\b", " _is "),
    (rf"\b{_VERBS}\b(?: (?:located|placed|positioned))?", " _is "),
    (
        r"(?:_is|\bha(?:s|ve)|\bshares?)\s+(?:made |out |of )*the same (color|colour|material|shape|size)\b",
        r" _is _alike_\1 ",
    ),
    (r"\ball of (?:them|which)\b(?: +_is\b)?", " and _is "),
    (r"\bthe (?:total )?number of\b", " _number "),
    (r"\b(?:as|equally) many\b", " _same "),
    (r"\bmore than\b", " _over "),
    (r"\b(?:fewer|less) than\b", " _under "),
    (r"\bat least\b", " _least "),
    (r"\bat most\b", " _most "),
    (r"\b(?:exactly|precisely)\b", " _exactly "),
    (rf"\b{_FAR}ther (?:back|behind|away) than\b", " _rel_behind "),
    (rf"\b(?:closer|nearer)(?: to {_VIEWER})? than\b", " _rel_front "),
    (rf"\b{_FAR}ther (?:to the )?(left|right) than\b", r" _rel_\1 "),
    (r"\b(?:(?:in|to|on|at) the )?(left|right)(?:[- ]hand)?(?: side)? of\b", r" _rel_\1 "),
    (r"\b(?:in front of|before)\b", " _rel_front "),
    (r"\b(?:behind|in back of)\b", " _rel_behind "),
    (r"\b(?:larger|bigger) than\b", " _rel_large "),
    (r"\bsmaller than\b", " _rel_small "),
    (r"\bneither of\b", " no "),
    (r"\bout of\b", " "),
    (r"\bbetween\b", " _between "),
    (rf"\b{_FAR}thest (?:to the )?(left|right)\b|\b(left|right)most\b", r" _end_\1\2 "),
    (rf"\b(?:closest|nearest)(?: to {_VIEWER})?|\b(?:front|fore)most\b", " _end_front "),
    (rf"\b{_FAR}thest(?: (?:back|away))?(?: from {_VIEWER})?|\b(?:back|rear)most\b", " _end_behind "),
    (
        r"\b(_rel_\w+) +(?:all|every|each|any) (?:of )?(?:the )?others?(?: (?:objects?|things?))?\b",
        _superlative,
    ),
    (r"\b(_rel_\w+) +everything(?: else)?\b", _superlative),
    (
        rf"\b(?:in|on|at|to|near) (?:the )?(?:very |far )?({_SIDES})(?:[- ](left|right))?(?:[- ]hand)?"
        rf"(?: {_PARTS})?\b",
        r" _at_\1 _at_\2 ",
    ),
    (r"\b(?:largest|biggest)\b", " _end_large "),
    (r"\b(?:smallest|tiniest)\b", " _end_small "),
    (r"\b(?:larger|bigger)\b", " _end_large "),
    (r"\bsmaller\b", " _end_small "),
    (r"\bmade (?:out )?of\b", " "),
]
_RULES = [(re.compile(pattern), by) for pattern, by in _PHRASES]

_LEXICON = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _inverted(section: str) -> dict[str, str]:
    return {word: name for name, words in _LEXICON[section].items() for word in words}


_SYNONYMS, _PLACES = _inverted("synonyms"), _inverted("places")
_NUMBERS: dict[str, int] = {word: number for number, word in enumerate(_LEXICON["numbers"])}
_FILLERS = frozenset(_LEXICON["fillers"])
_ATTRIBUTES = {value: name for name in ("color", "material", "size") for value in ATTRIBUTES[name]}
_WORDS = {word: Token(kind) for word, kind in _inverted("words").items()} | {"some": Token("a", plural=True)}
for _name in ("color", "colour", "material", "shape", "size"):
    _WORDS[f"_alike_{_name}"] = Token("alike", _name.replace("colour", "color"))
for _name in ("over", "under", "least", "most", "exactly"):
    _WORDS[f"_{_name}"] = Token("bound", _name)
for _name in ("left", "right", "front", "behind", "large", "small"):
    _WORDS[f"_end_{_name}"] = Token("end", _name)
    _WORDS[f"_rel_{_name}"] = Token("relation", _name)


def tokens(text: str) -> list[Token] | None:
    """The tokens of a clue; None where it has a word that is not known."""
    if len(text) > LONGEST:
        return None
    lowered = text.lower()
    for pattern, by in _RULES:
        lowered = pattern.sub(by, lowered)
    result = []
    for word in re.findall(r"[a-z_]+|\d+|,", lowered.replace("-", " ")):
        token = _token(word)
        if token is None:
            return None
        if token.kind:
            result.append(token)
    return result


def _token(word: str) -> Token | None:
    if word in _FILLERS:
        return Token("")
    if word in _WORDS:
        return _WORDS[word]
    if word.startswith("_at_"):
        side = word[4:]
        return Token("at", _PLACES.get(side, side))
    if word.isdigit() or word in _NUMBERS:
        return Token("count", str(_NUMBERS.get(word, word))[:6])
    plural = word.endswith("s")
    single = word[:-1] if plural else word
    single = _SYNONYMS.get(single, single)
    if single == "object":
        return Token("noun", plural=plural)
    if single in SHAPES:
        return Token("attribute", f"shape {single}", plural)
    if single in _ATTRIBUTES:
        return Token("attribute", f"{_ATTRIBUTES[single]} {single}")
    return None


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
        things = [thing for thing in scene.objects if all(fits(thing, scene) for fits in self.filters)]
        for end in self.ends:
            if end in ("large", "small"):
                things = [thing for thing in things if thing.size == end] or things
            elif things:
                things = [max(things, key=SIDE[end])]
        return things

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
        things = self.matches(scene)
        values = [true_of(thing) for thing in things]
        number = values.count(True)
        if self.total and len(things) != self.total:
            return False
        if self.quantity == "no":
            return number == 0
        if self.quantity == "a" or (self.quantity == "count" and self.count == 1 and not self.bound):
            return True if number else None if None in values else False
        if self.quantity in ("count", "half", "several") and not self.plural_definite:
            return None if None in values else self.counts(number, len(things))
        if not things or (self.quantity in ("only", "both") and not self.counts(len(things), 0)):
            return False
        if self.plural_definite and len(things) != self.count:
            return False
        if number == len(things):
            return True
        universal = self.plural or self.quantity in ("all", "both") or len(things) == 1
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
        groups = [each.matches(scene) for each in phrases]
        if any(each.quantity not in ("the", "all", "both", "count") for each in phrases):
            return None
        if not all(groups) or any(map(_miscounted, phrases, groups)):
            return False
        things = [thing for some in groups for thing in some]
        if len({getattr(thing, attribute) for thing in things}) == 1:
            return True if len(things) > 1 else None
        unclear = any(
            each.quantity == "the" and not each.plural and len(some) > 1
            for each, some in zip(phrases, groups, strict=True)
        )
        return None if unclear else False

    return says


def shared_out(phrases: Sequence[Phrase], values: Sequence[str]) -> Claim:
    """Whether the objects have these values among them: `the cubes are red and blue`."""
    attribute = values[0].split()[0]

    def says(scene: Scene) -> Truth:
        things = [thing for each in phrases for thing in each.matches(scene)]
        return sorted({f"{attribute} {getattr(thing, attribute)}" for thing in things}) == sorted(values)

    return says


def _miscounted(phrase: Phrase, things: Sequence[Object]) -> bool:
    count = 2 if phrase.quantity == "both" else phrase.count if phrase.quantity == "count" else len(things)
    return len(things) != count


def has(values: Sequence[str]) -> Filter:
    """Whether an object has one of the values, each given as `color red`."""
    wanted = [value.split() for value in values]
    if len(wanted) == 1:  # nearly always; bots check thousands of scenes in a game
        [[attribute, only]] = wanted
        return lambda thing, scene: bool(getattr(thing, attribute) == only)
    return lambda thing, scene: any(getattr(thing, name) == value for name, value in wanted)


def surely(says: Predicate) -> Filter:
    return lambda thing, scene: says(thing, scene) is True


def at(place: str) -> Filter:
    return lambda thing, scene: SIDE[place](thing) > MIDDLE


def membership(phrase: Phrase, sole: bool) -> Predicate:
    """Whether an object is one of those described; a tie for a superlative cannot be decided."""

    def says(thing: Object, scene: Scene) -> Truth:
        members = phrase.matches(scene)
        inside = any(each is thing for each in members)
        if inside and phrase.ends and len(members) > 1:
            return None
        return inside and (not sole or len(members) == 1)

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


THERE_IS = "There is a "
_NAME = re.compile(" ".join(f"(?:{'|'.join(values)})" for values in ATTRIBUTES.values()))


def named(thing: Object) -> str:
    return THERE_IS + thing.name


def related(first: Object, second: Object) -> str:
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


def sayable(things: Sequence[Object]) -> Iterator[str]:
    """Names and places of objects, and how they lie to each other."""
    for thing in things:
        yield named(thing)
        yield from placed(thing)
    for first, second in permutations(things, 2):
        yield related(first, second)


def full_names(clue: str) -> list[str]:
    """The objects that a clue describes by all their attributes, in its order."""
    return _NAME.findall(clue)


def joined_names(text: str) -> str:
    """The text with each full name of an object as one word, `large_red_metal_cube`.

    A small model finds one token again, in a clue and in its list of what it sees; four it hardly does.
    """
    return _NAME.sub(lambda name: name[0].replace(" ", "_"), text)


STOCK_CLUES: tuple[str, ...] = tuple(_LEXICON["stock_clues"])
"""Clues of players that do not look."""
