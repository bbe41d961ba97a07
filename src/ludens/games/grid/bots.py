"""Bots that walk: a strategy names goal cells and goes to the nearest by a shortest way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.grid.cells import ACTIONS, DISTANCE, TOWARD, name
from ludens.games.grid.rules import SEATS, GridState


@dataclass
class Walker(Agent):
    """Goes to the nearest of its goals; ties are broken at random."""

    reason: bool = option(False, help="say first what it sees and every action that is best, for imitation")
    sees = "state"

    def begin(self) -> None:
        self.me = SEATS.index(self.seat)

    @abstractmethod
    def goals(self, state: GridState) -> Collection[int]:
        """The cells it wants to reach."""

    def choices(self, state: GridState) -> tuple[str, ...]:
        """Every action that is best now."""
        here, goals = state.cells[self.me], self.goals(state)
        nearest = min(DISTANCE[here][goal] for goal in goals)
        good = {a for goal in goals if DISTANCE[here][goal] == nearest for a in TOWARD[here][goal]}
        return tuple(action for action in ACTIONS if action in good)

    def seen(self, state: GridState) -> list[str]:
        """What its choice depends on, as it says it: the cell of everything."""
        return [name(cell) for cell in state.cells]

    def weighed(self, state: GridState) -> str:
        """How it finds its goal, as it says it; empty where what it sees says enough."""
        return ""

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action."""
        assert isinstance(state, GridState)
        good = self.choices(state)
        return dict.fromkeys(good, 1 / len(good))

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, GridState)
        best = self.choices(ask.state)
        action = self.random.choice(best)
        if not self.reason:
            return Reply(action, action)
        lines = " ".join(self.seen(ask.state)), self.weighed(ask.state), " ".join(best)
        return Reply("\n".join([*filter(None, lines), ask.format.write(action)]), action)
