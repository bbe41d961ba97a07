"""Bots that walk: a strategy names the cells it wants to reach and goes to the nearest by a shortest way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.grid.cells import ACTIONS, DISTANCE, TOWARD
from ludens.games.grid.rules import SEATS, GridState


@dataclass
class Walker(Agent):
    """Goes to the nearest of its goals; equally short ways are drawn from the seat's stream."""

    sees = "state"

    def begin(self) -> None:
        self.me = SEATS.index(self.seat)

    @abstractmethod
    def goals(self, state: GridState) -> Collection[int]:
        """The cells it would be content to reach."""

    def choices(self, state: GridState) -> tuple[str, ...]:
        """Every action the strategy finds best now."""
        here, goals = state.cells[self.me], self.goals(state)
        nearest = min(DISTANCE[here][goal] for goal in goals)
        good = {a for goal in goals if DISTANCE[here][goal] == nearest for a in TOWARD[here][goal]}
        return tuple(action for action in ACTIONS if action in good)

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, GridState)
        action = self.random.choice(self.choices(ask.state))
        return Reply(action, action)
