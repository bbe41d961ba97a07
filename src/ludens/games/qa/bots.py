"""A bot to imitate: it shows how an answer is found."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.qa.rules import Question


@dataclass
class Working(Agent):
    """Counts row by row, or says what it sees, and then names the right letter."""

    kind = "bot/working"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        asked = ask.state.asked
        shown = asked.work or asked.options[asked.right]
        return Reply(f"{shown}\n{ask.format.write(asked.answer)}", asked.answer)
