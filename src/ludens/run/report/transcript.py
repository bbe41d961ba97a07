"""The prompts and replies of an episode, move by move. Prompts are not stored: `samples` rebuilds them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import groupby

from ludens.core.episode import Episode, Move, Try
from ludens.core.view import Picture
from ludens.models.chat import Message
from ludens.rebuild import samples


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of one seat."""

    move: Move
    pictures: tuple[Picture, ...]
    """What there was to see, at the size asked for; empty for steps that are not wanted."""
    blind: bool
    """Whether the seat was shown blank pictures instead."""
    exchanges: tuple[tuple[list[Message], Try], ...]
    """Each prompt with the reply to it; without prompts for bots."""


def transcript(episode: Episode, *, size: int, steps: Container[int] | None = None) -> Iterator[Turn]:
    """Every move in order.

    Args:
        episode: What was played.
        size: Of the pictures.
        steps: Where pictures are wanted; everywhere when None.
    """
    for _, replies in groupby(samples(episode, size=size), key=lambda sample: id(sample.move)):
        found = list(replies)
        first = found[0]
        move, wanted = first.move, steps is None or first.move.step in steps
        pictures = first.ask.observation.images if wanted else ()
        exchanges = [(one.messages if one.model else [], one.attempt) for one in found]
        yield Turn(move, pictures, first.options.blind, tuple(exchanges) if move.tries else ())
