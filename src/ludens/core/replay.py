"""Replaying an episode: every state again, from its seed and actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Move
from ludens.core.errors import BadOption, Illegal, ReplayMismatch
from ludens.core.game import Game
from ludens.core.options import options_of
from ludens.core.policy import Setter, make_by
from ludens.core.random import stream
from ludens.core.state import State
from ludens.core.templates import TemplateOverrides
from ludens.core.validation import Invalid, read_value
from ludens.core.view import RenderOptions


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay: the state before it and the moves made in it."""

    index: int
    state: State
    moves: tuple[Move, ...]


def game_of(episode: Episode, game: Game | None = None) -> Game:
    """The game of an episode, checked to be the same game, options and version."""
    game = game or make_by(Setter.FILE, episode.game, **episode.options)
    if game.name != episode.game or not same_options(game, episode.options):
        raise ReplayMismatch(f"the episode is not of {game.name} with these options.")
    if game.version != episode.version:
        raise ReplayMismatch(
            f"the episode was played with {episode.game} version {episode.version}; "
            f"the installed version is {game.version}."
        )
    return game


def same_options(game: Game, recorded: Mapping[str, Any]) -> bool:
    """Whether a game has the recorded options. Options that did not exist yet must have their defaults."""
    defaults = {name: declared.default for name, declared in options_of(type(game)).items()}
    return game.options == {**defaults, **recorded}


def config_of(episode: Episode) -> PlayConfig:
    names = {each.name for each in fields(PlayConfig)}
    try:
        if set(episode.config) != names:
            raise ReplayMismatch("the config of the episode is incomplete or has unknown fields.")
        return read_value(PlayConfig, dict(episode.config))
    except Invalid as error:
        raise ReplayMismatch(f"the config of the episode is not valid {error}.") from None
    except BadOption as error:
        raise ReplayMismatch(f"the config of the episode is not valid: {error}") from None


def render_options_of(episode: Episode, size: int | None = None) -> RenderOptions:
    """How the pictures of an episode are rendered, optionally at another size."""
    overrides = TemplateOverrides.of(episode.templates) if episode.templates else None
    return RenderOptions(episode.theme, size or episode.size, overrides)


def replay(episode: Episode, game: Game | None = None, state: State | None = None) -> Iterator[Step]:
    """Every step in order, then a last one without moves. The states are copies.

    The last step of a forfeited episode holds the replies that forfeited it and does not change the state.

    Args:
        episode: What to replay.
        game: Its game, where it is not registered.
        state: The state in which it began, where the episode does not record how to reach it.
    """
    state = _first_state(episode, game_of(episode, game), state)
    steps = [(step, tuple(moves)) for step, moves in groupby(episode.moves, key=lambda move: move.step)]
    for index, (step, moves) in enumerate(steps):
        actions = {move.seat: move.action for move in moves}
        if step != index or len(moves) != len(state.to_act) or set(actions) != set(state.to_act):
            raise ReplayMismatch(f"the moves of step {index} do not match the seats that must act.")
        yield Step(index, state.clone(), moves)
        if episode.status == "forfeit" and index == len(steps) - 1:
            break
        _apply(state, actions, f"step {index}")
    yield Step(len(steps), state, ())


def _first_state(episode: Episode, game: Game, start: State | None) -> State:
    if start is not None:
        return start.clone()
    if episode.branched:
        raise ReplayMismatch("the episode began in a state that it does not record: pass that state.")
    state = game.start(episode.seed)
    for number, actions in enumerate(episode.opening):
        _apply(state, actions, f"step {number} of the opening")
    return state


def _apply(state: State, actions: dict[str, str], where: str) -> None:
    try:
        state.apply(actions)
    except Illegal as error:
        raise ReplayMismatch(f"{where} cannot be replayed: {error}") from None


def wander(game: Game, seed: int, moves: int) -> tuple[State, list[dict[str, str]]]:
    """Make random legal moves from the start, fewer when the game ends before; free texts stay empty."""
    state, random = game.start(seed), stream(seed, "show")
    history: list[dict[str, str]] = []
    while state.to_act and len(history) < moves:
        actions = {seat: state.legal(seat).sample(random) for seat in state.to_act}
        state.apply(actions)
        history.append(actions)
    return state, history
