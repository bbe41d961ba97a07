"""The action of a seat whose retries are used up, and the random streams of an episode.

`play` and `verify` share these functions, so that every fallback can be verified.
"""

from __future__ import annotations

from ludens.core.config import PlayConfig
from ludens.core.random import Stream, stream
from ludens.core.state import State


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
