"""The messages of a perfect Solver and a perfect Expert, in the oracles' small language."""

from __future__ import annotations

from collections.abc import Sequence

from ludens.games.comma import language
from ludens.games.comma.puzzle import Manual, Puzzle, Unclear


def solve(puzzle: Puzzle[Manual], advice: str) -> str:
    """The perfect Solver's message: the actions the latest advice leads to, then what it sees after them."""
    said = language.read(advice)
    actions = list(puzzle.clone().follow(said))
    for action in actions:
        if puzzle.act(action) == "solved":
            return "\n".join(actions)
    facts = language.write(puzzle.tell(said))
    return "\n".join([*actions, facts, f"Please answer: {puzzle.asks}"])


def advise(manual: Manual, messages: Sequence[str]) -> str:
    """The perfect Expert's message: what this manual says to what was told. The panel is out of its reach."""
    try:
        return language.write(manual.advise([language.read(message) for message in messages]))
    except Unclear as gap:
        return str(gap)
