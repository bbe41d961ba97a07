"""Numbers in a message, in figures or words, with their positions."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from ludens.suites.comma.leaks.roman import roman_numerals

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {
    **{word: value for value, word in enumerate([*_UNITS, *_TEENS])},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "nought": 0,
    "nil": 0,
    "dozen": 12,
    "fourty": 40,
    "ninty": 90,
}
_PLURALS = {("sixes" if word == "six" else f"{word}s"): str(value) for value, word in enumerate(_UNITS)}
_SCALES = {"hundred": 100, "thousand": 1000}
_REPEATS = {"double": 2, "triple": 3}

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))

_FIRST = {*SMALL, *_REPEATS, "a", "oh", "o"}

_TOKEN = re.compile(r"(?P<figures>\d{1,3}(?:,\d{3})+(?![\d,])|\d+)|(?P<word>[^\W\d_]+)")
_SPELT_LETTERS = re.compile(r"\b[A-Za-z](?:-[A-Za-z]){2,}\b|\b[A-Za-z](?: [A-Za-z]){2,}\b")
_RUN_TOGETHER = re.compile(rf"\b(?:{'|'.join(_UNITS)}){{2,}}\b", re.IGNORECASE)
_UNIT_WORD = re.compile("|".join(_UNITS), re.IGNORECASE)
_THOUSANDS = re.compile(r"(\d{1,2})\s*(?:thousand|k)\b(?:,?\s+(?:and\s+)?(\d{1,3})\b)?", re.IGNORECASE)
_ORDER = re.compile(
    r"^[ \t]*\(?\d{1,2}[.)][ \t]+(?=[^\W\d_])"  # number of a list item
    r"|\b(?:digit|number|key|place|position|slot|step|item|turn|message)\s*#?\d{1,2}\s*(?=is\b|=|:|->)"
    r"|\b\d{1,2}:\d{2}\b"  # time of day
    r"|\$\d+\.(?!00)\d{2}\b",  # price with cents
    re.MULTILINE | re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[ \t-]+(?:more\s+|other\s+|of\s+)?"
    r"(?:turns?|keys?|digits?|times?(?!\s+\d)|mistakes?|options?|lines?|steps?|screens?"
    r"|press(?:es)?|messages?|minutes?|seconds?|moments?|questions?|wires?|lamps?|lights?|buttons?|letters?"
    r"|symbols?|arrows?|spots?|mm|millimet(?:re|er)s?|years?|tries|attempts?|things?)\b",
    re.IGNORECASE,
)
_PROSE_BEFORE = re.compile(
    r"\b(?:no|which|that|this|the|each|every|any|another|only|right|wrong|correct|some)\s+$", re.IGNORECASE
)
_TWICE = re.compile(r"\s+twice\b", re.IGNORECASE)
_NO_CENTS = re.compile(r"\.00\b")
_LOOK_BACK, _MOST_WORDS = 16, 12
_PROSE_AFTER = re.compile(r"\s+(?:of|by|who|which|that)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a message, with its position."""

    digits: str
    spelt: bool
    start: int
    end: int


def normalize_characters(message: str) -> str:
    """The message with compatibility characters and dashes replaced by plain ones."""
    return unicodedata.normalize("NFKC", message).translate(_DASHES)


def normalize_text(message: str) -> str:
    """The message with plain characters, and with spelt or run-together words separated."""
    joined = normalize_characters(message)
    joined = _SPELT_LETTERS.sub(lambda found: re.sub("[- ]", "", found[0]), joined)
    return _RUN_TOGETHER.sub(lambda found: " ".join(_UNIT_WORD.findall(found[0])), joined)


def mask_ordinals(message: str) -> str:
    """The normalized message with list numbers, times and the like replaced by spaces."""
    return _ORDER.sub(lambda found: " " * len(found[0]), normalize_text(message))


