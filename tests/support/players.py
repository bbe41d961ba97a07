"""Agents for tests: they say what they are told to, and remember what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from ludens.core.agent import Agent, Ask, Reply


@dataclass
class Scripted(Agent):
    """Says the next thing on its list at every ask, the last one for ever; an exception is raised."""

    says: Sequence[str | Reply | BaseException] = ("",)
    asks: list[Ask] = field(default_factory=list)
    kind = "scripted"

    async def act(self, ask: Ask) -> Reply:
        said = self.says[min(len(self.asks), len(self.says) - 1)]
        self.asks.append(ask)
        if isinstance(said, BaseException):
            raise said
        return Reply(said) if isinstance(said, str) else said


@dataclass
class Slow(Scripted):
    """Takes its time before it speaks."""

    naps: Sequence[float] = (0.0,)
    kind = "slow"
    waits = True

    async def act(self, ask: Ask) -> Reply:
        await asyncio.sleep(self.naps[min(len(self.asks), len(self.naps) - 1)])
        return await super().act(ask)


@dataclass
class Meeting(Agent):
    """Speaks only once everybody it waits for has been asked too."""

    barrier: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))
    kind = "meeting"
    waits = True

    async def act(self, ask: Ask) -> Reply:
        await self.barrier.wait()
        return Reply(f"{ask.seat} was here")
