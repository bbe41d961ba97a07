"""How an episode is played, apart from the rules of the game: retries, fallback and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.state import State

Fallback = Literal["random", "first", "forfeit"]
Reasons = Literal["full", "kind"]


@dataclass(frozen=True)
class PlayConfig:
    retries: int = 2
    """Further attempts after a reply that is not a legal action, unless `Agent.unlimited_retries`."""
    fallback: Fallback = "random"
    """After the last retry: a random legal action, the first one, or the loss of the game. Where free text is
    expected, the empty text. A game may decide otherwise (`State.fallback`)."""
    listed: bool = True
    """Whether players are shown the legal actions."""
    reasons: Reasons = "full"
    """What a player is told about a refused reply: why, or only what kind of fault it is (unreadable, several
    actions, not legal), which says nothing about the state. People are always told why."""
    horizon: int = 1000
    """Steps after which the episode ends."""
    reply_limit: int = 100_000
    """Characters of a reply, and of its reasoning, that are read and recorded."""
    seconds: float | None = None
    """Time limit for one reply."""

    def __post_init__(self) -> None:
        if self.fallback not in ("random", "first", "forfeit"):
            raise BadOption(f"fallback must be random, first or forfeit, not {self.fallback!r}.")
        if self.reasons not in ("full", "kind"):
            raise BadOption(f"reasons must be full or kind, not {self.reasons!r}.")
        if self.retries < 0:
            raise BadOption(f"retries must be at least 0, not {self.retries}.")
        if self.horizon < 1 or self.reply_limit < 1 or (self.seconds is not None and not self.seconds > 0):
            raise BadOption("horizon, reply_limit and seconds must be above 0.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as episodes store them."""
        return dict(_fields(self))


@lru_cache(maxsize=64)
def _fields(config: PlayConfig) -> dict[str, Any]:
    return asdict(config)


def check_seat(game: Game, seat: str) -> str:
    """The name of a seat; raises `UnknownName` where the game has no such seat."""
    if seat not in game.seats:
        raise UnknownName(f"seat of {game.name}", seat, game.seats)
    return seat


def check_seats(game: Game, agents: Mapping[str, object]) -> None:
    """Refuse an agent for an unknown seat and a seat without an agent."""
    for seat in agents:
        check_seat(game, seat)
    empty = [seat for seat in game.seats if seat not in agents]
    if empty:
        raise BadOption(f"{game.name} has no agent for {' and '.join(empty)}.")


def episode_stream(seed: int, sample: int, *names: str | int) -> Stream:
    """The stream of this name in an episode: samples of one seed draw different numbers."""
    return stream(seed, *names, *(("sample", sample) if sample else ()))


def forfeits(state: State, seat: str, config: PlayConfig) -> bool:
    """Whether a seat without a legal action loses the game."""
    return config.fallback == "forfeit" and state.fallback(seat) is None


def fallback_action(state: State, seat: str, config: PlayConfig, seed: int, sample: int, step: int) -> str:
    """What a seat without a legal action does: the game's choice, else that of the config."""
    own = state.fallback(seat)
    if own is not None:
        return own
    if config.fallback == "forfeit":
        return ""
    legal = state.legal(seat)
    if config.fallback == "first":
        return legal.first
    return legal.sample(episode_stream(seed, sample, "fallback", step, seat))
