"""A bot to imitate: a model learns from it which moves are valid, and then says the one it is surest of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.state import Legal
from ludens.games.rule.positions import valid_moves
from ludens.games.rule.rules import Question

_FROM_CELL = re.compile(r"([A-Za-z]\d+)((?:=|[a-z])\w+)")
"""A move that begins with a cell: b6c4, F7=3."""


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


def listing(moves: Legal, move: str) -> tuple[str, str]:
    """The valid moves in alphabetical order, and the first of them.

    Where moves begin with a cell, the list has what is valid from the cell of `move`, as in `b6: a4 c4`.
    """
    chosen = _FROM_CELL.fullmatch(move)
    if chosen is None:
        return " ".join(sorted(moves)), min(moves)
    cell = chosen[1]
    split = filter(None, map(_FROM_CELL.fullmatch, moves))
    rest = sorted(found[2] for found in split if found[1] == cell)
    return f"{cell}: {' '.join(one.removeprefix('=') for one in rest)}", cell + rest[0]
