"""Seats of a game played from outside, one turn after the other: the other seats are filled by specs.

    turns = Turns("tic_tac_toe", seats=("x",), others="bot/minimax")
    ask = turns.reset(seed=7)
    while ask is not None:
        ask = turns.reply("A1")      # if this is not legal, the same ask with a reason in `ask.refused`
    turns.episode                    # what `play` records: it can be saved, shown and verified

The loop is `ludens.loop.play`. Nothing waits, so no event loop is needed and one that runs is no obstacle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.registry import make, preset_of
from ludens.core.state import State
from ludens.core.sync import Interview, Question
from ludens.core.view import RenderOptions, Sees, View, view_of
from ludens.loop import play

RANDOM = "bot/random"


@dataclass
class Outside(Agent):
    """A seat whose replies come from outside."""

    kind = "outside"

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


class Turns:
    """A game in which some seats are played from outside.

    Args:
        game: The game, or its spec.
        seats: Those seats; by default the first one. Seats that act together are asked one after the other.
        others: Who plays the other seats: a spec for all, or seat to spec. By default those of the preset in
            the spec of the game, else `bot/random`. Models are refused: they need an event loop
            (`ludens.rollouts`).
        sees: What the asks show: `image`, `text`, `both`, `offered`, or `nothing`, which is fastest.
        render: Theme and size of pictures.
        config: Horizon and limits.
        patient: Whether a reply may be refused any number of times; else retries and fallback of the config
            apply.
    """

    def __init__(
        self,
        game: Game | str,
        seats: Sequence[str] = (),
        others: str | Mapping[str, str] | None = None,
        *,
        sees: Sees = "offered",
        render: RenderOptions | None = None,
        config: PlayConfig | None = None,
        patient: bool = True,
    ) -> None:
        if others is None:
            preset = preset_of(game) if isinstance(game, str) else None
            others = RANDOM if preset is None else preset.others
        self.game = make(game) if isinstance(game, str) else game
        self.seats = tuple(seats) or self.game.seats[:1]
        for seat in self.seats:
            if seat not in self.game.seats:
                raise UnknownName(f"seat of {self.game.name}", seat, self.game.seats)
        self.render, self._config = render or RenderOptions(), config or PlayConfig()
        self._agents = others_of(self.game, self.seats, others)
        for name, other in self._agents.items():
            if other.waits:
                raise BadOption(f"{name} cannot be played by {other.spec} here: only by bots.")
        outside = Outside()
        outside.sees, outside.unlimited_retries = sees, patient
        self._agents |= dict.fromkeys(self.seats, outside)
        self._interview: Interview[Episode] | None = None

    state: State
    """The current state; after the episode the last one."""
    seed: int
    ask: Ask | None
    """What a seat is asked now; None when the episode is over."""

    @property
    def view(self) -> View:
        return view_of(self.game, self.render, self.seed)

    def reset(self, seed: int) -> Ask | None:
        """Start an episode, and play until a seat must act."""
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
