"""A bot to imitate: a model learns from it which moves are valid, and then says the one it is surest of."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.listing import listing
from ludens.games.rule.positions import valid_moves
from ludens.games.rule.rules import Question


@dataclass
class Valid(Agent):
    """Names any valid move, at random.

    With `reason` it lists valid moves first, in a fixed order, and names the first of them: every one of them
    is then a lesson, not only the one that chance has chosen.
    """

    kind = "bot/valid"
    sees = "state"

    reason: bool = option(False, help="list valid moves before the answer, for imitation")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        moves = valid_moves(ask.state.position)
        move = moves.sample(self.random)
        if not self.reason:
            return Reply(move, move)
        listed, move = listing(moves, move)
        return Reply(f"{listed}\n{ask.format.write(move)}", move)
