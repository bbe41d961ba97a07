"""Which lines of the Solver's message act, and what the Expert hears of it.

A line acts when it is an action's name, or `ACTION: name`; case, quotes and emphasis around it aside. Prose
that mentions an action is talk. A line that looks like a failed attempt (a bullet before the name, spaces
in it, several names on one line, a name there is none of) is reported, so that nothing is lost silently. The
released code instead executed the first action whose name occurs anywhere in a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ludens.core.reply import fold, labelled

LONGEST = 200
WITHHELD = "(a private key)"

_LIST_MARK = re.compile(r"^\s*(?:[-+*•#]+\s+|>\s*|\(?\d{1,2}[.)]\s*)")
"""A bullet, a Markdown quotation mark or a number: what follows is listed or quoted, not done."""
_GAPS = re.compile(r"[\s_-]+")
_WORDS = re.compile(r"\w+")
_BETWEEN = frozenset(("action", "actions", "and", "do", "next", "now", "solver", "then"))
"""Words that do not turn a line with action names into prose."""


class ReadLine(NamedTuple):
    """One line that names an action or attempts to."""

    line: str
    action: str
    """The action named; empty when it does not exist."""
    acts: bool


def read_actions(message: str, actions: Sequence[str], released: bool = False) -> list[ReadLine]:
    """Every line of a message that acts or looks like a failed attempt, in order."""
    read = _read_released if released else _read_line
    names = tuple(actions)
    found = (read(line, names) for line in message.splitlines())
    return [line for line in found if line is not None]


def withhold(message: str, hidden: frozenset[str]) -> str:
    """The message without the lines that name a hidden action, executed or not."""
    if not hidden:
        return message
    names = tuple(sorted(hidden))
    kept = []
    for line in message.splitlines():
        read = _read_line(line, names)
        kept.append(WITHHELD if read is not None and read.action else line)
    return "\n".join(kept)


def _read_line(line: str, actions: tuple[str, ...]) -> ReadLine | None:
    if len(line) > LONGEST or not line.strip():
        return None
    exact, loose = _spellings(actions)
    bare = _LIST_MARK.sub("", line)
    action = exact.get(fold(bare))
    if action is not None:
        return ReadLine(line, action, bare == line)
    named = labelled(line, "action")
    if named:
        action = exact.get(fold(named[0]))
        if action is not None:
            return ReadLine(line, action, True)
        return ReadLine(line, loose.get(_loosen(named[0])) or _listed(named[0], exact) or "", False)
    action = loose.get(_loosen(bare))
    if action is None:
        action = _listed(bare, exact)
    return None if action is None else ReadLine(line, action, False)


def _listed(line: str, exact: dict[str, str]) -> str | None:
    """The first action in a line that holds only words like action names; None for prose."""
    words = [word.casefold() for word in _WORDS.findall(line)]
    if "?" in line or not any("_" in word.strip("_") for word in words):
        return None
    names = [word for word in words if word not in _BETWEEN]
    if any(word not in exact and "_" not in word for word in names):
        return None
    return next((exact[word] for word in names if word in exact), "")


def _read_released(line: str, actions: tuple[str, ...]) -> ReadLine | None:
    folded = line.lower()
    for action in actions:
        if action.lower() in folded:
            return ReadLine(line, action, True)
    return None


@lru_cache(maxsize=256)
def _spellings(actions: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    return {fold(name): name for name in actions}, {_loosen(name): name for name in actions}


def _loosen(name: str) -> str:
    return _GAPS.sub("", fold(name))
