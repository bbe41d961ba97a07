"""Finding one episode among those of a run, and showing it again: frames, strip and animation.

Keys are long: a part that no other key has is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.replay import game_of, render_options_of, replay
from ludens.core.view import view_of
from ludens.run.store import EPISODES, read_plan

if TYPE_CHECKING:
    from ludens.draw import Picture

STRIP_FRAMES = 24
"""The most pictures in one strip; of a longer episode, that many are shown, evenly spaced."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a run's episodes, not read any further yet."""

    key: str
    void: bool
    start: int
    """Where in the file the line begins."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture and what led there."""

    picture: Picture
    caption: str


def entries(folder: Path) -> list[Entry]:
    """Every finished episode of a run in the order it was written; a torn last line is left out."""
    path = folder / EPISODES
    found: list[Entry] = []
    if not path.exists():
        return found
    with path.open("rb") as file:
        start = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                head = orjson.loads(line.partition(b',"episode":')[0] + b"}")
                found.append(Entry(head["key"], head["void"], start))
            except (orjson.JSONDecodeError, KeyError, TypeError):
                raise BadFile(f"line {number} of {str(path)!r} is not an episode.") from None
            start += len(line)
    return found


def find(known: Sequence[Entry], key: str) -> Entry:
    """The episode a person means: its key, its number (from 1), or a part of the key that no other has.

    Of a key that was void before it was done, the finished episode is meant.
    """
    latest = {entry.key: entry for entry in sorted(known, key=lambda entry: not entry.void)}
    if key in latest:
        return latest[key]
    if key.isascii() and key.isdigit() and 1 <= int(key) <= len(known):
        return known[int(key) - 1]
    for holds in (str.startswith, str.__contains__):
        hits = [name for name in latest if holds(name.lower(), key.lower())]
        if len(hits) == 1:
            return latest[hits[0]]
        if len(hits) > 1:
            some = ", ".join(repr(hit) for hit in hits[:4]) + (", ..." if len(hits) > 4 else "")
            raise BadOption(f"{key!r} fits {len(hits)} episodes ({some}); write more of the key.")
    raise UnknownName("episode", key, latest)


def read_episode(folder: Path, entry: Entry) -> Episode:
    """The episode of an entry."""
    with (folder / EPISODES).open("rb") as file:
        file.seek(entry.start)
        line = file.readline()
    try:
        return Episode.from_json(line.rstrip().partition(b',"episode":')[2][:-1])
    except BadFile as error:
        raise BadFile(f"{entry.key!r} in {str(folder)!r}: {error}") from None


def read_episode_file(file: Path, number: int = 1) -> Episode:
    """An episode from a file of its own, or one of several that stand line by line."""
    try:
        lines = [line for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadFile(f"cannot read {str(file)!r}: {reason}.") from None
    if not 1 <= number <= max(1, len(lines)):
        raise BadOption(f"{str(file)!r} holds {len(lines)} episodes; there is no number {number}.")
    try:
        return Episode.from_json(lines[number - 1] if lines else b"")
    except BadFile as error:
        raise BadFile(f"{str(file)!r}: {error}") from None


def templates_of(folder: Path) -> Path | None:
    """The folder of words that the seats of a run were told with."""
    templates = read_plan(folder).templates
    return Path(templates) if templates else None


def frames(episode: Episode, seat: str | None = None, size: int | None = None) -> Iterator[Frame]:
    """The position after every step as one seat sees it, with the moves that led there."""
    game = game_of(episode)
    if seat is not None and seat not in game.seats:
        raise UnknownName(f"seat of {game.name}", seat, game.seats)
    view = view_of(game, render_options_of(episode, size), episode.seed)
    led = "start"
    for step in replay(episode, game):
        picture = cast("Picture", view.image(step.state, seat or main_seat(episode)))
        yield Frame(picture, f"{step.index}. {led}")
        led = ", ".join(" ".join(f"{move.seat} {move.action}".split()) for move in step.moves)


def last_picture(episode: Episode, size: int) -> Picture:
    """How an episode ended."""
    game = game_of(episode)
    *_, last = replay(episode, game)
    view = view_of(game, render_options_of(episode, size), episode.seed)
    return cast("Picture", view.image(last.state, main_seat(episode)))


def main_seat(episode: Episode) -> str:
    """Whose eyes an episode is shown through: the first seat that was shown pictures, else the first."""
    lookers = (move.seat for move in episode.moves if move.pictures)
    return next(lookers, next(iter(episode.seats)))


def animation(episode: Episode, seat: str | None = None, size: int | None = None, ms: int = 600) -> bytes:
    """The episode as a GIF."""
    from ludens.draw import animate

    return animate([frame.picture for frame in frames(episode, seat, size)], ms)


def film_strip(episode: Episode, seat: str | None = None, size: int | None = None) -> bytes:
    """The episode as one PNG: frames in reading order, each under the move that led there."""
    from ludens.draw import strip

    shown = evenly(list(frames(episode, seat, size)), STRIP_FRAMES)
    columns = min(len(shown), 4)
    return strip([f.picture for f in shown], columns, [f.caption for f in shown]).png()


def evenly(items: list[Frame], most: int) -> list[Frame]:
    """At most so many items, the first and the last among them."""
    if len(items) <= most:
        return items
    last = len(items) - 1
    return [items[round(i * last / (most - 1))] for i in range(most)]
