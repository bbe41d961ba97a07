"""Playing an episode again from seed and actions, and proving that it shows the same pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ludens.core.episode import Episode, Move
from ludens.core.errors import Illegal, ReplayMismatch
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay: the state before it and the moves that were made."""

    index: int
    state: State
    moves: tuple[Move, ...]


def game_of(episode: Episode, game: Game | None = None) -> Game:
    """The game an episode was played with; another game, version or option cannot replay the episode."""
    game = game or make(episode.game, **episode.options)
    if game.name != episode.game or game.options != episode.options:
        raise ReplayMismatch(f"the episode was played with another game than {game.name}, or other options.")
    if game.version != episode.version:
        raise ReplayMismatch(
            f"the episode was played with {episode.game} version {episode.version}; "
            f"this Ludens has version {game.version}."
        )
    return game


def replay(episode: Episode, game: Game | None = None) -> Iterator[Step]:
    """Every step in order, then a last one without moves. The states given out are copies.

    The last step of a forfeited episode shows what was said in it, and changes nothing.
    """
    game = game_of(episode, game)
    state = game.start(episode.seed)
    steps = [(step, tuple(moves)) for step, moves in groupby(episode.moves, key=lambda move: move.step)]
    for index, (step, moves) in enumerate(steps):
        actions = {move.seat: move.action for move in moves}
        if step != index or len(moves) != len(state.to_act) or set(actions) != set(state.to_act):
            raise ReplayMismatch(
                f"the moves of step {index} of the episode are not those of the seats in turn."
            )
        yield Step(index, state.clone(), moves)
        if episode.status == "forfeit" and index == len(steps) - 1:
            break
        try:
            state.apply(actions)
        except Illegal as error:
            raise ReplayMismatch(f"step {index} of the episode cannot be replayed: {error}") from None
    yield Step(len(steps), state, ())


def verify(episode: Episode, game: Game | None = None) -> int:
    """Replay, re-render what was shown, compare hashes, returns and facts; returns the pictures compared."""
    game = game_of(episode, game)
    if set(episode.seats) != set(game.seats):
        raise ReplayMismatch(f"the seats of the episode are not those of {game.name}.")
    view = view_of(game, RenderOptions(episode.theme, episode.size), episode.seed)
    compared = 0
    state, final = game.start(episode.seed), tuple[Move, ...]()
    for step in replay(episode, game):
        state, final = step.state, step.moves or final
        for move in step.moves:
            compared += _compare(view, state, move)
    if episode.unfinished and episode.status != "void":
        raise ReplayMismatch(f"the episode is {episode.status}, and yet a step of it was left unfinished.")
    for move in episode.unfinished:
        compared += _compare(view, state, move)
    returns = state.returns
    if episode.status == "forfeit":
        given_up = {move.seat for move in final if move.verdict == "fallback" and not move.action}
        if episode.culprit not in given_up:
            raise ReplayMismatch(f"no last move shows that {episode.culprit!r} forfeited.")
        returns = state.forfeited(episode.culprit)
    for what, ours in (("returns", returns), ("facts", state.facts)):
        if ours != getattr(episode, what):
            raise ReplayMismatch(f"the {what} of the replay differ from those recorded.")
    if (episode.status == "done") != state.over:
        raise ReplayMismatch(f"the episode is {episode.status}, and its moves do not leave the game so.")
    return compared


def _compare(view: View, state: State, move: Move) -> int:
    if not move.pictures:
        return 0
    hashes = [picture.hash for picture in view.images(state, move.seat)]
    if hashes != move.pictures:
        raise ReplayMismatch(f"the pictures {move.seat} saw in step {move.step} are not those recorded.")
    return len(hashes)
