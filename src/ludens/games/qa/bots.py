"""Who answers without eyes: one that guesses among the options, one that knows."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.qa.rules import Question


@dataclass
class Guess(Agent):
    """Any option, each as likely."""

    kind = "bot/random"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = self.random.choice(ask.legal)
        return Reply(action, action)


@dataclass
class Oracle(Agent):
    """The right letter."""

    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        action = ask.state.asked.answer
        return Reply(action, action)
