"""The rule-based judge: it needs no model.

It finds repetition loops by counting, role confusion by typical phrases, and of miscommunication the one type
that shows in actions: an instruction named one action and the Solver did another, or acted instead of
answering, and it was a mistake. It cannot tell whether the panel was read correctly, so it never says
`misinterpretation`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ludens.suites.comma.judge.conversation import Conversation
from ludens.suites.comma.judge.instructions import instructed
from ludens.suites.comma.judge.labels import NORMAL, Label

ALIKE = 0.9
"""The similarity at which two messages count as the same."""

_ANSWER = re.compile(r"(?P<action>\w+): (?P<outcome>done|nothing happened|that was a mistake)")
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
_ASKED = re.compile(r"\?|\b(?:tell me|what|which|how|should I|whatever)\b", re.IGNORECASE)
"""A seat that asks what the manual says does not have it."""
_QUOTED = re.compile(r"\byou(?:'ve| have)? (?:said|told|wrote|described|mention\w*|say|see)\b", re.IGNORECASE)
"""A seat that repeats what it was told does not see it."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True)
class _Turn:
    """What the Solver said and did, after what the Expert had said and what the panel showed."""

    shown: str
    heard: str
    said: str
    done: list[tuple[str, str]] = field(default_factory=list)
    """Actions with their outcomes."""


def judge_by_rules(conversation: Conversation) -> tuple[list[Label], str]:
    """The labels, and the reasons."""
    turns = list(_turns(conversation))
    reasons: dict[Label, str] = {
        "role confusion": _role(conversation),
        "repetition loop": _loop(conversation, turns),
        "miscommunication": _ignored(conversation.puzzle, turns),
    }
    found = {label: reason for label, reason in reasons.items() if reason}
    if not found:
        return [NORMAL], "no rule was broken"
    return list(found), "; ".join(found.values())


def _turns(conversation: Conversation) -> Iterator[_Turn]:
    shown = heard = ""
    turn: _Turn | None = None
    for line in conversation.lines:
        if line.who == "Panel" and turn is not None:
            if answer := _ANSWER.match(line.words):
                turn.done.append((answer["action"], answer["outcome"]))
            continue
        if turn is not None:
            yield turn
            turn = None
        if line.who == "Shows":
            shown = line.words
        elif line.who == "Expert":
            heard = line.words
        else:
            turn = _Turn(shown, heard, line.words)
    if turn is not None:
        yield turn


def _role(conversation: Conversation) -> str:
    for line in conversation.lines:
        if line.who not in ("Solver", "Expert"):
            continue
        said = _unlike_expert(line.words) if line.who == "Expert" else _unlike_solver(line.words)
        if said:
            return f"the {line.who} said {said!r}"
        if line.who == "Expert" and all(_ACTION.fullmatch(row) for row in line.words.splitlines() or [""]):
            return "the Expert wrote actions"
    return ""


def _unlike_expert(words: str) -> str:
    own = "\n".join(part for part in _SENTENCE.findall(words) if not _QUOTED.search(part))
    return _first_hit(_EXPERT_AS_SOLVER, own)


def _unlike_solver(words: str) -> str:
    for part in _SENTENCE.findall(words):
        cited = _MANUAL_CITED.search(part)
        if cited and not _ASKED.search(part):
            return cited[0]
    return _first_hit(_SOLVER_AS_EXPERT, words)


def _first_hit(patterns: Sequence[str], words: str) -> str:
    for pattern in patterns:
        flags = re.MULTILINE if "SOLVER" in pattern or "EXPERT" in pattern else re.IGNORECASE
        if hit := re.search(pattern, words, flags):
            return hit[0]
    return ""


def _loop(conversation: Conversation, turns: Sequence[_Turn]) -> str:
    failed: Counter[tuple[str, str, str]] = Counter()
    for turn in turns:
        for action, outcome in dict.fromkeys(turn.done):
            if outcome != "done":
                failed[turn.shown, action, outcome] += 1
                if failed[turn.shown, action, outcome] > 1 + (outcome == "nothing happened"):
                    return f"{action} was done again where it had failed"
    said: list[tuple[str, str]] = []
    for line in conversation.lines:
        if line.who == "Shows":
            said.clear()
        elif line.who in ("Solver", "Expert"):
            same = [w for who, w in said if who == line.who and _alike(w, line.words)]
            if len(same) >= 2:
                return f"the {line.who} said the same three times"
            said.append((line.who, line.words))
    return ""


def _alike(one: str, other: str) -> bool:
    """Word by word: asking for wire 1 and then for wire 2 is not a repetition."""
    a, b = (re.findall(r"\w+", words.lower()) for words in (one, other))
    return bool(a) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE


def _ignored(puzzle: str, turns: Sequence[_Turn]) -> str:
    for turn in turns:
        if not turn.done or not turn.heard:
            continue
        action, outcome = turn.done[0]
        if outcome != "that was a mistake":
            continue
        told = instructed(puzzle, turn.heard, action)
        if told is False:
            return f"the Expert had told something else than {action}"
        if told is None and turn.heard.rstrip().endswith("?") and _only_acts(turn.said):
            return f"{action} came in place of an answer"
    return ""


def _only_acts(message: str) -> bool:
    rows = [row for row in message.splitlines() if row.strip()]
    return any(_ACTION.fullmatch(row.strip()) for row in rows) and len(rows) <= 2
