"""Players that only look at what is allowed: the anchors every measurement needs."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.state import FreeText


@dataclass
class Random(Agent):
    """Any legal action, each as likely; says nothing where words are asked for."""

    kind = "bot/random"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = "" if isinstance(ask.legal, FreeText) else self.random.choice(ask.legal)
        return Reply(action, action)


@dataclass
class First(Agent):
    """The first legal action, always; says nothing where words are asked for."""

    kind = "bot/first"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = "" if isinstance(ask.legal, FreeText) else ask.legal[0]
        return Reply(action, action)
