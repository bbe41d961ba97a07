"""Numbers disguised by arithmetic: `one more than 1233`, `half of 2468`, `1200 + 34`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from ludens.suites.comma.leaks.numbers import Number

_OPERATORS = (
    (r",?\s*\b(?:plus|increased by|and add|add)\b\s*", " + "),
    (r",?\s*\b(?:minus|take away|decreased by|and subtract)\b\s*", " - "),
    (r"\s*\b(?:times|multiplied by)\b\s*", " * "),
    (r"\s*\bdivided by\b\s*", " / "),
    (r"(?<=\d)\s*[x×](?=\s*\d)", " *"),
    (r"(?<=\d)\s*÷\s*", " / "),
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
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), reckon) for pattern, reckon in _PHRASES)
_SIGNS = tuple((re.compile(pattern, re.IGNORECASE), sign) for pattern, sign in _OPERATORS)


def results(text: str, numbers: Sequence[Number]) -> Iterator[int]:
    """The value of every expression in a message whose numbers have been read."""
    if not numbers:
        return
    told = in_figures(text, numbers)
    for pattern, reckon in _COMPILED:
        for found in pattern.finditer(told):
            value = reckon(*map(int, found.groups()))
            if value == int(value) and value >= 0:
                yield int(value)
    for pattern, sign in _SIGNS:
        told = pattern.sub(sign, told)
    for found in _SUM.finditer(told):
        value = _value(found[0])
        if value == int(value) and value >= 0:
            yield int(value)


def in_figures(text: str, numbers: Sequence[Number]) -> str:
    """The text with spelt-out numbers as digits."""
    kept, at = [], 0
    for number in numbers:
        doubled = number.spelt and text[number.start : number.start + 6].lower() == "double"
        kept += [text[at : number.start], f"double {number.digits[0]}" if doubled else number.digits]
        at = number.end
    return "".join([*kept, text[at:]])


def _value(sum_: str) -> float:
    """The value of a sum of products; None for a division by zero."""
    parts = [(sign or "+", int(digits)) for sign, digits in _PART.findall(sum_)]
    terms: list[float] = []
    for sign, number in parts:
        if sign in "+-":
            terms.append(number if sign == "+" else -number)
        else:
            terms[-1] = terms[-1] * number if sign == "*" else terms[-1] / number if number else -1.0
    return reduce(lambda a, b: a + b, terms, 0.0)
