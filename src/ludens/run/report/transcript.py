"""What was said in an episode and what had been asked: prompts are not stored, they are made again.

The state is replayed; a model's seat is filled by the same `Vlm` with nobody behind it, which is asked
again and remembers the recorded replies; so its prompts come out as they went in, pictures at another size.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ludens.agents.vlm import Vlm, split_options
from ludens.core.agent import Ask
from ludens.core.episode import Episode, Move, Try
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.replay import game_of, replay
from ludens.core.spec import parse_spec
from ludens.core.state import State
from ludens.core.view import Picture, RenderOptions, View, view_of
from ludens.models import MODELS
from ludens.models.chat import Answer, Message, Model, Request


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of one seat."""

    move: Move
    pictures: tuple[Picture, ...]
    """What the seat was shown at that moment, at the size asked for; empty where none was made again."""
    blind: bool
    """Whether it was shown a blank instead."""
    exchanges: tuple[tuple[list[Message], Try], ...]
    """Each prompt with the reply to it; empty for bots, whose action says it all."""


class _Nobody(Model):
    """Stands in for a model that is not to be asked again."""

    async def answer(self, request: Request) -> Answer:
        raise AssertionError("a transcript asks nobody")


def transcript(
    episode: Episode, *, size: int, templates: Path | None = None, steps: Container[int] | None = None
) -> Iterator[Turn]:
    """Every move in order.

    Args:
        episode: What was played.
        size: Of the pictures.
        words: The folder of words of the run, where it had its own.
        steps: Where pictures are wanted; everywhere when None.
    """
    game = game_of(episode)
    view = view_of(game, RenderOptions(episode.theme, size, templates), episode.seed)
    desk = _Desk(episode, game, view)
    for step in replay(episode, game):
        wanted = steps is None or step.index in steps
        for move in step.moves:
            yield desk.turn(step.state, move, wanted)


class _Desk:
    """The seats of an episode while it is read again."""

    def __init__(self, episode: Episode, game: Game, view: View) -> None:
        self._view = view
        self._made = dict.fromkeys(game.seats, 0)
        self._seated: dict[str, Vlm] = {}
        for seat, spec in episode.seats.items():
            parsed = parse_spec(spec)
            if parsed.kind in MODELS.names():
                own, manner = split_options(parsed)
                vlm = Vlm(_Nobody(str(own)), manner)
                self._seated[seat] = vlm.sit(game, seat, stream(episode.seed, "agent", seat))

    def turn(self, state: State, move: Move, wanted: bool) -> Turn:
        vlm = self._seated.get(move.seat)
        number, self._made[move.seat] = self._made[move.seat], self._made[move.seat] + 1
        if vlm is None:
            pictures = self._view.images(state, move.seat) if wanted else ()
            return Turn(move, pictures, False, tuple(([], attempt) for attempt in move.tries))
        ask = Ask(
            seat=move.seat,
            legal=state.legal(move.seat),
            format=self._view.format(state, move.seat),
            observation=self._view.observe(state, move.seat, vlm.sees),
            rules=self._view.rules(move.seat),
            move=number,
        )
        pictures = ask.observation.images if wanted else ()
        exchanges = []
        for attempt in move.tries:
            exchanges.append((vlm.messages(ask), attempt))
            if attempt.verdict != "late":
                vlm.remember(ask, attempt.text)
            ask = replace(ask, refused=(*ask.refused, (attempt.text, attempt.reason)))
        return Turn(move, pictures, vlm.manner.blind, tuple(exchanges))
