"""Baselines for any game: random, first, constant, guess (do not look) and oracle (knows the answer)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of


@dataclass
class Guess(Agent):
    """A random answer, legal now or not: any that the game's view can name (`View.guess`)."""

    kind = "bot/guess"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = view_of(self.game, RenderOptions(), 0).guess(ask.state, ask.seat, self.random)
        return Reply(action, action)


@dataclass
class Random(Guess):
    """A random legal action, each equally likely; a guess where the action is a text."""

    kind = "bot/random"

    async def act(self, ask: Ask) -> Reply:
        if ask.legal.is_text:
            return await super().act(ask)
        action = ask.legal.sample(self.random)
        return Reply(action, action)


@dataclass
class First(Agent):
    """Always the first legal action; the empty text where the action is a text."""

    kind = "bot/first"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        return Reply(ask.legal.first, ask.legal.first)


@dataclass
class Constant(Agent):
    """The same action whenever it is legal, else the first legal one."""

    action: str = option("", help="the action")
    kind = "bot/constant"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        allowed = ask.legal.is_text or self.action in ask.legal
        action = self.action if allowed else ask.legal.first
        return Reply(action, action)


@dataclass
class Oracle(Agent):
    """The best action, in games that know it (`State.solution`)."""

    kind = "bot/oracle"
    sees = "state"

    def begin(self) -> None:
        if not _has_solutions(self.game):
            raise BadOption(f"bot/oracle cannot play {self.game.name}: the game does not know a best action.")

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = ask.state.solution(ask.seat)
        if action is None:
            raise BadOption(f"bot/oracle: {self.game.name} does not know a best action in this state.")
        return Reply(action, action)


@lru_cache(maxsize=64)
def _has_solutions(game: Game) -> bool:
    """Whether the states of a game override `State.solution`."""
    return type(game.start(0)).solution is not State.solution
