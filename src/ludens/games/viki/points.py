"""Reads trajectories from an answer: two lists of five pixel points, yours and the partner's."""

from __future__ import annotations

import json
import re
from typing import Any

from ludens.core.errors import Illegal, Unreadable

POINTS = 5
ROBOTS = ("you", "partner")

_FENCE = re.compile(r"```[a-z]*", re.IGNORECASE)
_TRAILING = re.compile(r",(?=\s*\])")
_ALLOWED = frozenset("0123456789+-.eE,[]() \t\r\n")
_DEEPEST = 4
_LONGEST = 4_000

Trajectories = tuple[tuple[tuple[float, float], ...], ...]


def read_points(text: str, width: int, height: int) -> str:
    """The canonical form of an answer for a picture of this size: JSON of two lists of five [x, y].

    Raises a `MoveError` that says what is wrong; points outside the picture are wrong too.
    """
    said = _FENCE.sub("", text).strip()
    if len(said) > _LONGEST:
        raise Unreadable(f"the answer has {len(said):,} characters; two lists of {POINTS} points need fewer.")
    if re.search(r"nan|inf", said, re.IGNORECASE):
        raise Illegal("a coordinate is not a finite number.")
    bad = next((character for character in said if character not in _ALLOWED), None)
    if bad is not None:
        raise Unreadable(f"the answer is not a list of points: {bad!r} is neither a number nor a bracket.")
    listed = _TRAILING.sub("", said.replace("(", "[").replace(")", "]"))
    if _depth(listed) > _DEEPEST:
        raise Unreadable("the answer has too many nested brackets; two lists of [x, y] are expected.")
    try:
        found = json.loads(listed)
    except ValueError:
        raise Unreadable(
            "the answer is not a list of points such as [[[10, 20], ...], [[30, 40], ...]]."
        ) from None
    return json.dumps(_checked(found, width, height), separators=(",", ":"))


def points_of(action: str) -> Trajectories:
    """The trajectories of a canonical answer."""
    return tuple(tuple((float(x), float(y)) for x, y in trajectory) for trajectory in json.loads(action))


def _checked(found: Any, width: int, height: int) -> list[list[list[float]]]:
    if not isinstance(found, list) or len(found) != len(ROBOTS):
        count = len(found) if isinstance(found, list) else 0
        raise Illegal(f"two trajectories are expected, yours and your partner's, not {count}.")
    return [_trajectory(one, who, width, height) for who, one in zip(ROBOTS, found, strict=True)]


def _trajectory(found: Any, who: str, width: int, height: int) -> list[list[float]]:
    if not isinstance(found, list) or len(found) != POINTS:
        count = len(found) if isinstance(found, list) else 0
        raise Illegal(f"the trajectory of {who} has {count} points; {POINTS} are expected.")
    for number, point in enumerate(found, 1):
        if not isinstance(point, list) or len(point) != 2 or not all(map(_is_number, point)):
            raise Illegal(f"point {number} of {who} is not a pair of numbers [x, y].")
        if not (0 <= point[0] <= width and 0 <= point[1] <= height):
            raise Illegal(f"point {number} of {who} is outside the picture of {width} by {height} pixels.")
    return [[round(float(x), 1), round(float(y), 1)] for x, y in found]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e9 < value < 1e9


def _depth(text: str) -> int:
    deepest = depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        deepest = max(deepest, depth)
    return deepest
