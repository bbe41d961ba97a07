"""Baselines for any game: random, first, constant, guess (do not look) and oracle (knows the answer)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import AgentFailure, BadOption, Illegal, Late, MoveError, Unreadable
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


@dataclass
class Replay(Agent):
    """Repeats the replies of its seat, refused ones included."""

    episode: Episode = field(default_factory=lambda: Episode("", 0, {}, 0, {}))
    kind = "replay"
    sees = "nothing"

    def begin(self) -> None:
        self._moves: list[Move] = [move for move in self.episode.moves if move.seat == self.seat]

    @property
    def spec(self) -> str:
        return f"replay/{self.episode.fingerprint()}"

    async def act(self, ask: Ask) -> Reply:
        if ask.move >= len(self._moves):
            ended = self.episode.error if self.episode.status == "void" else ""
            raise AgentFailure(ended or f"the replayed episode has no move {ask.move + 1} of {self.seat}.")
        move, attempt = self._moves[ask.move], len(ask.refused)
        if attempt >= len(move.tries):
            return Reply(move.action, move.action)
        tried = move.tries[attempt]
        if tried.verdict != "ok":
            raise _refused(tried)
        return Reply(tried.text, move.action, tried.usage, tried.finish)


def _refused(tried: Try) -> MoveError:
    """The recorded verdict: a replay does not depend on how replies are read now."""
    kind = {"illegal": Illegal, "late": Late}.get(tried.verdict, Unreadable)
    error = kind(tried.reason)
    error.reply = Reply(tried.text, None, tried.usage, tried.finish)
    return error


def replaying(episode: Episode) -> Mapping[str, Agent]:
    """The replaying agent for every seat."""
    agent = Replay(episode=episode)
    return dict.fromkeys(episode.seats, agent)
