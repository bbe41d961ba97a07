"""Perfect play in tic-tac-toe, by exhaustive search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielState

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
NAMES = tuple(row + column for row in "ABC" for column in "123")


@lru_cache(maxsize=8192)
def value_of(board: str, mover: str, waiter: str) -> int:
    """The value of a board for the side to move: positive for a win, higher the sooner it comes."""
    if any(board[a] == board[b] == board[c] == waiter for a, b, c in LINES):
        return -1 - board.count(".")
    return max((-value_of(after, waiter, mover) for after in _after(board, mover).values()), default=0)


def _after(board: str, mover: str) -> dict[int, str]:
    return {n: board[:n] + mover + board[n + 1 :] for n, mark in enumerate(board) if mark == "."}


@dataclass
class Minimax(Agent):
    """Never loses, and wins as soon as possible; ties are broken at random."""

    kind = "bot/minimax"
    sees = "state"

    slips: float = option(0.0, low=0, high=1, help="share of moves played at random, to be a weaker opponent")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, SpielState)
        board = "".join(str(ask.state.spiel).split())
        mover, waiter = self.seat, "o" if self.seat == "x" else "x"
        values = {n: -value_of(after, waiter, mover) for n, after in _after(board, mover).items()}
        best = max(values.values())
        slips = self.slips > 0 and self.random.random() < self.slips
        cell = self.random.choice([n for n, value in values.items() if slips or value == best])
        return Reply(NAMES[cell], NAMES[cell])
