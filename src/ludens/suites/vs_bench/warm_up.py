"""Playing matches for samples: players that begin at random, and episodes that need no event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from ludens.core.agent import Agent, Ask, Reply

T = TypeVar("T")


@dataclass
class WarmedUp(Agent):
    """Random for its first moves, then the player it is given."""

    player: Agent
    moves: int
    kind = "bot/warmed-up"

    def __post_init__(self) -> None:
        self.sees = self.player.sees

    def begin(self) -> None:
        self._seated = self.player.sit(self.game, self.seat, self.random.fork("player"))

    async def act(self, ask: Ask) -> Reply:
        if ask.move >= self.moves:
            return await self._seated.act(ask)
        action = ask.legal.sample(self.random)
        return Reply(action, action)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits: bots answer at once, so no event loop is needed."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("only players that answer at once can be sampled")
