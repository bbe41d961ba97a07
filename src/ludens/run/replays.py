"""Reads single episodes of a run, and shows them again: frames, film strip and animation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.files import file_error
from ludens.core.replay import game_of, render_options_of, replay
from ludens.core.view import view_of
from ludens.run.index import RowDict, location_of
from ludens.run.rows import Location

if TYPE_CHECKING:
    from ludens.draw import Picture

STRIP_PICTURES = 24
"""The most pictures in one film strip; longer episodes are sampled evenly."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CaptionedPicture:
    """A position and the moves that led to it."""

    picture: Picture
    caption: str


def find(rows: Sequence[RowDict], key: str) -> tuple[str, Location]:
    """Key and place of the episode with this key or number (from 1), or the only one whose key has this text.

    If a key was void before it was done, the finished episode is found.
    """
    latest = {row["key"]: row for row in sorted(rows, key=lambda row: row.get("status") != "void")}
    if key in latest:
        return key, location_of(latest[key])
    if key.isascii() and key.isdigit() and 1 <= int(key) <= len(rows):
        row = rows[int(key) - 1]
        return row["key"], location_of(row)
    for matches in (str.startswith, str.__contains__):
        hits = [name for name in latest if matches(name.lower(), key.lower())]
        if len(hits) == 1:
            return hits[0], location_of(latest[hits[0]])
        if len(hits) > 1:
            some = ", ".join(repr(hit) for hit in hits[:4]) + (", ..." if len(hits) > 4 else "")
            raise BadOption(f"{key!r} matches {len(hits)} episodes ({some}); write more of the key.")
    raise UnknownName("episode", key, latest)


def read_episode_file(file: Path, number: int = 1) -> Episode:
    lines = _lines(file)
    if not 1 <= number <= max(1, len(lines)):
        raise BadOption(f"{str(file)!r} has {len(lines)} episodes; there is no number {number}.")
    return _episode(file, lines[number - 1] if lines else b"")


def read_episodes(file: Path) -> Iterator[Episode]:
    """All episodes of a file that has one a line."""
    return (_episode(file, line) for line in _lines(file) or [b""])


def _lines(file: Path) -> list[bytes]:
    try:
        return [line for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise file_error("read", file, error) from None


def _episode(file: Path, line: bytes) -> Episode:
    try:
        return Episode.from_json(line)
    except BadFile as error:
        raise BadFile(f"{str(file)!r}: {error}") from None


def pictures(
    episode: Episode, seat: str | None = None, size: int | None = None
) -> Iterator[CaptionedPicture]:
    """The position before every step and at the end as one seat sees it, with the moves that led to it."""
    game = game_of(episode)
    if seat is not None and seat not in game.seats:
        raise UnknownName(f"seat of {game.name}", seat, game.seats)
    view = view_of(game, render_options_of(episode, size), episode.seed)
    moves = "start"
    for step in replay(episode, game):
        picture = cast("Picture", view.image(step.state, seat or main_seat(episode)))
        yield CaptionedPicture(picture, f"{step.index}. {moves}")
        moves = ", ".join(" ".join(f"{move.seat} {move.action}".split()) for move in step.moves)


def last_picture(episode: Episode, size: int) -> Picture:
    game = game_of(episode)
    *_, last = replay(episode, game)
    view = view_of(game, render_options_of(episode, size), episode.seed)
    return cast("Picture", view.image(last.state, main_seat(episode)))


def main_seat(episode: Episode) -> str:
    """The seat whose view is shown: the first that was shown pictures, else the first."""
    seats = (move.seat for move in episode.moves if move.pictures)
    return next(seats, next(iter(episode.seats)))


def animation(episode: Episode, seat: str | None = None, size: int | None = None, ms: int = 600) -> bytes:
    from ludens.draw import animate

    return animate([frame.picture for frame in pictures(episode, seat, size)], ms)


def film_strip(episode: Episode, seat: str | None = None, size: int | None = None) -> bytes:
    """The episode as one PNG: positions in reading order, each with its caption."""
    from ludens.draw import strip

    frames = evenly(list(pictures(episode, seat, size)), STRIP_PICTURES)
    return strip([s.picture for s in frames], min(len(frames), 4), [s.caption for s in frames]).png()


def evenly(items: Sequence[T], most: int) -> list[T]:
    """At most this many items, evenly spaced, with the first and the last."""
    if len(items) <= most or most < 2:
        return list(items[: max(most, 0)])
    last = len(items) - 1
    return [items[round(i * last / (most - 1))] for i in range(most)]
