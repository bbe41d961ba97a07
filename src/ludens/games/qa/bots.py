"""A bot to imitate: it shows how an answer is found."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.qa.rules import Question


@dataclass
class Working(Agent):
    """Says where it looks, counts row by row, says the option with its letter, and answers."""

    kind = "bot/working"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        asked = ask.state.asked
        steps = [asked.work] if asked.work else []
        return Reply(
            "\n".join([*steps, f"= {asked.lettered[asked.right]}", ask.format.write(asked.answer)]),
            asked.answer,
        )
