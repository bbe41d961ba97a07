"""Who reads boards without eyes: one that guesses every cell, one that knows."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.perceive.matrix import canonical
from ludens.games.perceive.rules import Position


@dataclass
class Guess(Agent):
    """Every cell a random code: the baseline of 1/K."""

    kind = "bot/random"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        position = ask.state
        assert isinstance(position, Position)
        codes = list(position.board.codes)
        cells = range(position.board.columns)
        action = canonical([[self.random.choice(codes) for _ in cells] for _ in range(position.board.rows)])
        return Reply(action, action)


@dataclass
class Oracle(Agent):
    """The right matrix."""

    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Position)
        action = canonical(ask.state.matrix)
        return Reply(action, action)
