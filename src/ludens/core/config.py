"""The rules of the table, apart from the rules of the game: patience, fallback, limits, who must sit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game

Fallback = Literal["random", "first", "forfeit"]


@dataclass(frozen=True)
class PlayConfig:
    """The rules of the table: how patient it is, and what happens when patience ends."""

    retries: int = 2
    """How often a seat may try again after a reply that is no move."""
    fallback: Fallback = "random"
    """Then: a random legal action, the first one, or the loss of the game. Free text becomes silence."""
    listed: bool = True
    """Whether players are told which actions are legal, or must know the rules."""
    horizon: int = 1000
    """Steps after which the episode ends whatever the game says."""
    reply_limit: int = 100_000
    """Characters of a reply that are read and recorded."""
    seconds: float | None = None
    """Time for one reply."""

    def __post_init__(self) -> None:
        if self.fallback not in ("random", "first", "forfeit"):
            raise BadOption(f"fallback must be random, first or forfeit, not {self.fallback!r}.")
        hasty = self.seconds is not None and not self.seconds > 0
        if self.retries < 0 or self.horizon < 1 or self.reply_limit < 1 or hasty:
            raise BadOption("retries must be at least 0; horizon, reply limit and seconds above 0.")


def check_seats(game: Game, agents: Mapping[str, object]) -> None:
    """Refuse a seat without an agent and an agent without a seat."""
    for seat in agents:
        if seat not in game.seats:
            raise UnknownName(f"seat of {game.name}", seat, game.seats)
    empty = [seat for seat in game.seats if seat not in agents]
    if empty:
        raise BadOption(f"nobody sits at {' and '.join(empty)} of {game.name}.")
