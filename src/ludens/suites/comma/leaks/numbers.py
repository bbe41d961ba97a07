"""Numbers in a message, in figures or words, with their positions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL = r"(?=[IVXLCDM])M{0,9}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_SEPARATOR = r"[\s,.-]{1,3}"


def _runs_of(numeral: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{numeral})(?:{_SEPARATOR}(?:{numeral})(?!\w))*(?![\w'])")


_UPPER, _ANY_CASE = _runs_of(_NUMERAL), _runs_of(f"{_NUMERAL}|{_NUMERAL.lower()}")
_LETTERS = re.compile(r"[A-Za-z]+")
_CUE = re.compile(r"\b(?:romans?|numerals?|pin|code|password|balance)\b", re.IGNORECASE)
_ROMAN = re.compile(r"\broman", re.IGNORECASE)
_NO_WORD = 5
"""Numerals of this many letters are no words or abbreviations."""


def roman_numerals(text: str) -> dict[int, int]:
    """Values of the Roman numerals in a text, by position.

    Short numerals such as CD or MIX count only in a run of several or with a cue, a single letter never.
    Numerals in lower case count only where Roman numerals are mentioned.
    """
    cued = _CUE.search(text) is not None
    found = dict[int, int]()
    for run in (_ANY_CASE if _ROMAN.search(text) else _UPPER).finditer(text):
        numerals = list(_LETTERS.finditer(run[0]))
        longest = max(len(numeral[0]) for numeral in numerals)
        several = len(numerals) > 1 and (longest > 1 or cued)
        if several or longest >= _NO_WORD or (cued and longest > 1):
            found |= {run.start() + numeral.start(): _value(numeral[0]) for numeral in numerals}
    return found


def _value(numeral: str) -> int:
    values = [_VALUES[letter] for letter in numeral.upper()]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


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


_OPERATORS = (
    (r",?\s*\b(?:plus|increased by|and add|add)\b\s*", " + "),
    (r",?\s*\b(?:minus|take away|decreased by|and subtract)\b\s*", " - "),
    (r"\s*\b(?:times|multiplied by)\b\s*", " * "),
    (r"\s*\bdivided by\b\s*", " / "),
    (r"(?<=\d)\s*[x×](?=\s*\d)", " *"),
    (r"(?<=\d)\s*÷\s*", " / "),
    (r"\b(?:twice|double)\s+(\d{1,9})", r"\1 * 2"),
    (r"\bhalf\s+(?:of\s+)?(\d{1,9})", r"\1 / 2"),
)  # fmt: skip
_SUM = re.compile(r"(?<!\d)\d{1,9}(?:(?:\s?[+*]\s?|\s[-/]\s)\d{1,9}(?!\d)){1,6}")
_PART = re.compile(r"([-+*/]?)\s*(\d+)")

_N = r"(?<!\d)(\d{1,9})(?!\d)"
"""Longer numbers are ignored."""
_UNIT = r"(?:\s+(?:dollars?|bucks|digits?))?"
_PHRASES: tuple[tuple[str, Callable[..., float]], ...] = (
    (rf"{_N}{_UNIT}\s+(?:more than|greater than|higher than|above|over|after|up from)\s+\$?{_N}",
     lambda a, b: b + a),
    (rf"{_N}{_UNIT}\s+(?:less than|fewer than|lower than|smaller than|below|under|before|short of)\s+\$?{_N}",
     lambda a, b: b - a),
    (rf"\b(?:right|just|directly|immediately|next|number|comes)\s+(?:after|above)\s+{_N}", lambda a: a + 1),
    (rf"\bfollows\s+{_N}", lambda a: a + 1),
    (rf"\b(?:right|just|directly|immediately|number|comes)\s+(?:before|below)\s+{_N}", lambda a: a - 1),
    (rf"\b(?:twice|double)\s+{_N}", lambda a: 2 * a),
    (rf"\bhalf\s+(?:of\s+)?{_N}", lambda a: a / 2),
    (rf"\ba?\s*third\s+of\s+{_N}", lambda a: a / 3),
    (rf"\ba?\s*quarter\s+of\s+{_N}", lambda a: a / 4),
    (rf"\badd(?:ing)?\s+{_N}\s+to\s+{_N}", lambda a, b: a + b),
    (rf"\b(?:subtract(?:ing)?|take|taking)\s+{_N}\s+(?:away\s+)?from\s+{_N}", lambda a, b: b - a),
    (rf"\bsum of\s+{_N}\s+and\s+{_N}", lambda a, b: a + b),
    (rf"\bproduct of\s+{_N}\s+and\s+{_N}", lambda a, b: a * b),
    (rf"\bdifference (?:between|of)\s+{_N}\s+and\s+{_N}", lambda a, b: abs(a - b)),
    (rf"\bbetween\s+{_N}\s+and\s+{_N}", lambda a, b: (a + b) / 2 if abs(a - b) == 2 else -1),
    (rf"\bincreas(?:e|ing)\s+{_N}\s+by\s+{_N}", lambda a, b: a + b),
    (rf"\b(?:decreas|reduc)(?:e|ing)\s+{_N}\s+by\s+{_N}", lambda a, b: a - b),
    (rf"{_N}\s+less\s+{_N}", lambda a, b: a - b),
    (rf"{_N}\s+and\s+{_N}\s+more\b", lambda a, b: a + b),
    (rf"{_N}\s+is\s+{_N}\s+too\s+(?:low|small|little|few)\b", lambda a, b: a + b),
    (rf"{_N}\s+is\s+{_N}\s+too\s+(?:high|big|large|much|many)\b", lambda a, b: a - b),
    (rf"\bsuccessor of\s+{_N}", lambda a: a + 1),
    (rf"\bpredecessor of\s+{_N}", lambda a: a - 1),
    (rf"{_N},?\s+halved\b", lambda a: a / 2),
    (rf"{_N},?\s+doubled\b", lambda a: 2 * a),
    (r"(?<![-\d])(\d{3,9})-(\d{1,3})(?![-\d])", lambda a, b: a - b),
    (rf"{_N}\s+squared\b", lambda a: a * a),
    (rf"\bsquare of\s+{_N}", lambda a: a * a),
)  # fmt: skip
_REFERENTS = 4
_REFERENCE = re.compile(r"\b(?:that|this|it)\b(?:\s+(?:number|one|value|amount)\b)?", re.IGNORECASE)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), compute) for pattern, compute in _PHRASES)
_SIGNS = tuple((re.compile(pattern, re.IGNORECASE), sign) for pattern, sign in _OPERATORS)

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_FROM_LEFT = {
    name: position
    for position, ordinal in enumerate(_ORDINALS)
    for name in (ordinal, f"{position + 1}{('st', 'nd', 'rd')[position] if position < 3 else 'th'}")
}
_WHICH = rf"(?P<which>{'|'.join(_FROM_LEFT)}|last|final)"
_INDIRECT_UNITS = (
    r"(?:\s+(?:two|three|four|half|pair|digits?|figures?|numbers?|ones?|keys?|part|of|my|the|pin|code"
    r"|[234](?=\s*(?:digits?\b|figures?\b|numbers?\b|of\b|are\b|is\b|:|=)))\b)*"
)
_IS = r"\s*(?:(?:,|:|=|->|-|(?:is|are|would be|was|an?|it'?s)\b)\s*){0,4}"
_CLAIM = re.compile(
    rf"\b(?:{_WHICH}(?P<units>{_INDIRECT_UNITS})|(?P<starts>starts|begins|starting|beginning)(?:\s+(?:with|by|in))?"
    rf"|(?P<ends>ends|ending)(?:\s+(?:with|in|on|by))?"
    rf"|d(?:igit)?\s*#?(?P<number>[1-9])(?=\s*(?:is\b|=|:|->))){_IS}(?P<digits>\d+)(?!\w)",
    re.IGNORECASE,
)
_WHOLE_PART = re.compile(r"\b(?:two|three|four|2|3|4|half|pair|part)\b", re.IGNORECASE)


def arithmetic_results(text: str, numbers: Sequence[Number]) -> Iterator[int]:
    """The results of the arithmetic in a message, whose numbers are given."""
    if numbers:
        yield from _results(in_figures(text, numbers))


def relative_results(text: str, numbers: Sequence[Number], earlier: Iterable[int]) -> Iterator[int]:
    """The results of arithmetic that refers to another number: `three less than that`.

    Args:
        text: The message.
        numbers: Its numbers.
        earlier: Numbers of earlier messages that it may refer to.
    """
    figures = in_figures(text, numbers)
    if not _REFERENCE.search(figures):
        return
    here = (int(number.digits) for number in numbers[:_REFERENTS] if len(number.digits) < 10)
    for referent in {*here, *earlier}:
        yield from _results(_REFERENCE.sub(str(referent), figures))


def _results(figures: str) -> Iterator[int]:
    for pattern, compute in _COMPILED:
        for found in pattern.finditer(figures):
            value = compute(*map(int, found.groups()))
            if value == int(value) and value >= 0:
                yield int(value)
    for pattern, sign in _SIGNS:
        figures = pattern.sub(sign, figures)
    for found in _SUM.finditer(figures):
        value = _indirect_value(found[0])
        if value == int(value) and value >= 0:
            yield int(value)


def in_figures(text: str, numbers: Sequence[Number]) -> str:
    """The text with spelt numbers replaced by figures."""
    kept, at = [], 0
    for number in numbers:
        doubled = number.spelt and text[number.start : number.start + 6].lower() == "double"
        kept += [text[at : number.start], f"double {number.digits[0]}" if doubled else number.digits]
        at = number.end
    return "".join([*kept, text[at:]])


def _indirect_value(expression: str) -> float:
    """The value of a sum of products; -1 replaces a term divided by zero."""
    parts = [(sign or "+", int(digits)) for sign, digits in _PART.findall(expression)]
    terms: list[float] = []
    for sign, number in parts:
        if sign in "+-":
            terms.append(number if sign == "+" else -number)
        else:
            terms[-1] = terms[-1] * number if sign == "*" else terms[-1] / number if number else -1.0
    return sum(terms, 0.0)


def claimed_digits(message: str, length: int) -> Iterator[tuple[int, str]]:
    """Positions (from 0) and digits that a message states of a number of this length."""
    for claim in _CLAIM.finditer(in_figures(message, read_numbers(message))):
        digits = claim["digits"]
        start = _start(claim, length)
        if start >= 0 and start + len(digits) <= length:
            yield from enumerate(digits, start)


def _start(claim: re.Match[str], length: int) -> int:
    from_end = length - len(claim["digits"])
    if claim["starts"]:
        return 0
    if claim["ends"]:
        return from_end
    if claim["number"]:
        return int(claim["number"]) - 1
    which = claim["which"].lower()
    if which not in _FROM_LEFT:
        return from_end
    position = _FROM_LEFT[which]
    # "The second half" or "the second two": positions are counted in parts of this size.
    return position * len(claim["digits"]) if _WHOLE_PART.search(claim["units"]) else position
