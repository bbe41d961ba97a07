"""Players that only look at what is allowed: the anchors every measurement needs."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply


@dataclass
class Random(Agent):
    """Any legal action, each as likely; says nothing where words are asked for."""

    kind = "bot/random"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = ask.legal.sample(self.random)
        return Reply(action, action)


@dataclass
class First(Agent):
    """The first legal action, always; says nothing where words are asked for."""

    kind = "bot/first"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        action = ask.legal.first
        return Reply(action, action)
