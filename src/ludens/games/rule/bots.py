"""A bot to imitate: a model learns from it which moves are valid, and then says the one it is surest of."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.chess.check import sight
from ludens.games.listing import listing
from ludens.games.open_spiel.adapter import SpielState
from ludens.games.rule.positions import pointers, valid_moves
from ludens.games.rule.rules import Question


@dataclass
class Valid(Agent):
    """Names any valid move, at random.

    With `reason` it lists valid moves first, in a fixed order, and then names any of them: each is a lesson,
    not only the one that chance has chosen, and a model that imitates it names the one it is surest of. In
    chess it first says where the king is, what is on the squares around it, line by line, and who gives
    check; and it moves the king only where nothing else can move: where a king may go depends on the whole
    board.
    """

    kind = "bot/valid"
    sees = "state"

    reason: bool = option(False, help="list valid moves before the answer, for imitation")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        position, board = ask.state.position, ask.state.board
        moves = valid_moves(position)
        if not self.reason:
            move = moves.sample(self.random)
            return Reply(move, move)
        said, plain = [], list(moves)
        if isinstance(position, SpielState) and board.split("?")[0] == "chess":
            seen = sight(position.spiel.board().to_fen())
            said.append(seen.text(pointers(board)))
            plain = [move for move in moves if not move.startswith(seen.king)] or plain
        move = self.random.choice(plain)
        return Reply("\n".join([*said, listing(moves, move), ask.format.write(move)]), move)
