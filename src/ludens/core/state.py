"""The state of a game: who must act, which actions are legal, and what they lead to."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from ludens.core.errors import Illegal
from ludens.core.plain import shorten
from ludens.core.random import Stream


class Legal(tuple[str, ...]):
    """The canonical names of a seat's legal actions; empty when the seat is not to act.

    `Legal.text(limit)` is the other case: the action is a text. It holds no names and sets `text_limit`.
    """

    text_limit: int | None = None
    """The most characters a text may have; None where actions have names."""

    @classmethod
    def text(cls, limit: int = 4000) -> Legal:
        """Any text of at most `limit` characters. The empty text is always allowed."""
        legal = cls()
        legal.text_limit = limit
        return legal

    @property
    def is_text(self) -> bool:
        return self.text_limit is not None

    @property
    def first(self) -> str:
        """The first action; the empty text where the action is a text."""
        return "" if self.text_limit is not None else self[0]

    def sample(self, random: Stream) -> str:
        """A random action; the empty text where the action is a text."""
        return random.choice(self) if self or self.text_limit is None else ""

    def refusal(self, action: str, seat: str) -> str | None:
        """Why the seat may not do this, as one sentence, or None when it may."""
        if action in self:
            return None
        if self.text_limit is not None:
            if len(action) > self.text_limit:
                return f"the text has {len(action)} characters; at most {self.text_limit} are allowed."
            return None
        some = ", ".join(self[:40]) + (", ..." if len(self) > 40 else "")
        return f"{shorten(action)!r} is not a legal action for {seat} now; legal: {some or 'none'}."

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and self.text_limit == getattr(other, "text_limit", None)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"Legal{tuple.__repr__(self)}" if self.text_limit is None else f"Legal.text({self.text_limit})"


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

    def cues(self, seat: str) -> Mapping[str, str]:
        """Parts of what a question shows, as text, by name; baselines measure how far each alone goes."""
        return {}

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


class Question(State):
    """One question to one seat, and its answer once it was given."""

    def __init__(self, seat: str, legal: Legal) -> None:
        self.seat = seat
        self.answer: str | None = None
        self._legal = legal

    @property
    def to_act(self) -> tuple[str, ...]:
        return (self.seat,) if self.answer is None else ()

    def legal(self, seat: str) -> Legal:
        return self._legal if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answer = actions[self.seat]

    def clone(self) -> Self:
        return copy.copy(self)
