"""Board games that begin with random moves, drawn by seed, and pairs of such beginnings that are twins.

Without them two players without dice play one and the same game on every seed, and a list of moves that wins
it wins always. The moves are in the picture only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.twins import TwinGame
from ludens.core.view import RenderOptions, view_of
from ludens.games.open_spiel import SpielGame, SpielState

ATTEMPTS = 2_000
"""Openings tried for one world."""
TWIN_ATTEMPTS = 12
"""Twins tried for one opening, before another opening is."""


@dataclass(frozen=True, kw_only=True)
class BoardGame(TwinGame[SpielState], SpielGame):
    """A game for two on a board, with random openings in which neither side is ahead.

    Twins: two openings of equal length with other good moves; a game says which openings are tried.
    """

    opening: int = option(
        0, low=0, high=60, help="random moves before the first turn, drawn by seed, that leave the game level"
    )

    usual_opening: ClassVar[int]
    """The number of random moves of twins where `opening` is 0."""

    @property
    def seeded(self) -> bool:
        return self.opening > 0 or self.twins

    @abstractmethod
    def level(self, state: SpielState) -> bool:
        """Whether neither side is ahead, as far as a short search sees."""

    @abstractmethod
    def good_moves(self, state: SpielState) -> Collection[str]:
        """The moves of which twins have none in common."""

    def opening_moves(self, state: SpielState) -> Sequence[str]:
        """The moves that an opening is made of."""
        return state.legal(state.to_act[0])

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        """States that may be a twin of this opening: by default other openings."""
        while True:
            other = self._opening(random)
            if other is not None:
                yield other

    def replay(self, actions: Sequence[int]) -> SpielState | None:
        """The state after the actions of an opening; None where it is not possible."""
        state = self._first()
        for action in actions:
            if state.over or action not in state.spiel.legal_actions():
                return None
            state.apply({state.to_act[0]: state.name_of(action)})
        return None if state.over else state

    def world(self, seed: int) -> SpielState:
        return _world(self, seed).clone() if self.opening else self._first(seed)

    def pair(self, seed: int) -> tuple[SpielState, SpielState]:
        first, second = _pair(self, seed)
        return first.clone(), second.clone()

    def _first(self, seed: int = 0) -> SpielState:
        return SpielState(self, self.first(), stream(seed, "deal"))

    def _opening(self, random: Stream) -> SpielState | None:
        """The state after random moves; None where the game is over."""
        state = self._first()
        for _ in range(self.opening or self.usual_opening):
            state.apply({state.to_act[0]: random.choice(self.opening_moves(state))})
            if state.over:
                return None
        return state

    def _level_openings(self, seed: int) -> Iterator[tuple[SpielState, Stream]]:
        random = stream(seed, "opening")
        for _ in range(ATTEMPTS):
            state = self._opening(random)
            if state is not None and self.level(state):
                yield state, random

    def _twin(self, first: SpielState, random: Stream) -> SpielState | None:
        good, words = set(self.good_moves(first)), self._words(first)
        for _, other in zip(range(TWIN_ATTEMPTS), self.candidates(first, random), strict=False):
            same = other.to_act == first.to_act and self._words(other) == words
            if same and self.level(other) and good.isdisjoint(self.good_moves(other)):
                return other
        return None

    def _words(self, state: SpielState) -> str:
        return view_of(self, RenderOptions(), 0).notes(state, state.to_act[0])

    def _none(self) -> BadOption:
        moves = self.opening or self.usual_opening
        kind = "pair of level openings" if self.twins else "level opening"
        return BadOption(f"no {kind} of {moves} moves was found in {self.name}: choose another `opening`.")


@lru_cache(maxsize=4096)
def _world(game: BoardGame, seed: int) -> SpielState:
    for state, _ in game._level_openings(seed):
        return state
    raise game._none()


@lru_cache(maxsize=4096)
def _pair(game: BoardGame, seed: int) -> tuple[SpielState, SpielState]:
    for state, random in game._level_openings(seed):
        twin = game._twin(state, random)
        if twin is not None:
            return state, twin
    raise game._none()


def recolourings(game: BoardGame, first: SpielState, random: Stream) -> Iterator[SpielState]:
    """Positions with stones on the same cells, as many of each colour, in another distribution.

    Where stones are put on empty cells in turn, they have the same legal moves.
    """
    cells = first.spiel.history()
    for _ in range(TWIN_ATTEMPTS * 4):
        order = random.sample(cells, len(cells))
        if set(order[::2]) != set(cells[::2]) and (state := game.replay(order)) is not None:
            yield state
