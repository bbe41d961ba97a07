"""Who answers without eyes: one that knows. `bot/random` guesses among the options."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.qa.rules import Question


@dataclass
class Oracle(Agent):
    """The right letter."""

    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        action = ask.state.asked.answer
        return Reply(action, action)
