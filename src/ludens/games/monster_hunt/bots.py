"""Strategies for Monster Hunt: the four of VS-Bench's data (D.7) and the optimal one (E.8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ludens.core.options import option
from ludens.games.grid.bots import Walker
from ludens.games.grid.cells import CELLS, MIDDLE, SIDE, name
from ludens.games.grid.rules import GridState
from ludens.games.monster_hunt.rules import APPLES, MONSTER

CORNERS = {name(cell): cell for cell in (0, SIDE - 1, CELLS - SIDE, CELLS - 1)}


class Hunter(Walker):
    """Cannot tell the apples apart."""

    def seen(self, state: GridState) -> list[str]:
        red, blue, monster, *apples = super().seen(state)
        return [red, blue, monster, *sorted(apples)]


@dataclass
class CommonWelfare1(Hunter):
    """Goes straight for the monster."""

    kind = "bot/common_welfare_1"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[MONSTER],)


@dataclass
class CommonWelfare2(Hunter):
    """Goes to the middle cell and waits there for the other player and the monster."""

    kind = "bot/common_welfare_2"

    def goals(self, state: GridState) -> Collection[int]:
        return (MIDDLE,)


@dataclass
class CommonWelfare3(Hunter):
    """Goes to one corner and waits there for the other player and the monster."""

    kind = "bot/common_welfare_3"
    corner: str = option("A1", choices=tuple(CORNERS), help="the corner to wait in")

    def goals(self, state: GridState) -> Collection[int]:
        return (CORNERS[self.corner],)


@dataclass
class SelfInterest(Hunter):
    """Goes to the closest apple."""

    kind = "bot/self_interest"

    def goals(self, state: GridState) -> Collection[int]:
        return [state.cells[apple] for apple in APPLES]


@dataclass
class Optimal(CommonWelfare2):
    """Waits in the middle, where the monster is never far: the paper's optimal strategy."""

    kind = "bot/optimal"
