"""An agent that repeats the replies of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import AgentFailure, Illegal, Late, MoveError, Unreadable


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
