"""Plays an episode back, reply by reply, wrong ones included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Episode, Move
from ludens.core.errors import AgentFailure


@dataclass
class Replay(Agent):
    """Says again what the seat it sits in said in the episode."""

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
            raise AgentFailure(f"the replayed episode has no move {ask.move + 1} of {self.seat}.")
        move, attempt = self._moves[ask.move], len(ask.refused)
        if attempt < len(move.tries):
            tried = move.tries[attempt]
            if tried.verdict == "ok":
                return Reply(tried.text, move.action, tried.usage, tried.finish)
            return Reply(tried.text, None, tried.usage, tried.finish)
        return Reply(move.action, move.action)


def replaying(episode: Episode) -> Mapping[str, Agent]:
    """One replaying agent for every seat."""
    agent = Replay(episode=episode)
    return dict.fromkeys(episode.seats, agent)
