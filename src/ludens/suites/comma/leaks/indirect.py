"""Numbers given indirectly: by arithmetic (`one more than 1233`, `1200 + 34`) or by position.

Arithmetic may refer to an earlier number, even of another message: `three less than that`.
By position means digit by digit, in any order and over several messages: `the last two digits are 71`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ludens.suites.comma.leaks.numbers import Number, read_numbers

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
_UNITS = (
    r"(?:\s+(?:two|three|four|half|pair|digits?|figures?|numbers?|ones?|keys?|part|of|my|the|pin|code"
    r"|[234](?=\s*(?:digits?\b|figures?\b|numbers?\b|of\b|are\b|is\b|:|=)))\b)*"
)
_IS = r"\s*(?:(?:,|:|=|->|-|(?:is|are|would be|was|an?|it'?s)\b)\s*){0,4}"
_CLAIM = re.compile(
    rf"\b(?:{_WHICH}(?P<units>{_UNITS})|(?P<starts>starts|begins|starting|beginning)(?:\s+(?:with|by|in))?"
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
        value = _value(found[0])
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


def _value(expression: str) -> float:
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
