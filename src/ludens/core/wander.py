"""Positions to look at: random legal moves from the start of a game."""

from __future__ import annotations

from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.state import State


def wander(game: Game, seed: int, moves: int) -> tuple[State, list[dict[str, str]]]:
    """Make random legal moves from the start, fewer when the game ends before; free texts stay empty."""
    state, random = game.start(seed), stream(seed, "show")
    made: list[dict[str, str]] = []
    while state.to_act and len(made) < moves:
        actions = {seat: state.legal(seat).sample(random) for seat in state.to_act}
        state.apply(actions)
        made.append(actions)
    return state, made
