"""One seat of a game in prompts and replies, stepped from outside: for trainers that are given an observation
and give a text.

`play` runs in a thread and waits for the replies of this seat; the other seats have players by spec, models
included. Retries, fallback and everything that is recorded are those of an evaluation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread

from ludens.agents import agent
from ludens.agents.vlm import prompt
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.config import PlayConfig, check_seat
from ludens.core.episode import Episode
from ludens.core.errors import AgentFailure, BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions

_CLOSED = object()


@dataclass
class _Outside(Agent):
    """Passes every ask out and waits for the reply."""

    asks: SimpleQueue[object]
    replies: SimpleQueue[object]
    options: PromptOptions = field(default_factory=PromptOptions)
    kind = "outside"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees = self.options.sees

    def history(self) -> History:
        return self.options.history()

    async def act(self, ask: Ask) -> Reply:
        self.asks.put(ask)
        reply = self.replies.get()  # the loop of this thread has nothing else to do
        if not isinstance(reply, str):
            raise AgentFailure("the session was closed.")
        return Reply(reply)


class PromptedSeat:
    """Episodes of a game in which one seat is played from outside.

    Args:
        game: Spec of the game.
        seat: The seat; the first one by default.
        others: Seat to the spec of its player; `bot/random` where none is given.
        options: How the seat is prompted.
        config: Retries, fallback and limits.
        render: Theme and size of the pictures.
    """

    def __init__(
        self,
        game: str,
        seat: str = "",
        others: Mapping[str, str] | None = None,
        options: PromptOptions | None = None,
        config: PlayConfig | None = None,
        render: RenderOptions | None = None,
    ) -> None:
        self.game = make(game)
        self.seat = seat or self.game.seats[0]
        specs = others or {}
        for name in (self.seat, *specs):
            check_seat(self.game, name)
        other_seats = [name for name in self.game.seats if name != self.seat]
        self._agents = {name: agent(specs.get(name, "bot/random"), self.game) for name in other_seats}
        self._options, self._config, self._render = options or PromptOptions(), config, render
        self._thread: Thread | None = None
        self.ask: Ask | None = None
        """What the seat is asked now; None when the episode is over."""
        self.episode: Episode | None = None
        """The finished episode."""

    def reset(self, seed: int) -> Ask | None:
        """Begin an episode; returns the first question to the seat."""
        self.close()
        self._asks, self._replies = SimpleQueue[object](), SimpleQueue[object]()
        self.episode = None
        self._thread = Thread(target=self._play, args=(seed,), daemon=True)
        self._thread.start()
        return self._next()

    def reply(self, text: str) -> Ask | None:
        """Answer the question; returns the next one, which repeats it where the reply was refused."""
        if self.ask is None:
            raise BadOption("the episode is over: reset the session.")
        self._replies.put(text)
        return self._next()

    def close(self) -> None:
        """End the episode if it is not over."""
        if self._thread is not None and self.ask is not None:
            self._replies.put(_CLOSED)
            self._next()
        self._thread = None

    @property
    def reward(self) -> float:
        """The return of the seat; 0 before the episode is over."""
        over = self.episode is not None and self.episode.status != "void"
        return self.episode.returns[self.seat] if over and self.episode else 0.0

    def messages(self, ask: Ask) -> list[Message]:
        """The prompt of a question."""
        return prompt(ask, self._options)

    def _play(self, seed: int) -> None:
        players: dict[str, Agent] = {
            self.seat: _Outside(self._asks, self._replies, self._options),
            **self._agents,
        }
        try:
            episode = asyncio.run(play(self.game, players, seed, render=self._render, config=self._config))
        except Exception as error:
            self._asks.put(error)
        else:
            self._asks.put(episode)

    def _next(self) -> Ask | None:
        item = self._asks.get()
        self.ask = item if isinstance(item, Ask) else None
        if isinstance(item, Episode):
            self.episode = item
        elif isinstance(item, Exception):
            raise item
        return self.ask
