"""What is played: fixed options, named seats, and a start for every seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ludens.core.loading import load
from ludens.core.options import option_values
from ludens.core.state import State

if TYPE_CHECKING:
    from ludens.core.episode import Move
    from ludens.core.view import RenderOptions, View


class Game(ABC):
    """A game with its options. Subclasses are frozen dataclasses whose fields are made with `option`.

    The class docstring is the game's documentation page; its first line is its summary.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Bumped only when behaviour changes: an episode names the version it was played with."""
    imperfect_information: ClassVar[bool] = False
    """Whether some seat does not know everything; then states override `resample_hidden`."""
    view_class: ClassVar[str]
    """Where the game's view is, as "module:Class": rules are played a thousand times without being seen."""
    bots: ClassVar[Mapping[str, str]] = {}
    """The game's own players: name to "module:Class", reached as `bot/NAME`."""
    best: ClassVar[str] = ""
    """The spec of the strongest player known here, reached as `bot/best`; empty where none stands out."""

    @property
    @abstractmethod
    def seats(self) -> tuple[str, ...]:
        """The names of the chairs, in playing order."""

    @abstractmethod
    def start(self, seed: int) -> State:
        """The first state of the episode with this seed."""

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        """How the game is shown; the seed matters only to the theme `random`."""
        made: View = load(self.view_class)(self, render, seed)
        return made

    def evaluate(self, state: State, seat: str) -> float:
        """How good a state looks for a seat, for search: what it has earned, unless a game knows better."""
        return state.returns[seat]

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        """What each move of a finished episode earned, for training: by default its seat's return.

        Games in which one seat earns differently for different moves override this.
        """
        return [state.returns[move.seat] for move in moves]

    @property
    def options(self) -> dict[str, Any]:
        """Every option with its value."""
        return option_values(self)

    @property
    def summary(self) -> str:
        """One line for tables."""
        return (type(self).__doc__ or self.name).strip().splitlines()[0]
