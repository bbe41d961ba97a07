"""Watching an episode while it is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ludens.core.ask import Ask
from ludens.core.episode import Move, Try
from ludens.core.state import State


@dataclass(frozen=True, slots=True)
class StepEvent:
    """The moves of one step and the state they led to."""

    step: int
    state: State
    moves: tuple[Move, ...]


class Observer:
    """Receives the events of an episode; override what you need. Its exceptions are raised by `play`."""

    def asked(self, ask: Ask) -> None:
        """A seat is about to be asked."""

    def replied(self, ask: Ask, attempt: Try) -> None:
        """A seat has replied, and its reply was read."""

    def stepped(self, event: StepEvent) -> None:
        """All moves of a step were applied."""


class OnStep(Observer):
    """Calls a function after every step."""

    def __init__(self, call: Callable[[StepEvent], None]) -> None:
        self._call = call

    def stepped(self, event: StepEvent) -> None:
        self._call(event)


class ObserverFailed(Exception):
    """Wraps an exception of an observer, to distinguish it from those of agents and games."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def notify(observer: Observer, event: str, *args: object) -> None:
    """Call the method of the observer that is named like the event."""
    try:
        getattr(observer, event)(*args)
    except Exception as error:
        raise ObserverFailed(error) from error
