"""The judge that needs no model.

It finds repetition loops by counting, role confusion by typical phrases, and one kind of miscommunication:
the Expert named one action and the Solver took another, or acted instead of answering, and it was a mistake.
It cannot tell whether the panel was read correctly, so it never gives the label `misinterpretation`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from ludens.games.comma.color import COLOURS, SQUARES, ColorPanel, squares
from ludens.suites.comma.judge.conversation import NORMAL, Conversation, Label, Line

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_WIRES = re.compile(rf"\b(?:(?:wire|number) ([1-6])|({'|'.join(_ORDINALS)}) (?:one|wire)|number one)\b")
_SIDES = {"topmost": "top", "lowest": "bottom", "leftmost": "left", "rightmost": "right"}


def names_action(puzzle: str, advice: str, action: str, panel: str = "") -> bool | None:
    """Whether the advice names this action, by its name or in words; None if it names no action at all.

    Some actions are named by what the panel shows.
    """
    if re.search(rf"\b{re.escape(action)}\b", advice, re.IGNORECASE):
        return True
    actions = _actions_in_words(puzzle, advice, panel)
    return action in actions if actions else None


def _actions_in_words(puzzle: str, advice: str, panel: str) -> set[str]:
    lower = advice.lower()
    match puzzle:
        case "who" | "led" | "keypad":
            return _fill("press_{}_{}_button", r"\b(top|middle|bottom) (left|right)\b", lower)
        case "memory":
            return _fill("press_{}", r"\blabel(?:led|ed)?(?: is)? [\"']?([1-4])\b", lower)
        case "wire":
            numbers = [wire[1] or _ORDINALS.index(wire[2] or "first") + 1 for wire in _WIRES.finditer(lower)]
            return {f"cut_wire_{number}" for number in numbers}
        case "telehealth":
            treatments = _fill("treat_{}", r"\b(surgery|cryotherapy|no treatment)\b", lower)
            diagnoses = _fill("diagnose_{}", r"\b(BCC|SCC|MEL|ACK|NEV|SEK)\b", advice)
            return diagnoses | {treatment.replace(" ", "_") for treatment in treatments}
        case "maze":
            moves = _fill("move_{}", r"\b(?:go|move) (up|down|left|right)\b", lower)
            moves |= _fill("move", r"\bgo to\b", lower)
            # `check_position` counts only if it is to be done now.
            later = re.search(r"\b(?:then|not yet|until)\b", lower)
            return moves if later else moves | _fill("check_position", r"\bcheck\b", lower)
        case "password":
            # Turning comes before submitting if both are requested.
            turns = _fill("{1}_button_{0}", r"slot ([1-5])[^.]*? (up|down)\b", lower)
            turns |= _fill("turn", r"\bturn slot\b|\bmake it\b", lower)
            return turns or _fill("submit", "submit", lower)
        case "atm":
            # Moving the arrow and deleting come before Enter; what is typed is confirmed with Enter.
            first = _fill("press_{}_arrow", r"\b(up|down)\b", lower)
            first |= _fill("press_up_arrow", r"\b(?:choose|select|pick) (?:the )?deposit\b", lower)
            first |= _fill("press_down_arrow", r"\b(?:choose|select|pick) (?:the )?withdrawal\b", lower)
            first |= _fill("press_down_arrow", r"\bgo back\b", lower)
            first |= _fill("press_delete", r"\b(?:delete|erase|clear)\b", lower)
            if re.search(r"\b(?:type|key in|enter (?:the|your|an?|it|them|\$?\d+))\b", lower):
                return first | {"press_enter"}
            return first or _fill("press_enter", r"\b(?:enter|confirm)\b", lower)
        case "color":
            return _squares(lower, panel)
    return set()


def _fill(template: str, pattern: str, text: str) -> set[str]:
    return {template.format(*match.groups()) for match in re.finditer(pattern, text)}


def _squares(advice: str, panel: str) -> set[str]:
    """Squares by row and column, or by a group; groups in questions do not count."""
    stated = "\n".join(part for part in _SENTENCE.findall(advice) if not part.endswith("?"))
    clicks = _fill("click_row_{}_col_{}", r"\brow ([0-3]),? (?:and )?col(?:umn)? ([0-3])\b", stated)
    rows = re.findall(r"^Row \d: (.+)$", panel, re.MULTILINE)
    board = [colour.strip() for row in rows for colour in row.split(",")]
    if clicks or len(board) != SQUARES or set(board) == {"white"}:
        return clicks
    lines = re.findall(r"\b(top(?:most)?|bottom|lowest|left(?:most)?|right(?:most)?) (row|column)\b", stated)
    groups = {f"{_SIDES.get(side, side)} {line}" for side, line in lines}
    groups |= {colour for colour in COLOURS if re.search(rf"\b{colour}\b", stated)}
    return {ColorPanel.actions[square] for group in groups for square in squares(group, board)}


SIMILAR = 0.9
"""Similarity from which on two messages count as the same."""

_RESPONSE = re.compile(r"(?P<action>\w+): (?P<outcome>done|nothing happened|that was a mistake)")
_ACTION = re.compile(r"[a-z]+(?:_[A-Za-z0-9]+)+|submit")
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_EXPERT_AS_SOLVER, _SOLVER_AS_EXPERT = (
    [phrase.replace("<seen>", _TABLES["seen"]) for phrase in _TABLES[name]]
    for name in ("expert_as_solver", "solver_as_expert")
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


def judge_by_rules(conversation: Conversation) -> tuple[list[Label], str]:
    turns = list(_turns(conversation))
    reasons: dict[Label, str] = {
        "role confusion": _role_confusion(conversation),
        "repetition loop": _repetition(conversation, turns),
        "miscommunication": _ignored_advice(conversation.puzzle, turns),
    }
    labels = [label for label, reason in reasons.items() if reason]
    return labels or [NORMAL], "; ".join(filter(None, reasons.values())) or "no rule matched"


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
        phrase = ""
        if line.source == "Expert":
            own = "\n".join(part for part in _SENTENCE.findall(line.text) if not _QUOTED.search(part))
            phrase = _first_match(_EXPERT_AS_SOLVER, own)
            if not phrase and all(_ACTION.fullmatch(row) for row in line.text.splitlines() or [""]):
                return "the Expert wrote actions"
        elif line.source == "Solver":
            stated = (part for part in _SENTENCE.findall(line.text) if not _QUESTION.search(part))
            cited = next(filter(None, map(_MANUAL_CITED.search, stated)), None)
            phrase = cited[0] if cited else _first_match(_SOLVER_AS_EXPERT, line.text)
        if phrase:
            return f"the {line.source} said {phrase!r}"
    return ""


def _first_match(patterns: Sequence[str], text: str) -> str:
    return next((match[0] for pattern in patterns if (match := re.search(pattern, text))), "")


def _repetition(conversation: Conversation, turns: Sequence[_Turn]) -> str:
    failed: Counter[tuple[str, str, str]] = Counter()
    for turn in turns:
        if action := _mistake_twice(turn.outcomes):
            return f"{action} was repeated in one message after it had failed"
        for action, outcome in dict.fromkeys(turn.outcomes):
            failed[turn.panel, action, outcome] += outcome != "done"
            if failed[turn.panel, action, outcome] > 1 + (outcome == "nothing happened"):
                return f"{action} was repeated after it had failed"
    earlier: list[Line] = []
    for line in conversation.lines:
        if line.source == "Shows":
            earlier.clear()
        elif line.source in ("Solver", "Expert"):
            same = [past for past in earlier if past.source == line.source and _similar(past.text, line.text)]
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


def _similar(text: str, other: str) -> bool:
    """Compares word by word: asking about wire 1 and then about wire 2 is not the same."""
    a, b = (re.findall(r"\w+", each.lower()) for each in (text, other))
    return bool(a) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= SIMILAR


def _ignored_advice(puzzle: str, turns: Sequence[_Turn]) -> str:
    for turn in turns:
        action, outcome = turn.outcomes[0] if turn.outcomes else ("", "")
        if not turn.advice or outcome != "that was a mistake":
            continue
        advised = names_action(puzzle, turn.advice, action, turn.panel)
        if advised is False:
            return f"the Expert had named another action than {action}"
        rows = [row.strip() for row in turn.message.splitlines() if row.strip()]
        only_acts = len(rows) <= 2 and any(map(_ACTION.fullmatch, rows))
        if advised is None and turn.advice.rstrip().endswith("?") and only_acts:
            return f"{action} was taken instead of an answer"
    return ""