def read_numbers(text: str) -> list[Number]:
    """The numbers in a masked text, in order, except counts such as `3 buttons`."""
    tokens = list(_TOKEN.finditer(text))
    romans = roman_numerals(text)
    found: list[Number] = []
    at = 0
    while at < len(tokens):
        number: Number | None
        token = tokens[at]
        if token.start() in romans:
            number, at = Number(str(romans[token.start()]), True, token.start(), token.end()), at + 1
        else:
            number, at = _number(text, tokens, at, found[-1] if found else None)
        if number is not None and not _COUNTED.match(text, number.end):
            found.append(number)
    return found


def _number(
    text: str, tokens: list[re.Match[str]], at: int, before: Number | None
) -> tuple[Number | None, int]:
    """The number that starts at this token, or None; and the index of the next token to read."""
    token = tokens[at]
    if token["figures"] and (mixed := _THOUSANDS.match(text, token.start())):
        value = 1000 * int(mixed[1]) + int(mixed[2] or 0)
        skip = at + 1
        while skip < len(tokens) and tokens[skip].start() < mixed.end():
            skip += 1
        return Number(str(value), True, mixed.start(), mixed.end()), skip
    if token["figures"]:
        digits = token["figures"].replace(",", "")
        end = token.end() + (3 if _NO_CENTS.match(text, token.end()) else 0)
        if len(digits) == 1 and _TWICE.match(text, token.end()):
            digits *= 2
        skip = at + 1 + (end > token.end())
        return Number(digits, False, token.start(), end), skip
    if token["word"].lower() not in _FIRST:
        return None, at + 1
    words = _adjacent_words(text, tokens, at)
    digits, used = _spelt(words)
    if words[0] in ("oh", "o") and before is not None and before.spelt:
        gap = text[before.end : token.start()]
        digits, used = ("0", 1) if not gap.strip(" -") else ("", 0)
    if not used:
        return None, at + 1
    end = tokens[at + used - 1].end()
    preceding = text[max(0, token.start() - _LOOK_BACK) : token.start()]
    alone = used == 1 and words[0] == "one"
    if alone and (_PROSE_BEFORE.search(preceding) or _PROSE_AFTER.match(text, end)):
        return None, at + 1
    return Number(digits, True, token.start(), end), at + used


def _adjacent_words(text: str, tokens: list[re.Match[str]], at: int) -> list[str]:
    """This word and the following ones that are separated only by spaces and hyphens."""
    words = [tokens[at]["word"].lower()]
    for left, right in pairwise(tokens[at : at + _MOST_WORDS]):
        if right["word"] is None or text[left.end() : right.start()].strip(" -"):
            break
        words.append(right["word"].lower())
    return words


def _spelt(words: list[str]) -> tuple[str, int]:
    """The digits that the words start with, and the number of words used; ("", 0) if there are none."""
    if words[0] in _REPEATS and len(words) > 1 and words[1] in _UNITS:
        return str(SMALL[words[1]]) * _REPEATS[words[0]], 2
    if words[0] in SMALL and len(words) > 1 and words[1] in _PLURALS and 2 <= SMALL[words[0]] <= 4:
        return _PLURALS[words[1]] * SMALL[words[0]], 2
    value, used = (1, 1) if words[0] == "a" and words[1:2] and words[1] in _SCALES else _below_hundred(words)
    if not used:
        return "", 0
    whole, scale = 0, 10**6
    while used < len(words) and _SCALES.get(words[used], scale) < scale:
        scale = _SCALES[words[used]]
        whole, used = whole + value * scale, used + 1
        joint = used + (words[used : used + 1] == ["and"])
        value, more = _below_hundred(words[joint:])
        used = joint + more if more else used
    return str(whole + value), used


def _below_hundred(words: list[str]) -> tuple[int, int]:
    if not words or words[0] not in SMALL:
        return 0, 0
    value = SMALL[words[0]]
    if value >= 20 and len(words) > 1 and 1 <= SMALL.get(words[1], 0) <= 9:
        return value + SMALL[words[1]], 2
    return value, 1
