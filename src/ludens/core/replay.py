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
from ludens.core.view import Look, View, view_of


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay: the state before it and the moves that were made."""

    index: int
    state: State
    moves: tuple[Move, ...]


def game_of(episode: Episode) -> Game:
    """The game an episode was played with; another version of it cannot replay the episode."""
    game = make(episode.game, **episode.options)
    if game.version != episode.version:
        raise ReplayMismatch(
            f"the episode was played with {episode.game} version {episode.version}; "
            f"this Ludens has version {game.version}."
        )
    return game


def replay(episode: Episode, game: Game | None = None) -> Iterator[Step]:
    """Every step in order, then a last one without moves. The states given out are copies."""
    game = game or game_of(episode)
    state = game.start(episode.seed)
    index = -1
    for index, group in groupby(episode.moves, key=lambda move: move.step):
        moves = tuple(group)
        yield Step(index, state.clone(), moves)
        try:
            state.apply({move.seat: move.action for move in moves})
        except Illegal as error:
            raise ReplayMismatch(f"step {index} of the episode cannot be replayed: {error}") from None
    yield Step(index + 1, state, ())


def verify(episode: Episode, game: Game | None = None) -> int:
    """Replay, re-render what was shown, compare hashes, returns and facts; returns the pictures compared."""
    game = game or game_of(episode)
    view = view_of(game, Look(episode.theme, episode.size), episode.seed)
    compared = 0
    state: State | None = None
    for step in replay(episode, game):
        state = step.state
        for move in step.moves:
            compared += _compare(view, state, move)
    if state is not None and episode.status in ("done", "horizon"):
        for what, ours in (("returns", state.returns), ("facts", state.facts)):
            if ours != getattr(episode, what):
                raise ReplayMismatch(f"the {what} of the replay differ from those recorded.")
        if episode.status == "done" and not state.over:
            raise ReplayMismatch("the episode says it is done, but its moves do not end the game.")
    return compared


def _compare(view: View, state: State, move: Move) -> int:
    if not move.pictures:
        return 0
    hashes = [picture.hash for picture in view.images(state, move.seat)]
    if hashes != move.pictures:
        raise ReplayMismatch(f"the pictures {move.seat} saw in step {move.step} are not those recorded.")
    return len(hashes)
