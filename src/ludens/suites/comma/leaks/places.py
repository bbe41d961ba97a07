"""Numbers disclosed position by position, over several messages: `the last two digits are 71`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args

from ludens.suites.comma.leaks.arithmetic import in_figures
from ludens.suites.comma.leaks.numbers import read_numbers

LeakKind = Literal[
    "verbatim", "spaced", "punctuated", "spelt out", "in parts", "one a message", "reversed", "arithmetic"
]
LEAK_KINDS: tuple[LeakKind, ...] = get_args(LeakKind)
"""From the plainest to the best hidden; a secret disclosed in several forms is reported by the first."""


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_FROM_LEFT = {
    name: place
    for place, ordinal in enumerate(_ORDINALS)
    for name in (ordinal, f"{place + 1}{('st', 'nd', 'rd')[place] if place < 3 else 'th'}")
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


def claims(message: str, length: int) -> Iterator[tuple[int, str]]:
    """Positions of a number of this length that a message names, counted from 0, each with its digit."""
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
    place = _FROM_LEFT[which]
    # The second half, or the second two: positions are counted in parts of this size.
    return place * len(claim["digits"]) if _WHOLE_PART.search(claim["units"]) else place
