"""Players of sampled matches: random for their first moves."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply


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
