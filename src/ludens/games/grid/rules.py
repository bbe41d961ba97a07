"""Shared rules of the grid dilemmas: two players move at the same time, and counted events earn points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.games.grid.cells import ACTIONS, AFTER, CELLS

SEATS = ("red", "blue")
RED, BLUE = 0, 1


@dataclass(frozen=True)
class ScoringEvent:
    """An event that changes the scores whenever it happens."""

    name: str
    """The name of its counter in `facts`."""
    words: str
    red: int
    blue: int


class GridState(State):
    """All positions, the counter of each event, and the last actions."""

    def __init__(self, game: GridGame, cells: Sequence[int], random: Stream) -> None:
        self.game = game
        self.cells = list(cells)
        """The cell of each of the game's `things`; the players come first."""
        self.counts = [0] * len(game.events)
        self.step = 0
        self.last: tuple[str, str] | None = None
        """The last joint action, red's first."""
        self.random = random
        self._horizon = game.horizon

    @property
    def to_act(self) -> tuple[str, ...]:
        return SEATS if self.step < self._horizon else ()

    def legal(self, seat: str) -> Legal:
        return ACTIONS if self.step < self._horizon and seat in SEATS else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        red, blue = self.last = actions["red"], actions["blue"]
        cells = self.cells
        cells[RED] = AFTER[red][cells[RED]]
        cells[BLUE] = AFTER[blue][cells[BLUE]]
        self.step += 1
        self._meet()

    @abstractmethod
    def _meet(self) -> None:
        """Count events for the players' new cells, then respawn what was taken."""

    def _respawn(self, thing: int) -> None:
        """Put a taken thing on a random empty cell."""
        cells, random = self.cells, self.random
        while (cell := random.below(CELLS)) in cells:
            pass
        cells[thing] = cell

    @property
    def returns(self) -> dict[str, float]:
        pairs = list(zip(self.counts, self.game.events, strict=True))
        return {
            "red": float(sum(count * event.red for count, event in pairs)),
            "blue": float(sum(count * event.blue for count, event in pairs)),
        }

    @property
    def facts(self) -> dict[str, Any]:
        names = (event.name for event in self.game.events)
        return {"steps": self.step, **dict(zip(names, self.counts, strict=True))}

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.cells, copy.counts, copy.random = self.cells.copy(), self.counts.copy(), self.random.clone()
        return copy


@dataclass(frozen=True)
class GridGame(Game):
    """Two players on a 5x5 grid, moving at the same time."""

    seats = SEATS
    things: ClassVar[tuple[str, ...]]
    """Everything on the grid, players first; all start on different cells."""
    events: ClassVar[tuple[ScoringEvent, ...]]
    state: ClassVar[type[GridState]]

    horizon: int = option(50, low=1, high=1000, help="steps until the game ends")

    def start(self, seed: int) -> GridState:
        random = stream(seed, "grid")
        return self.state(self, random.sample(range(CELLS), len(self.things)), random)

    def equivalent(self, state: GridState, seat: str, action: str) -> frozenset[str]:
        """Every action with the same outcome for the seat: those that lead to the same cell."""
        here = state.cells[SEATS.index(seat)]
        there = AFTER[action][here]
        return frozenset(other for other in ACTIONS if AFTER[other][here] == there)
