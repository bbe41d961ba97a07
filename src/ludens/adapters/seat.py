"""One seat of a game played from outside, turn by turn: the other seats are filled by specs.

    game = OneSeat("tic_tac_toe", seat="x", others="bot/minimax")
    ask = game.reset(seed=7)
    while ask is not None:
        ask = game.reply("A1")       # if this is not legal, the same ask with a reason in `ask.refused`
    game.episode                     # what `play` records: it can be saved, shown and verified

The loop is `ludens.loop.play`. Nothing waits, so no event loop is needed and one that runs is no obstacle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.sync import Interview, Question
from ludens.core.view import RenderOptions, Sees, View, view_of
from ludens.loop import play

RANDOM = "bot/random"


@dataclass
class Outside(Agent):
    """A seat whose replies come from outside; it may try again as often as it likes."""

    kind = "outside"
    unlimited_retries = True

    async def act(self, ask: Ask) -> Reply:
        reply: Reply = await Question(ask)
        return reply


def others_of(game: Game, seats: tuple[str, ...], specs: str | Mapping[str, str]) -> dict[str, Agent]:
    """The agents of all other seats: one spec for all of them, or seat to spec."""
    free = [seat for seat in game.seats if seat not in seats]
    if isinstance(specs, str):
        specs = dict.fromkeys(free, specs)
    for seat in specs:
        if seat not in free:
            raise UnknownName(f"other seat of {game.name}", seat, free)
    return {seat: agent(specs.get(seat, RANDOM), game) for seat in free}


class OneSeat:
    """A game in which one seat is played from outside.

    Args:
        game: The game, or its spec.
        seat: The seat; by default the first one.
        others: Who plays the other seats: a spec for all, or seat to spec. By default `bot/random`. Models
            are refused: they need an event loop (`ludens.rollouts`).
        sees: What the asks show: `image`, `text`, `both`, `offered`, or `nothing`, which is fastest.
        render: Theme and size of pictures.
        horizon: Steps after which an episode ends.
    """

    def __init__(
        self,
        game: Game | str,
        seat: str | None = None,
        others: str | Mapping[str, str] = RANDOM,
        *,
        sees: Sees = "offered",
        render: RenderOptions | None = None,
        horizon: int = 1000,
    ) -> None:
        self.game = make(game) if isinstance(game, str) else game
        self.seat = self.game.seats[0] if seat is None else seat
        if self.seat not in self.game.seats:
            raise UnknownName(f"seat of {self.game.name}", self.seat, self.game.seats)
        self.render = render or RenderOptions()
        self._config = PlayConfig(horizon=horizon)
        self._agents = others_of(self.game, (self.seat,), others)
        for name, other in self._agents.items():
            if other.waits:
                raise BadOption(f"{name} cannot be played by {other.spec} here: only by bots.")
        outside = Outside()
        outside.sees = sees
        self._agents[self.seat] = outside
        self._interview: Interview[Episode] | None = None

    state: State
    """The current state; after the episode the last one."""
    seed: int
    ask: Ask | None
    """What the seat is asked now; None when the episode is over."""

    @property
    def view(self) -> View:
        return view_of(self.game, self.render, self.seed)

    def reset(self, seed: int) -> Ask | None:
        """Start an episode, and play until the seat must act."""
        self.close()
        self.seed, self.state = seed, self.game.start(seed)
        episode = play(
            self.game, self._agents, seed, first=self.state, render=self.render, config=self._config
        )
        self._interview = Interview(episode)
        self.ask = self._interview.proceed()
        return self.ask

    def act(self, action: str) -> Ask | None:
        """Take an action by its canonical name; returns the next ask, None when the episode is over."""
        return self._answer(Reply(action=action))

    def reply(self, text: str) -> Ask | None:
        """Reply as a model would: the action is read from the text by the format of the ask."""
        return self._answer(Reply(text))

    def _answer(self, reply: Reply) -> Ask | None:
        if self._interview is None or self._interview.over:
            raise BadOption("the episode is over or has not begun: call reset.")
        self.ask = self._interview.proceed(reply)
        return self.ask

    @property
    def episode(self) -> Episode | None:
        """The record of the episode, once it is over."""
        interview = self._interview
        return interview.result if interview is not None and interview.over else None

    def close(self) -> None:
        """End an unfinished episode."""
        if self._interview is not None and not self._interview.over:
            self._interview.close()
        self._interview = None
