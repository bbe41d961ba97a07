"""Strategies for Coin Dilemma: the two of VS-Bench's data (D.6) and the optimal one (E.7)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ludens.games.coin_dilemma.rules import BLUE_COIN, RED_COIN
from ludens.games.grid.bots import Walker
from ludens.games.grid.cells import ACTIONS, AFTER, around
from ludens.games.grid.rules import GridState


@dataclass
class CommonWelfare(Walker):
    """Collects coins of its own colour and walks around the other's."""

    kind = "bot/common_welfare"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_COIN + self.me],)

    def choices(self, state: GridState) -> tuple[str, ...]:
        [goal], here = self.goals(state), state.cells[self.me]
        steps = around(goal, wall=state.cells[BLUE_COIN - self.me])
        shortest = min(steps[AFTER[action][here]] for action in ACTIONS)
        return tuple(action for action in ACTIONS if steps[AFTER[action][here]] == shortest)


@dataclass
class SelfInterest(Walker):
    """Collects the closest coin, whatever its colour."""

    kind = "bot/self_interest"

    def goals(self, state: GridState) -> Collection[int]:
        return state.cells[RED_COIN], state.cells[BLUE_COIN]


@dataclass
class Optimal(Walker):
    """Takes a shortest way to the coin of its own colour, one that avoids the other's coin where possible.

    The avoided coins make the difference between 13.1 a player and the paper's 14.2.
    """

    kind = "bot/optimal"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_COIN + self.me],)

    def choices(self, state: GridState) -> tuple[str, ...]:
        direct, here = super().choices(state), state.cells[self.me]
        other = state.cells[BLUE_COIN - self.me]
        return tuple(action for action in direct if AFTER[action][here] != other) or direct
