"""The words of clues: spellings and phrases become tokens, whatever is not known makes a clue undecidable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ludens.games.spy.scene import COLORS, MATERIALS, SHAPES, SIZES

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

_SYNONYMS = {
    "grey": "gray", "violet": "purple", "turquoise": "cyan", "teal": "cyan", "golden": "yellow",
    "ball": "sphere", "globe": "sphere", "orb": "sphere", "spherical": "sphere", "round": "sphere",
    "block": "cube", "box": "cube", "cubic": "cube", "cubical": "cube", "boxe": "cube",
    "tube": "cylinder", "can": "cylinder", "cylindrical": "cylinder",
    "big": "large", "huge": "large", "little": "small", "tiny": "small",
    "metallic": "metal", "shiny": "metal", "reflective": "metal", "glossy": "metal",
    "matte": "rubber", "matt": "rubber", "dull": "rubber",
    "thing": "object", "item": "object", "shape": "object", "one": "object",
}  # fmt: skip
_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10,
}  # fmt: skip
_ATTRIBUTES = {
    **dict.fromkeys(COLORS, "color"), **dict.fromkeys(MATERIALS, "material"), **dict.fromkeys(SIZES, "size"),
}  # fmt: skip
_PLACES = {
    "foreground": "front", "bottom": "front", "back": "behind", "rear": "behind", "background": "behind",
    "top": "behind",
}  # fmt: skip
_WORDS = {
    "a": Token("a"), "an": Token("a"), "another": Token("a"), "any": Token("a"),
    "some": Token("a", plural=True), "the": Token("the"), "only": Token("only"), "single": Token("only"),
    "all": Token("all"), "every": Token("all"), "each": Token("all"), "both": Token("both"),
    "no": Token("no"), "none": Token("no"), "nothing": Token("no"), "not": Token("not"),
    "neither": Token("not"), "half": Token("half"), "several": Token("several"), "other": Token("other"),
    "and": Token("and"), ",": Token("and"), "but": Token("and"), "while": Token("and"), "with": Token("and"),
    "or": Token("or"), "nor": Token("or"),
    "more": Token("more"), "fewer": Token("fewer"), "less": Token("fewer"), "than": Token("than"),
    "as": Token("than"),
    "_see": Token("see"), "_is": Token("is"), "_number": Token("number"), "_same": Token("same"),
    "_between": Token("between"),
}  # fmt: skip
for _name in ("color", "colour", "material", "shape", "size"):
    _WORDS[f"_alike_{_name}"] = Token("alike", _name.replace("colour", "color"))
for _name in ("over", "under", "least", "most", "exactly"):
    _WORDS[f"_{_name}"] = Token("bound", _name)
for _name in ("left", "right", "front", "behind", "large", "small"):
    _WORDS[f"_end_{_name}"] = Token("end", _name)
    _WORDS[f"_rel_{_name}"] = Token("relation", _name)
_FILLERS = frozenset(
    (
        "of", "in", "to", "at", "color", "colour", "colors", "colored", "coloured", "material", "total", "it",
        "its", "that", "which", "also", "just", "my", "this", "picture", "image", "altogether", "_at_",
        "somewhere",
    )
)  # fmt: skip


def tokens(text: str) -> list[Token] | None:
    """The tokens of a clue; None where it has a word that is not known."""
    if len(text) > LONGEST:
        return None
    said = text.lower()
    for pattern, by in _RULES:
        said = pattern.sub(by, said)
    found = []
    for word in re.findall(r"[a-z_]+|\d+|,", said.replace("-", " ")):
        token = _token(word)
        if token is None:
            return None
        if token.kind:
            found.append(token)
    return found


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
