"""Roman numerals in a message."""

from __future__ import annotations

import re

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
