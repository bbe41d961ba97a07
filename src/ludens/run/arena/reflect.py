"""Notes that a model writes after games, from their replays, and that its later prompts contain.

Notes are an option of the model's spec (`notes=...`), so that an entrant with other notes is another entrant,
and every episode records them: prompts are rebuilt and verified as those of all models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from ludens.core.episode import Usage
from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.registry import make
from ludens.core.spec import Spec, parse_spec
from ludens.core.view import Picture, RenderOptions, view_of
from ludens.models.chat import Message, Request
from ludens.models.settings import ModelSpec, is_model
from ludens.run.replays import last_picture
from ludens.run.results import Row
from ludens.run.task import EpisodeResult

NOTES_FILE = "notes.jsonl"
GAMES_SHOWN = 3
"""Games of each task that a model is shown: the worst, then others."""
MOVES_SHOWN = 80
PICTURE_SIZE = 256


@dataclass(frozen=True)
class Notes:
    """What an entrant wrote after a round of practice."""

    entrant: str
    round: int
    text: str
    usage: Usage


def read_notes(folder: Path) -> dict[tuple[str, int], Notes]:
    """The notes of a folder by entrant and round; a line cut off by a crash is dropped."""
    file = folder / NOTES_FILE
    if not file.exists():
        return {}
    notes = {}
    try:
        for line in file.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                fields = orjson.loads(line)
                entrant, number = str(fields["entrant"]), int(fields["round"])
                usage = Usage(**fields["usage"])
                notes[entrant, number] = Notes(entrant, number, str(fields["text"]), usage)
    except (OSError, ValueError, LookupError, TypeError):
        raise BadFile(f"{str(file)!r} is not a file of notes: move it away.") from None
    return notes


def append_notes(folder: Path, notes: Notes) -> None:
    with (folder / NOTES_FILE).open("ab") as file:
        file.write(orjson.dumps(notes, option=orjson.OPT_APPEND_NEWLINE))
        file.flush()


def check_writers(specs: dict[str, str]) -> None:
    """Raise if an entrant cannot write notes."""
    for name, spec in specs.items():
        if not is_model(spec) or parse_spec(spec).kind == "nano":
            raise BadOption(f"{name} cannot write notes: --reflect needs models that answer in words.")


def version_name(entrant: str, number: int) -> str:
    return f"{entrant} (notes {number})" if number else entrant


def with_notes(spec: str, text: str) -> str:
    """The spec of a model with these notes in place of earlier ones."""
    parsed = parse_spec(spec)
    options = {name: value for name, value in parsed.options.items() if name != "notes"}
    return str(Spec(parsed.name, parsed.address, {**options, **({"notes": text} if text else {})}))


def practised(row: Row) -> list[EpisodeResult]:
    """The games from which an entrant learns: the worst of each task first."""
    games = []
    for cell in row.cells.values():
        metric = cell.task.metrics[0]
        values = cell.paired_values(metric)
        sign = 1 if metric.higher_is_better else -1
        worst = sorted(cell.episodes, key=lambda place: (sign * values.get(place, 0.0), place))
        games += [cell.read(place) for place in worst[:GAMES_SHOWN]]
    return games


def notes_request(spec: str, games: Sequence[EpisodeResult], length: int) -> Request:
    """Asks a model for notes on games that it has played."""
    options = ModelSpec.parse(spec).prompt
    parts: list[str | Picture] = [
        "You have played the games below. Write notes for yourself that help you to play better: they will "
        "follow the rules in your next games, from other starts, and replace earlier notes. Write what is "
        f"true in general, not about one board. Reply with the notes alone, at most {length} characters."
    ]
    if options.notes:
        parts.append(f"Your earlier notes:\n{options.notes}")
    parts += _rules(games)
    for number, game in enumerate(games, 1):
        lines = "\n".join(replay_lines(game))
        parts.append(f"Game {number}: {lines}")
        if not options.blind and options.sees != "text":
            try:
                parts.append(last_picture(game.episode, PICTURE_SIZE))
            except UsageError:  # a game without pictures
                continue
    return Request((Message("user", tuple(parts)),))


def _rules(games: Sequence[EpisodeResult]) -> list[str]:
    """The rules of each game, once."""
    rules: dict[str, str] = {}
    for game in games:
        episode = game.episode
        view = view_of(make(episode.game, **episode.options), RenderOptions(), episode.seed)
        rules.setdefault(episode.game, f"Rules of {episode.game}:\n{view.rules(game.seats[0])}")
    return list(rules.values())


def replay_lines(game: EpisodeResult) -> Iterator[str]:
    """A game in words, as the player saw it: moves, refused replies, result."""
    episode = game.episode
    yield f"{episode.game}, you were {' and '.join(game.seats)}."
    moves = [f"{move.seat} {move.action}" for move in episode.moves]
    hidden = len(moves) - MOVES_SHOWN
    yield "Moves: " + "; ".join(moves[-MOVES_SHOWN:]) + (f" (the last {MOVES_SHOWN})" if hidden > 0 else "")
    own = [move for move in episode.moves if move.seat in game.seats]
    refused = [attempt.verdict for move in own for attempt in move.tries if attempt.verdict != "ok"]
    if refused:
        yield f"Of your replies, {len(refused)} were refused: {', '.join(sorted(set(refused)))}."
    results = ", ".join(f"{seat} {value:g}" for seat, value in episode.returns.items())
    yield f"Result: {results}" + (f"; {episode.culprit} forfeited." if episode.status == "forfeit" else ".")


async def write_notes(spec: str, games: Sequence[EpisodeResult], length: int) -> tuple[str, Usage]:
    """Ask a model for notes; returns them, cut to the length, and what they cost."""
    model = ModelSpec.parse(spec).make()
    try:
        answer = await model.answer(notes_request(spec, games, length))
    finally:
        await model.close()
    return answer.text.strip()[:length], answer.usage
