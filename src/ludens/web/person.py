"""A person who plays in a browser, as an agent: it waits for a move that arrives over a WebSocket."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from ludens.agents.human import left_message, typed_reply
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import AgentFailure, Late


class Desk(Protocol):
    """What an agent of people needs of the game they play."""

    deadline: float | None
    """The time of the event loop at which the game must be over."""

    def seat_asked(self, seat: str, ask: Ask) -> asyncio.Future[str]:
        """Show a person the question; the future gets what they type or click."""


@dataclass
class Person(Agent):
    """Every person of one game. Seated copies share the desk."""

    desk: Desk | None = field(default=None, repr=False)
    kind = "human"
    sees = "both"
    waits = True
    unlimited_retries = True

    async def act(self, ask: Ask) -> Reply:
        assert self.desk is not None
        if not ask.refused:
            self.unlimited_retries = True
        if not self.unlimited_retries:  # time was up a moment ago; the remaining tries are not waited for
            raise Late("no reply within the time limit.")
        try:
            async with asyncio.timeout_at(self.desk.deadline):
                return typed_reply(await self.desk.seat_asked(self.seat, ask), ask)
        except TimeoutError:
            self.unlimited_retries = False
            raise Late("the time for this game is up.") from None
        except asyncio.CancelledError:  # the limit of one reply
            self.unlimited_retries = False
            raise


def left(seat: str) -> AgentFailure:
    """The failure of a seat whose person has left."""
    return AgentFailure(left_message(seat))
