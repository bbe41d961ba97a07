"""A bot to imitate: a model learns from it which moves are valid, and then says the one it is surest of."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.rule.positions import valid_moves
from ludens.games.rule.rules import Question


@dataclass
class Valid(Agent):
    """Names any valid move, at random."""

    kind = "bot/valid"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        move = valid_moves(ask.state.position).sample(self.random)
        return Reply(move, move)
