"""Which actions the Expert's advice names, in the words of each puzzle."""

from __future__ import annotations

import re
from collections.abc import Callable

from ludens.games.comma.color.manual import COLOURS, SQUARES, squares
from ludens.games.comma.color.rules import ColorPanel

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_PLACES = re.compile(r"\b(top|middle|bottom) (left|right)\b")
_WIRES = re.compile(rf"\b(?:(?:wire|number) ([1-6])|({'|'.join(_ORDINALS)}) (?:one|wire)|number one)\b")
_LABELS = re.compile(r"\blabel(?:led|ed)?(?: is)? [\"']?([1-4])\b")
_DIAGNOSES = re.compile(r"\b(BCC|SCC|MEL|ACK|NEV|SEK)\b")
_TREATMENTS = re.compile(r"\b(surgery|cryotherapy|no treatment)\b")

_ARROWS = re.compile(r"\b(up|down)\b")
_CHOICES = {"deposit": "press_up_arrow", "withdrawal": "press_down_arrow", "go back": "press_down_arrow"}
_CHOOSES = re.compile(r"\b(?:choose|select|pick) (?:the )?(deposit|withdrawal)\b|\b(go back)\b")
_DELETES = re.compile(r"\b(?:delete|erase|clear)\b")
_TYPES = re.compile(r"\b(?:type|key in|enter (?:the|your|an?|it|them|\$?\d+))\b")

_SQUARES = re.compile(r"\brow ([0-3]),? (?:and )?col(?:umn)? ([0-3])\b")
_SIDES = {"top": "top", "topmost": "top", "lowest": "bottom", "bottom": "bottom", "left": "left",
          "leftmost": "left", "right": "right", "rightmost": "right"}  # fmt: skip
_LINES = re.compile(r"\b(top(?:most)?|bottom|lowest|left(?:most)?|right(?:most)?) (row|column)\b")
_BOARD_ROW = re.compile(r"^Row \d: (.+)$", re.MULTILINE)


def names_action(puzzle: str, advice: str, action: str, panel: str = "") -> bool | None:
    """Whether the advice names this action, by its name or in words; None if it names no action at all.

    Args:
        puzzle: Name of the puzzle.
        advice: The Expert's message.
        action: The Solver's action.
        panel: What the panel showed, needed where actions are named by what is on it.
    """
    if re.search(rf"\b{re.escape(action)}\b", advice, re.IGNORECASE):
        return True
    if puzzle == "color":
        named = _color(advice, panel)
    else:
        named = _NAMED_ACTIONS[puzzle](advice) if puzzle in _NAMED_ACTIONS else set()
    return action in named if named else None


def _places(advice: str) -> set[str]:
    return {f"press_{row}_{side}_button" for row, side in _PLACES.findall(advice.lower())}


def _wires(advice: str) -> set[str]:
    found = set()
    for match in _WIRES.finditer(advice.lower()):
        number = match[1] or (str(_ORDINALS.index(match[2]) + 1) if match[2] else "1")
        found.add(f"cut_wire_{number}")
    return found


def _labels(advice: str) -> set[str]:
    return {f"press_{label}" for label in _LABELS.findall(advice.lower())}


def _telehealth(advice: str) -> set[str]:
    codes = {f"diagnose_{code}" for code in _DIAGNOSES.findall(advice)}
    treatments = {f"treat_{name.replace(' ', '_')}" for name in _TREATMENTS.findall(advice.lower())}
    return codes | treatments


def _maze(advice: str) -> set[str]:
    """`check_position` counts only if it is to be done now."""
    lower = advice.lower()
    checks = re.search(r"\bcheck\b", lower) and not re.search(r"\b(?:then|not yet|until)\b", lower)
    moves = {f"move_{way}" for way in re.findall(r"\b(?:go|move) (up|down|left|right)\b", lower)}
    goes = {"move"} if re.search(r"\bgo to\b", lower) else set()
    return moves | goes | ({"check_position"} if checks else set())


def _password(advice: str) -> set[str]:
    """Turning comes before submitting if both are requested."""
    lower = advice.lower()
    turns = {f"{way}_button_{slot}" for slot, way in re.findall(r"slot ([1-5])[^.]*? (up|down)\b", lower)}
    turns |= {"turn"} if re.search(r"\bturn slot\b|\bmake it\b", lower) else set()
    return turns or ({"submit"} if "submit" in lower else set())


def _atm(advice: str) -> set[str]:
    """Moving the arrow and deleting come before Enter; what is typed is confirmed with Enter."""
    lower = advice.lower()
    first = {f"press_{way}_arrow" for way in _ARROWS.findall(lower)}
    first |= {_CHOICES[a or b] for a, b in _CHOOSES.findall(lower)}
    first |= {"press_delete"} if _DELETES.search(lower) else set()
    if _TYPES.search(lower):
        return first | {"press_enter"}
    return first or ({"press_enter"} if re.search(r"\b(?:enter|confirm)\b", lower) else set())


def _color(advice: str, panel: str) -> set[str]:
    """Squares by row and column, or by a group; groups in questions do not count."""
    sentences = re.findall(r"[^.!?\n]+[.!?]*", advice.lower())
    stated = "\n".join(sentence for sentence in sentences if not sentence.endswith("?"))
    named = {f"click_row_{row}_col_{column}" for row, column in _SQUARES.findall(stated)}
    board = [colour.strip() for row in _BOARD_ROW.findall(panel) for colour in row.split(",")]
    if named or len(board) != SQUARES or set(board) == {"white"}:
        return named
    groups = {f"{_SIDES[side]} {line}" for side, line in _LINES.findall(stated)}
    groups |= {colour for colour in COLOURS if re.search(rf"\b{colour}\b", stated)}
    return {ColorPanel.actions[square] for group in groups for square in squares(group, board)}


_NAMED_ACTIONS: dict[str, Callable[[str], set[str]]] = {
    "atm": _atm,
    "wire": _wires,
    "who": _places,
    "led": _places,
    "keypad": _places,
    "memory": _labels,
    "telehealth": _telehealth,
    "maze": _maze,
    "password": _password,
}
