"""The state of a game: who must act, what they may do, and what follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from ludens.core.errors import Illegal
from ludens.core.legal import Legal as Legal
from ludens.core.random import Stream


class State(ABC):
    """A position in a game. It owns its random stream; `clone` gives an independent copy."""

    @property
    @abstractmethod
    def to_act(self) -> tuple[str, ...]:
        """The seats that must act now: one, several at once, or none when the game is over."""

    @abstractmethod
    def legal(self, seat: str) -> Legal:
        """What the seat may do now: `Legal(names)`, `Legal.text()`, or `Legal()` when it is not to act."""

    @abstractmethod
    def _advance(self, actions: Mapping[str, str]) -> None:
        """Apply actions already known to be legal, one for every seat in `to_act`."""

    @property
    @abstractmethod
    def returns(self) -> dict[str, float]:
        """The points of each seat so far."""

    @abstractmethod
    def clone(self) -> Self:
        """An independent copy, random stream included."""

    @property
    def facts(self) -> dict[str, Any]:
        """Data for metrics: counters, events, scores. Plain JSON values only."""
        return {}

    @property
    def stage(self) -> str:
        """The stage of the game, where moves of different stages are different tasks: `clue`, `vote`."""
        return ""

    def role(self, seat: str) -> str:
        """The role of a seat, where seats have roles that may change between episodes: `spy`."""
        return ""

    def fallback(self, seat: str) -> str | None:
        """The action of a seat that gave no readable reply, such as an abstention; None leaves it to
        `PlayConfig.fallback`."""
        return None

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return not self.to_act

    def apply(self, actions: Mapping[str, str]) -> None:
        """Check and apply one action for every seat in `to_act`; a wrong one raises `Illegal`."""
        to_act = self.to_act
        if not to_act or len(actions) != len(to_act) or any(seat not in actions for seat in to_act):
            due = " and ".join(to_act) or "nobody, the game is over"
            raise Illegal(f"actions came from {', '.join(actions) or 'nobody'}; due to act: {due}.")
        for seat in to_act:
            reason = self.refusal(seat, actions[seat])
            if reason is not None:
                raise Illegal(reason)
        self._advance(actions)

    def refusal(self, seat: str, action: str) -> str | None:
        """Why the seat may not take this action now, as one sentence, or None when it may."""
        return self.legal(seat).refusal(action, seat)

    def solution(self, seat: str) -> str | None:
        """A best action for the seat where the game knows one, else None: what `bot/oracle` plays."""
        return None

    def forfeited(self, seat: str) -> dict[str, float]:
        """The returns when this seat forfeits; by default those so far."""
        return self.returns

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """A copy in which everything this seat may not know is resampled, future chance included.

        The conformance check verifies that the seat cannot tell the two apart. Games of imperfect
        information set `Game.imperfect_information` and override this.
        """
        return self.clone()
