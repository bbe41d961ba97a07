"""`bot/patient`: an oracle that speaks only of the panel it sees, for imitation.

`bot/oracle` acts and tells in one message what its actions will show, which nobody can see yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.comma.dialogue import Dialogue
from ludens.games.comma.language import read, told


@dataclass
class Patient(Agent):
    """Acts or tells what it sees, never both in one message. As Expert it answers like `bot/oracle`."""

    kind = "bot/patient"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Dialogue)
        words = _solve(state) if ask.seat == "solver" else state.solution(ask.seat)
        assert words is not None
        return Reply(words, words)


def _solve(state: Dialogue) -> str:
    """The actions that the latest advice asks for; where it has just acted or they are none, what it sees."""
    latest, facts = state.latest("solver"), read(state.advice)
    actions = [] if latest and latest.events else state.puzzle.clone().follow(facts)
    return "\n".join(actions) or told(state.puzzle.clone(), facts)
