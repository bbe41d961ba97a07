"""The judge that needs no model.

It finds repetition loops by counting, role confusion by typical phrases, and one kind of miscommunication:
the Expert named one action and the Solver took another, or acted instead of answering, and it was a mistake.
It cannot tell whether the panel was read correctly, so it never gives the label `misinterpretation`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ludens.games.comma.color import COLOURS, SQUARES, ColorPanel, squares
from ludens.suites.comma.judge.conversation import NORMAL, Conversation, Label, Line

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


SIMILAR = 0.9
"""Similarity from which on two messages count as the same."""

_RESPONSE = re.compile(r"(?P<action>\w+): (?P<outcome>done|nothing happened|that was a mistake)")
_ACTION = re.compile(r"[a-z]+(?:_[A-Za-z0-9]+)+|submit")
_SEEN = r"(?:panel|screen|display|picture|image|grid|maze|wires?|letters|buttons|light|lesion|symbols?|mouse)"
_EXPERT_AS_SOLVER = (
    r"^\W*SOLVER\s*:",
    r"\bSOLVER: I\b",
    rf"\bI (?:can )?see (?:that )?(?:the|a|an|my) (?:\w+ )?{_SEEN}\b",
    rf"\bI am looking at the {_SEEN}",
    rf"\b(?:image|picture) shows\b|\b{_SEEN} (?:in front of me|I see|on my side)\b",
    rf"\bmy (?:own )?{_SEEN}\b",
    r"\bI(?:'ll| will| have| then)? (?:press|click|cut|turn|submit|move)(?:ed)?\b(?! (?:on|to|you)\b)",
    r"\bas the solver\b",
)
_SOLVER_AS_EXPERT = (
    r"^\W*EXPERT\s*:",
    r"\bmy manual says\b|\baccording to my manual\b|\bin my manual\b",
    r"\bas (?:the|an|a medical) expert\b",
    rf"\b(?:describe|tell me|read me)\b[^.?!]*\byour (?:own )?(?:\w+ )?{_SEEN}",
    r"\bon your (?:panel|screen)\b|\byour light\b|\b(?:press|cut|click|turn)\b[^.?!]*\bon your side\b",
)
_MANUAL_CITED = re.compile(
    r"(?<!what )(?<!as )\bthe manual says\b|\baccording to the (?:manual|guidelines)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"\?|\b(?:tell me|what|which|how|should I|whatever)\b", re.IGNORECASE)
"""The Solver asks what the manual says."""
_QUOTED = re.compile(r"\byou(?:'ve| have)? (?:said|told|wrote|described|mention\w*|say|see)\b", re.IGNORECASE)
"""The Expert repeats what the Solver described."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True)
class _Turn:
    """A Solver message with the panel and advice before it, and the outcomes of its actions."""

    panel: str
    advice: str
    message: str
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    """Action and outcome."""


def judge_by_rules(conversation: Conversation) -> tuple[list[Label], str]:
    """Labels and reason."""
    turns = list(_turns(conversation))
    reasons: dict[Label, str] = {
        "role confusion": _role_confusion(conversation),
        "repetition loop": _repetition(conversation, turns),
        "miscommunication": _ignored_advice(conversation.puzzle, turns),
    }
    found = {label: reason for label, reason in reasons.items() if reason}
    if not found:
        return [NORMAL], "no rule matched"
    return list(found), "; ".join(found.values())


def _turns(conversation: Conversation) -> Iterator[_Turn]:
    panel = advice = ""
    turn: _Turn | None = None
    for line in conversation.lines:
        if line.source == "Panel" and turn is not None:
            if response := _RESPONSE.match(line.text):
                turn.outcomes.append((response["action"], response["outcome"]))
            continue
        if turn is not None:
            yield turn
            turn = None
        if line.source == "Shows":
            panel = line.text
        elif line.source == "Expert":
            advice = line.text
        else:
            turn = _Turn(panel, advice, line.text)
    if turn is not None:
        yield turn


def _role_confusion(conversation: Conversation) -> str:
    for line in conversation.lines:
        if line.source not in ("Solver", "Expert"):
            continue
        is_expert = line.source == "Expert"
        phrase = _expert_as_solver(line.text) if is_expert else _solver_as_expert(line.text)
        if phrase:
            return f"the {line.source} said {phrase!r}"
        if is_expert and all(_ACTION.fullmatch(row) for row in line.text.splitlines() or [""]):
            return "the Expert wrote actions"
    return ""


def _expert_as_solver(message: str) -> str:
    own = "\n".join(part for part in _SENTENCE.findall(message) if not _QUOTED.search(part))
    return _first_match(_EXPERT_AS_SOLVER, own)


def _solver_as_expert(message: str) -> str:
    for sentence in _SENTENCE.findall(message):
        cited = _MANUAL_CITED.search(sentence)
        if cited and not _QUESTION.search(sentence):
            return cited[0]
    return _first_match(_SOLVER_AS_EXPERT, message)


def _first_match(patterns: Sequence[str], text: str) -> str:
    for pattern in patterns:
        flags = re.MULTILINE if "SOLVER" in pattern or "EXPERT" in pattern else re.IGNORECASE
        if match := re.search(pattern, text, flags):
            return match[0]
    return ""


def _repetition(conversation: Conversation, turns: Sequence[_Turn]) -> str:
    failed: Counter[tuple[str, str, str]] = Counter()
    for turn in turns:
        if action := _mistake_twice(turn.outcomes):
            return f"{action} was repeated in one message after it had failed"
        for action, outcome in dict.fromkeys(turn.outcomes):
            if outcome != "done":
                failed[turn.panel, action, outcome] += 1
                if failed[turn.panel, action, outcome] > 1 + (outcome == "nothing happened"):
                    return f"{action} was repeated after it had failed"
    earlier: list[Line] = []
    for line in conversation.lines:
        if line.source == "Shows":
            earlier.clear()
        elif line.source in ("Solver", "Expert"):
            same = [one for one in earlier if one.source == line.source and _similar(one.text, line.text)]
            if len(same) >= 2:
                return f"the {line.source} said the same three times"
            earlier.append(line)
    return ""


def _mistake_twice(outcomes: Sequence[tuple[str, str]]) -> str:
    """The action that was a mistake twice without a successful one in between, or an empty string."""
    mistakes = set[str]()
    for action, outcome in outcomes:
        if outcome == "done":
            mistakes.clear()
        elif outcome == "that was a mistake":
            if action in mistakes:
                return action
            mistakes.add(action)
    return ""


def _similar(one: str, other: str) -> bool:
    """Compares word by word: asking about wire 1 and then about wire 2 is not the same."""
    a, b = (re.findall(r"\w+", text.lower()) for text in (one, other))
    return bool(a) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= SIMILAR


def _ignored_advice(puzzle: str, turns: Sequence[_Turn]) -> str:
    for turn in turns:
        if not turn.outcomes or not turn.advice:
            continue
        action, outcome = turn.outcomes[0]
        if outcome != "that was a mistake":
            continue
        named = names_action(puzzle, turn.advice, action, turn.panel)
        if named is False:
            return f"the Expert had named another action than {action}"
        if named is None and turn.advice.rstrip().endswith("?") and _only_acts(turn.message):
            return f"{action} was taken instead of an answer"
    return ""


def _only_acts(message: str) -> bool:
    rows = [row for row in message.splitlines() if row.strip()]
    return any(_ACTION.fullmatch(row.strip()) for row in rows) and len(rows) <= 2
