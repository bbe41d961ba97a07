"""The clue checker: whether a clue is true of a scene, false, or cannot be decided.

A clue is read by a small grammar (existence, counts, attributes, relations, places, superlatives). What the
grammar does not cover cannot be decided; it is never guessed. How words are meant: "two cubes" are exactly
two, "a cube" is at least one; "the cube" where there are several that differ cannot be decided; "left" and
"front" without a second object are halves of the floor, and what is near the middle is in neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from ludens.core.random import stream
from ludens.games.spy.clues import (
    SIDE,
    Claim,
    Filter,
    Phrase,
    Predicate,
    Token,
    Truth,
    alike,
    all_of,
    at,
    between,
    has,
    membership,
    negated,
    negation,
    said_of,
    shared_out,
    surely,
    tokens,
)
from ludens.games.spy.scene import Object, Scene, make_scene

_QUANTITIES = ("a", "the", "all", "both", "no", "only", "half", "several", "count", "bound")


def check(clue: str, scene: Scene) -> Truth:
    """Whether the clue is true of the scene; None where that cannot be decided."""
    claim = claim_of(clue)
    return None if claim is None else claim(scene)


@lru_cache(maxsize=8192)
def claim_of(clue: str) -> Claim | None:
    """What a clue says, as a function of the scene; None where the grammar does not cover it."""
    words = tokens(clue)
    if not words:
        return None
    try:
        return all_of(_Reader(words).sentence())
    except _Unclear:
        return None


class _Unclear(Exception):
    """The grammar does not cover this."""


@dataclass
class _Reader:
    """A recursive-descent parser over tokens."""

    words: list[Token]
    place: int = 0
    topic: tuple[Filter, ...] | None = None
    """What `one` and `the other` refer to."""

    def sentence(self) -> list[Claim]:
        claims: list[Claim] = []
        while self._next():
            if self._take("and"):
                continue
            claims += self.clause()
        if not claims:
            raise _Unclear
        return claims

    def clause(self) -> list[Claim]:
        if self._take("number"):
            counted = self.phrase()
            self._need("is")
            number = int(self._need("count").value)
            return [lambda scene: len(counted.matches(scene)) == number]
        before = self._fronted()
        seen = bool(self._take("see"))
        if before and not seen:
            raise _Unclear
        missing = bool(seen and self._take("not"))
        if compared := self._comparison():
            return [compared]
        phrases = [self.phrase()]
        while self._next() == "and" and self._phrase_follows(seen):
            while self._take("and"):
                pass
            phrases.append(self.phrase())
        if before:
            phrases = [replace(each, filters=(*each.filters, *before)) for each in phrases]
        if missing and phrases[0].quantity == "count":
            return [negated(each.exists) for each in phrases]
        if missing:
            phrases = [replace(each, quantity="no") for each in phrases]
        if self._take("is"):
            return self._predicates(phrases)
        if seen and self._verb_follows():
            last = replace(phrases[-1], quantity="the", bound="")
            return [*(each.exists for each in phrases), *self._predicates([last])]
        if not seen and any(not each.quantity for each in phrases):
            raise _Unclear
        return [each.exists for each in phrases]

    def _fronted(self) -> list[Filter]:
        """Places before the verb: `to the left of the cube there is`, `in the back I see`."""
        places: list[Filter] = []
        while self._next() in ("relation", "between", "at"):
            place = self._take("at")
            if place is not None:
                places.append(at(place.value))
            elif relation := self._relation():
                places.append(surely(relation))
        if places:
            self._take("and")
        return places

    def _verb_follows(self) -> bool:
        """Whether more is said of what was seen: `there is a cube, and it is red`. Takes the verb."""
        here = self.place
        while self._take("and"):
            pass
        if self.place > here and self._take("is"):
            return True
        self.place = here
        return False

    def _comparison(self) -> Claim | None:
        """`more cubes than spheres`, `as many cubes as spheres`, `equally many small and large objects`."""
        kind = self._next()
        if kind not in ("more", "fewer", "same"):
            return None
        self._take(kind)
        first = self._bare_phrase()
        if not (self._take("than") or self._take("and")):
            raise _Unclear
        second = self._bare_phrase()

        def compare(scene: Scene) -> Truth:
            a, b = len(first.matches(scene)), len(second.matches(scene))
            return a > b if kind == "more" else a < b if kind == "fewer" else a == b

        return compare

    def _predicates(self, phrases: list[Phrase]) -> list[Claim]:
        """What follows a verb: one or several predicates of all subjects; nothing means that they exist."""
        if self._next() in ("", "and"):
            return [each.exists for each in phrases]
        if same := self._take("alike"):
            others = [self.phrase()] if self._take("than") else []
            return [alike([*phrases, *others], same.value)]
        if (len(phrases) > 1 or phrases[0].plural) and (values := self._different_values()):
            return [shared_out(phrases, values)]
        claims: list[Claim] = []
        while True:
            says = self.predicate()
            claims += [said_of(phrase, says) for phrase in phrases]
            if self._next() != "and" or not self._predicate_follows():
                return claims
            self._take("and")

    def _different_values(self) -> list[str]:
        """Values of one attribute joined by `and`, which no object has at once."""
        values, ahead = list[str](), self.place
        while ahead < len(self.words) and self.words[ahead].kind == "attribute":
            values.append(self.words[ahead].value)
            joined = ahead + 1
            while joined < len(self.words) and self.words[joined].kind == "and":
                joined += 1
            if joined == ahead + 1:
                ahead += 1
                break
            ahead = joined
        complete = ahead >= len(self.words) and len(values) > 1
        if not complete or len({value.split()[0] for value in values}) > 1:
            return []
        self.place = ahead
        return values

    def predicate(self) -> Predicate:
        negative = bool(self._take("not"))
        if self._take("both") or self._take("all"):
            pass  # `The two cylinders are both red`
        start, says = self.place, self._relation()
        if says is None:
            quantity = self._take("a") or self._take("the") or self._take("only") or Token("")
            if quantity.kind == "the":
                self._take("only")
            phrase = self._described(Phrase())
            if self.place == start:
                raise _Unclear
            sole = any(word.kind == "only" for word in self.words[start : self.place])
            says = membership(phrase, sole)
        statement = says
        return (lambda thing, scene: negation(statement(thing, scene))) if negative else statement

    def phrase(self) -> Phrase:
        """A noun phrase with what is said about its number."""
        phrase = Phrase()
        while (kind := self._next()) in _QUANTITIES:
            word = self.words[self.place]
            self.place += 1
            if kind == "bound":
                phrase = replace(phrase, quantity="count", bound=word.value)
            elif kind == "count":
                phrase = _counted(phrase, int(word.value))
            elif kind == "half" and phrase.quantity == "count" and not phrase.count:
                phrase = replace(phrase, quantity="half")
            elif phrase.quantity not in ("count", "only", "all", "no", "both", "half") or kind == "only":
                phrase = replace(phrase, quantity=kind, plural=word.plural)
        other, before = self._take("other"), self.place
        if other and self._next() == "count" and self.words[self.place].value != "1":
            raise _Unclear  # `the other two`: others than which?
        phrase = self._described(phrase)
        if self.place == before:
            if not other and phrase.quantity not in ("count", "all", "no", "both"):
                raise _Unclear
            if self.topic is None and phrase.quantity != "no":
                raise _Unclear
            phrase = replace(phrase, filters=self.topic or ())
        elif phrase.quantity == "count" and not phrase.headed:
            phrase = replace(phrase, filters=(*(self.topic or ()), *phrase.filters))
        if other:
            phrase = replace(phrase, quantity="a")
        if phrase.headed:
            self.topic = phrase.filters
        return phrase

    def _bare_phrase(self) -> Phrase:
        self._take("the")
        start = self.place
        phrase = self._described(Phrase())
        if self.place == start:
            raise _Unclear
        return phrase

    def _described(self, phrase: Phrase) -> Phrase:
        """Adjectives, nouns, places and relations that follow."""
        filters, ends, plural, headed = list(phrase.filters), list(phrase.ends), phrase.plural, False
        while True:
            kind = self._next()
            if kind == "attribute":
                values = self._alternatives()
                filters.append(has([word.value for word in values]))
                plural = plural or any(word.plural for word in values)
                headed = headed or values[0].value.startswith("shape")
            elif kind == "noun" or (kind == "count" and self._is_pronoun()):
                plural, headed = plural or self.words[self.place].plural, True
                self.place += 1
            elif kind == "end":
                ends.append(self.words[self.place].value)
                self.place += 1
            elif kind == "at":
                filters.append(at(self.words[self.place].value))
                self.place += 1
            elif kind in ("relation", "between") and self.place:
                relation = self._relation()
                assert relation is not None
                filters.append(surely(relation))
            else:
                return replace(phrase, filters=tuple(filters), ends=tuple(ends), plural=plural, headed=headed)

    def _is_pronoun(self) -> bool:
        """Whether a number is the `one` of `a large green one`."""
        before = self.words[self.place - 1].kind if self.place else ""
        return self.words[self.place].value == "1" and before in ("attribute", "end")

    def _alternatives(self) -> list[Token]:
        """One attribute, or several joined by `or`: `red, blue or purple`."""
        accepted = [self._need("attribute")]
        ahead = self.place
        values = list(accepted)
        while ahead + 1 < len(self.words) and self.words[ahead].kind in ("or", "and"):
            if self.words[ahead + 1].kind != "attribute":
                break
            values.append(self.words[ahead + 1])
            ahead += 2
            if self.words[ahead - 2].kind == "or":
                accepted, self.place = list(values), ahead
        return accepted

    def _relation(self) -> Predicate | None:
        if self._take("between"):
            first = self.phrase()
            self._need("and")
            second = self.phrase()
            return lambda thing, scene: between(thing, first.matches(scene), second.matches(scene))
        word = self._take("relation")
        if word is None:
            return None
        other, side = self.phrase(), SIDE[word.value]

        def related(thing: Object, scene: Scene) -> Truth:
            rest = [each for each in other.matches(scene) if each is not thing]
            values = [side(thing) > side(each) for each in rest]
            if other.quantity in ("a", "count") or not values:
                return any(values)
            universal = other.plural or other.quantity in ("all", "both")
            return True if all(values) else False if universal or not any(values) else None

        return related

    def _phrase_follows(self, seen: bool) -> bool:
        """Whether after `and` comes a phrase of a list rather than a clause with its own verb."""
        here, topic = self.place, self.topic
        try:
            while self._take("and"):
                pass
            self.phrase()
            return self._next() != "is" or not seen
        except _Unclear:
            return False
        finally:
            self.place, self.topic = here, topic

    def _predicate_follows(self) -> bool:
        """Whether after `and` comes another predicate of the same subject."""
        here, topic = self.place, self.topic
        try:
            self._take("and")
            if self._next() not in ("attribute", "at", "relation", "between", "end", "not"):
                return False
            self.predicate()
            return self._next() in ("", "and")
        except _Unclear:
            return False
        finally:
            self.place, self.topic = here, topic

    def _next(self) -> str:
        return self.words[self.place].kind if self.place < len(self.words) else ""

    def _take(self, kind: str) -> Token | None:
        if self._next() != kind:
            return None
        self.place += 1
        return self.words[self.place - 1]

    def _need(self, kind: str) -> Token:
        word = self._take(kind)
        if word is None:
            raise _Unclear
        return word


def _counted(phrase: Phrase, count: int) -> Phrase:
    """A phrase with a number: `two`, `the two`, `only two`, and `two of the four`."""
    if phrase.quantity == "count":
        return replace(phrase, total=count) if phrase.count else replace(phrase, count=count)
    bounds = {"the": "the", "all": "the", "both": "the", "only": "exactly"}
    return replace(phrase, quantity="count", count=count, bound=bounds.get(phrase.quantity, phrase.bound))


SCENES = 200


@lru_cache(maxsize=1)
def _scenes() -> tuple[Scene, ...]:
    return tuple(make_scene(stream(number, "informativeness")) for number in range(SCENES))


@lru_cache(maxsize=8192)
def informativeness(clue: str) -> float:
    """The share of scenes of which the clue is false; 0 where it cannot be decided."""
    claim = claim_of(clue)
    return 0.0 if claim is None else sum(claim(scene) is False for scene in _scenes()) / SCENES
