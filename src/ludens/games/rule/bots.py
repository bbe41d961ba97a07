"""A bot to imitate: a model learns from it which moves are valid, and then says the one it is surest of."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.listing import listing
from ludens.games.rule.positions import board_view, valid_moves
from ludens.games.rule.rules import Question


@dataclass
class Valid(Agent):
    """Names any valid move, at random.

    With `reason` it lists valid moves first, in a fixed order, and names the first of them: every one of them
    is then a lesson, not only the one that chance has chosen. It moves a king only where nothing else can
    move: where a king may go depends on the whole board.
    """

    kind = "bot/valid"
    sees = "state"

    reason: bool = option(False, help="list valid moves before the answer, for imitation")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        moves = valid_moves(ask.state.position)
        if not self.reason:
            move = moves.sample(self.random)
            return Reply(move, move)
        kings = _kings(ask.state)
        plain = [move for move in moves if move[:2] not in kings] or list(moves)
        listed, move = listing(moves, self.random.choice(plain))
        return Reply(f"{listed}\n{ask.format.write(move)}", move)


def _kings(question: Question) -> set[str]:
    """Cells of kings; none on boards without them."""
    view = board_view(question.board)
    if view is None or not any(name.endswith(" king") for name in view.codes.values()):
        return set()
    codes = (code for row in view.matrix(question.position) for code in row)
    return {
        cell for cell, code in zip(view.cells(), codes, strict=True) if view.codes[code].endswith(" king")
    }
