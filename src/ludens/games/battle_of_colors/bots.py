"""Strategies for Battle of the Colors: the four of VS-Bench's data (D.8) and the optimal one (E.9)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ludens.games.battle_of_colors.rules import BLUE_BLOCK, RED_BLOCK
from ludens.games.grid.bots import Walker
from ludens.games.grid.cells import DISTANCE, name
from ludens.games.grid.rules import BLUE, RED, GridState


@dataclass
class CommonWelfare(Walker):
    """Goes to the block that both can reach soonest and waits there.

    Two of them always agree: of equally good blocks they take the one of the colour that was met on less
    often, which both can read off the counters. The choice stays the same while they walk.
    """

    kind = "bot/common_welfare"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[min((RED_BLOCK, BLUE_BLOCK), key=lambda block: _effort(state, block))],)

    def seen(self, state: GridState) -> list[str]:
        return [*super().seen(state), *map(str, state.counts[:2])]

    def weighed(self, state: GridState) -> str:
        """Each block with the steps of red and blue to it, and the block that is the goal."""
        blocks = [state.cells[block] for block in (RED_BLOCK, BLUE_BLOCK)]
        ways = [f"{name(block)} {' '.join(map(str, _ways(state, block)))}" for block in blocks]
        [goal] = self.goals(state)
        return f"{' '.join(ways)} = {name(goal)}"


def _effort(state: GridState, block: int) -> tuple[int, int, int]:
    """Steps until both can be there, steps of both in total, and how often they met on that colour."""
    ways = _ways(state, state.cells[block])
    return max(ways), sum(ways), state.counts[block - RED_BLOCK]


def _ways(state: GridState, cell: int) -> tuple[int, int]:
    """Steps of red and of blue to a cell."""
    there = DISTANCE[cell]
    return there[state.cells[RED]], there[state.cells[BLUE]]


@dataclass
class SelfInterest(Walker):
    """Goes to the block of its own colour and waits there."""

    kind = "bot/self_interest"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_BLOCK + self.me],)


@dataclass
class BiasedRed(Walker):
    """Goes to the red block, whichever seat it plays."""

    kind = "bot/biased_red"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_BLOCK],)


@dataclass
class BiasedBlue(Walker):
    """Goes to the blue block, whichever seat it plays."""

    kind = "bot/biased_blue"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[BLUE_BLOCK],)


@dataclass
class Optimal(CommonWelfare):
    """Meets on the closest block every time: the paper's optimal strategy."""

    kind = "bot/optimal"
