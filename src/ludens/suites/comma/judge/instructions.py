"""Whether the Expert's message names an action, by its name or in other words."""

from __future__ import annotations

import re
from collections.abc import Callable

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_PLACES = re.compile(r"\b(top|middle|bottom) (left|right)\b")
_WIRES = re.compile(rf"\b(?:(?:wire|number) ([1-6])|({'|'.join(_ORDINALS)}) (?:one|wire)|number one)\b")
_LABELS = re.compile(r"\blabel(?:led|ed)?(?: is)? [\"']?([1-4])\b")
_CODES = re.compile(r"\b(BCC|SCC|MEL|ACK|NEV|SEK)\b")
_TREATMENTS = re.compile(r"\b(surgery|cryotherapy|no treatment)\b")


def instructed(puzzle: str, advice: str, action: str) -> bool | None:
    """Whether the advice names this action; None where it names no such action."""
    if re.search(rf"\b{re.escape(action)}\b", advice, re.IGNORECASE):
        return True
    named = _READERS[puzzle](advice) if puzzle in _READERS else set()
    return action in named if named else None


def _places(advice: str) -> set[str]:
    return {f"press_{row}_{side}_button" for row, side in _PLACES.findall(advice.lower())}


def _wires(advice: str) -> set[str]:
    found = set()
    for hit in _WIRES.finditer(advice.lower()):
        number = hit[1] or (str(_ORDINALS.index(hit[2]) + 1) if hit[2] else "1")
        found.add(f"cut_wire_{number}")
    return found


def _labels(advice: str) -> set[str]:
    return {f"press_{label}" for label in _LABELS.findall(advice.lower())}


def _clinic(advice: str) -> set[str]:
    codes = {f"diagnose_{code}" for code in _CODES.findall(advice)}
    treatments = {f"treat_{name.replace(' ', '_')}" for name in _TREATMENTS.findall(advice.lower())}
    return codes | treatments


def _maze(advice: str) -> set[str]:
    """Moving somewhere is not checking the position."""
    lower = advice.lower()
    checks = re.search(r"\bcheck\b", lower) and not re.search(r"\b(?:then|not yet|until)\b", lower)
    moves = {f"move_{way}" for way in re.findall(r"\b(?:go|move) (up|down|left|right)\b", lower)}
    goes = {"move"} if re.search(r"\bgo to\b", lower) else set()
    return moves | goes | ({"check_position"} if checks else set())


def _letters(advice: str) -> set[str]:
    """Turning comes before submitting where the advice asks for both."""
    lower = advice.lower()
    turns = {f"{way}_button_{slot}" for slot, way in re.findall(r"slot ([1-5])[^.]*? (up|down)\b", lower)}
    turns |= {"turn"} if re.search(r"\bturn slot\b|\bmake it\b", lower) else set()
    return turns or ({"submit"} if "submit" in lower else set())


_READERS: dict[str, Callable[[str], set[str]]] = {
    "wire": _wires,
    "who": _places,
    "led": _places,
    "keypad": _places,
    "memory": _labels,
    "telehealth": _clinic,
    "maze": _maze,
    "password": _letters,
}
