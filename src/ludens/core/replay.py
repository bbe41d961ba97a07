"""Replaying an episode from seed and actions, and verifying that it shows the same pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ludens.core.episode import Episode, Move
from ludens.core.errors import Illegal, ReplayMismatch
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.templates import TemplateOverrides
from ludens.core.view import RenderOptions, View, view_of


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay: the state before it and the moves made in it."""

    index: int
    state: State
    moves: tuple[Move, ...]


def game_of(episode: Episode, game: Game | None = None) -> Game:
    """The game of an episode, checked to be the same game, options and version."""
    game = game or make(episode.game, **episode.options)
    if game.name != episode.game or game.options != episode.options:
        raise ReplayMismatch(f"the episode is not of {game.name} with these options.")
    if game.version != episode.version:
        raise ReplayMismatch(
            f"the episode was played with {episode.game} version {episode.version}; "
            f"the installed version is {game.version}."
        )
    return game


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


def _first_state(episode: Episode, game: Game, given: State | None) -> State:
    if given is not None:
        return given.clone()
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


def verify(episode: Episode, game: Game | None = None, state: State | None = None) -> int:
    """Replay, re-render and compare hashes, returns and facts; returns the number of pictures compared."""
    game = game_of(episode, game)
    if set(episode.seats) != set(game.seats):
        raise ReplayMismatch(f"the seats of the episode are not those of {game.name}.")
    view = view_of(game, render_options_of(episode), episode.seed)
    compared = 0
    last, final = state, tuple[Move, ...]()
    for step in replay(episode, game, state):
        last, final = step.state, step.moves or final
        for move in step.moves:
            compared += _compare_pictures(view, last, move)
    assert last is not None
    if episode.unfinished and episode.status != "void":
        raise ReplayMismatch(f"the episode is {episode.status} but has an unfinished step.")
    for move in episode.unfinished:
        compared += _compare_pictures(view, last, move)
    _compare_end(episode, last, final)
    return compared


def _compare_end(episode: Episode, state: State, final: tuple[Move, ...]) -> None:
    returns = state.returns
    if episode.status == "forfeit":
        forfeiting = {move.seat for move in final if move.verdict == "fallback" and not move.action}
        if episode.culprit not in forfeiting:
            raise ReplayMismatch(f"the last step does not show that {episode.culprit!r} forfeited.")
        returns = state.forfeited(episode.culprit)
    for name, replayed in (("returns", returns), ("facts", state.facts)):
        if replayed != getattr(episode, name):
            raise ReplayMismatch(f"the replayed {name} differ from the recorded ones.")
    if (episode.status == "done") != state.over:
        raise ReplayMismatch(f"the episode is {episode.status}, but its moves leave the game otherwise.")


def _compare_pictures(view: View, state: State, move: Move) -> int:
    if not move.pictures:
        return 0
    hashes = [picture.hash for picture in view.images(state, move.seat)]
    if hashes != move.pictures:
        raise ReplayMismatch(f"the pictures shown to {move.seat} in step {move.step} differ.")
    return len(hashes)
