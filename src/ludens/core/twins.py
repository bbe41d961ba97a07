"""Twin worlds: two worlds with the same words, whose pictures and right answers differ.

A player that does not look answers both in the same way, so that it is right in one of them at most. A game
with twins offers the option `twins`: with it, the seeds 2k and 2k + 1 are the two worlds of pair k. Metrics
count pairs in which both answers are right (`ludens.run.twins`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.state import State

if TYPE_CHECKING:
    from ludens.core.view import RenderOptions, View

S = TypeVar("S", bound=State)

MARKS = "marks"
"""The fact of an episode in twin worlds with several answers: `1` for each answer that is right, else `0`, as
one text; in the same order in both worlds, and only of answers that differ between them."""


def pair_of(seed: int) -> int:
    """The number of the pair that a seed belongs to."""
    return seed // 2


@dataclass(frozen=True, kw_only=True)
class TwinGame(Game, Generic[S]):
    """A game with twin worlds. Subclasses define `world` and `pair` instead of `start`."""

    twins: bool = option(
        False, help="seeds 2k and 2k+1 are twin worlds: the same words, other pictures and answers"
    )

    @property
    def actions_told(self) -> bool:
        """Whether seats are told their legal actions; where they are not, those of twins may differ."""
        return True

    @abstractmethod
    def world(self, seed: int) -> S:
        """The start state for this seed, without a twin."""

    @abstractmethod
    def pair(self, seed: int) -> tuple[S, S]:
        """Two start states in which a seat that must act receives the same words (rules, notes, legal
        actions, history, reply format) and other pictures, and in which no answer is right in both."""

    def start(self, seed: int) -> S:
        return self.pair(pair_of(seed))[seed % 2] if self.twins else self.world(seed)

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        """The view of the game; both worlds of a pair have the same theme."""
        return super().view(render, pair_of(seed) if self.twins else seed)
