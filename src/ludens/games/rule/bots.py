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
_IN_ROW = re.compile(r"([A-Za-z])(\d+)")
MOST = 40
"""Moves that are listed one by one; where there are more, those in one row."""


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
    """Valid moves in a fixed order, and the first of them.

    Where moves begin with a cell, the list has what is valid from the cell of `move`, near ones first, as in
    `b6: c4 a4`: those are the easiest to be sure of. Where there are very many moves, it has those in the row
    of `move`, as in `K: 3 7 12`.
    """
    pattern = _FROM_CELL if _FROM_CELL.fullmatch(move) else _IN_ROW
    chosen = pattern.fullmatch(move)
    if chosen is None or (pattern is _IN_ROW and len(moves) <= MOST):
        return " ".join(sorted(moves)), min(moves)
    start = chosen[1]
    split = filter(None, map(pattern.fullmatch, moves))
    rest = sorted((_distance(start, found[2]), found[2]) for found in split if found[1] == start)
    return f"{start}: {' '.join(one.removeprefix('=') for _, one in rest)}", start + rest[0][1]


def _distance(start: str, end: str) -> int:
    """Steps of a king between two cells; the number itself for a number."""
    if end.isdigit():
        return int(end)
    if not end[0].isalpha():
        return 0
    return max(abs(ord(start[0]) - ord(end[0])), abs(int(start[1]) - int(end[1])))
