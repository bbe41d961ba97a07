"""Bots that need only the legal actions."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.state import FreeText


@dataclass
class Random(Agent):
    """A uniformly random legal action; the empty text where text is expected."""

    kind = "bot/random"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = "" if isinstance(ask.legal, FreeText) else self.random.choice(ask.legal)
        return Reply(action, action)


@dataclass
class First(Agent):
    """The first legal action; the empty text where text is expected."""

    kind = "bot/first"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = "" if isinstance(ask.legal, FreeText) else ask.legal[0]
        return Reply(action, action)
