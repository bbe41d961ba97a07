"""A bot that plays Kayles perfectly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from operator import xor

from kayles.game import KaylesState
from ludens.core.agent import Bot


@cache
def nimber(length: int) -> int:
    """The value of an unbroken row: the size of the equal pile of Nim (Sprague and Grundy)."""
    reached = {
        nimber(left) ^ nimber(length - taken - left) for taken in (1, 2) for left in range(length - taken + 1)
    }
    return next(value for value in range(length + 1) if value not in reached)


def value(standing: tuple[int, ...]) -> int:
    """The value of what stands: 0 where the player to move loses against perfect play."""
    rows: list[int] = []
    for pin, before in zip(standing, (0, *standing), strict=False):
        if rows and pin == before + 1:
            rows[-1] += 1
        else:
            rows.append(1)
    return reduce(xor, map(nimber, rows), 0)


@dataclass
class Nimber(Bot):
    """Moves to a row of value 0 if it can, else at random."""

    kind = "bot/nimber"

    def choose(self, state: KaylesState) -> str:
        legal = state.legal(self.seat)
        for action in legal:
            after = state.clone()
            after.apply({self.seat: action})
            if value(after.standing) == 0:
                return action
        return legal.sample(self.random)
