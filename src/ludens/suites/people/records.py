"""Participants of a study, and the file that remembers them: one line for everything that happened.

When the server starts again, the lines are read and everybody continues where they were.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from math import isfinite
from pathlib import Path
from typing import Any, Self

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, UnknownName
from ludens.core.files import LineFile, file_error
from ludens.run.lines import iter_records, repair_hint

PARTICIPANTS = "participants.jsonl"
LINE_START = b'{"participant":'
VOID = "void"

_GAME: dict[str, type] = {"task": str, "key": str, "seat": str}
_FIELDS: dict[str, dict[str, type]] = {
    "added": {"token": str},
    "consented": {},
    "before": {"answers": dict},
    "after": {"answers": dict},
    "started": {**_GAME, "attempt": int},
    "played": {**_GAME, "status": str},
    "not_begun": _GAME,
    "skipped": {"task": str},
    "completed": {"code": str},
    "withdrawn": {},
    "excluded": {"why": str},
    "included": {},
}
"""Event to what its line contains, besides `participant`, `event` and `time`."""

_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without those that look alike."""
_CODE_LENGTH = 12


@dataclass(eq=False)
class PlayedGame:
    """One game of a participant, as recorded."""

    task: str
    key: str
    seat: str
    attempt: int | None = None
    """Number of the episode among those of its key, which were void before the last; None if not recorded."""
    started: str = ""
    ended: str = ""
    status: str = ""
    """That of the episode; empty while it is played."""

    @property
    def place(self) -> tuple[str, int | None]:
        return self.key, self.attempt


@dataclass(eq=False)
class Participant:
    """One participant, as recorded."""

    name: str
    token: str = ""
    """Of the personal link and the cookie; empty if the line with it was lost."""
    times: dict[str, str] = field(default_factory=dict)
    """Event to when it happened last."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """`before` and `after` to question to answer."""
    games: list[PlayedGame] = field(default_factory=list)
    """Every game that began, void ones included."""
    skipped: list[str] = field(default_factory=list)
    """Tasks for which no partner came."""
    code: str = ""
    excluded: str | None = None

    @property
    def consented(self) -> bool:
        return "consented" in self.times

    @property
    def withdrawn(self) -> bool:
        return "withdrawn" in self.times

    def finished(self, task: str) -> list[PlayedGame]:
        return [game for game in self.games if game.task == task and game.status not in ("", VOID)]


class Records:
    """The participants of a study, as its folder has them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / PARTICIPANTS
        self.participants: dict[str, Participant] = {}
        self.key = ""
        """The secret part of the study's address."""

    def read(self) -> Self:
        """Read the file, up to a line that is being written."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            raise BadFile(
                f"{str(self.path.parent)!r} is not a study: it contains no {PARTICIPANTS}."
            ) from None
        except OSError as error:
            raise file_error("read", self.path, error) from None
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
            try:
                self._apply(read_line(line))
            except BadFile as error:
                hint = repair_hint(self.path.parent)
                raise BadFile(f"line {number} of {str(self.path)!r} is {error}; {hint}") from None
        return self

    def get(self, name: str) -> Participant:
        if name not in self.participants:
            raise UnknownName("participant", name, self.participants)
        return self.participants[name]

    def _apply(self, line: dict[str, Any]) -> None:
        if "study" in line:
            self.key = line["study"]
            return
        name, event, time = line["participant"], line["event"], line["time"]
        person = self.participants.setdefault(name, Participant(name))
        person.times[event] = time
        match event:
            case "added":
                person.token = line["token"]
            case "before" | "after":
                person.answers[event] = line["answers"]
            case "started":
                game = PlayedGame(line["task"], line["key"], line["seat"], line["attempt"], started=time)
                person.games.append(game)
            case "played":
                open_games = (game for game in person.games if game.key == line["key"] and not game.status)
                game = next(open_games, None) or PlayedGame(line["task"], line["key"], line["seat"])
                if game not in person.games:  # written by a version that did not record the start
                    person.games.append(game)
                game.status, game.ended = line["status"], time
            case "skipped":
                person.skipped.append(line["task"])
            case "completed":
                person.code = line["code"]
            case "excluded":
                person.excluded = line["why"]
            case "included":
                person.excluded = None


class OpenRecords(Records):
    """The participants of a study, opened for writing: every line is on the disk before it takes effect."""

    _file: LineFile

    def __enter__(self) -> Self:
        self._file = LineFile(self.path, durable=True)
        try:
            self.read()
            if not self.key:
                self._write([{"study": secrets.token_urlsafe(12)}])
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self) -> Participant:
        numbers = [int(name[1:]) for name in self.participants if name[1:].isdecimal()]
        name = f"p{max(numbers, default=0) + 1:03}"
        self._write([{"participant": name, "event": "added", "token": secrets.token_urlsafe(18)}])
        return self.participants[name]

    def note(self, participant: Participant, event: str, **fields: Any) -> None:
        self.note_all([participant], event, [fields])

    def note_all(
        self, participants: Iterable[Participant], event: str, fields: Iterable[Mapping[str, Any]]
    ) -> None:
        """Record what happened to several participants: for all of them or, if that fails, for none."""
        pairs = zip(participants, fields, strict=True)
        self._write([{"participant": each.name, "event": event, **more} for each, more in pairs])

    def complete(self, participant: Participant) -> None:
        """Give a participant the code of those who have completed the study."""
        if not participant.code:
            code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
            self.note(participant, "completed", code=code)

    def find(self, token: str) -> Participant | None:
        with_token = (each for each in self.participants.values() if each.token)
        same = (each for each in with_token if compare_digest(token.encode(), each.token.encode()))
        return next(same, None)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        lines = [{**line, "time": time} for line in lines]
        try:
            self._file.append(b"".join(orjson.dumps(line) + b"\n" for line in lines))
        except OSError as error:
            raise file_error("write", self.path, error) from None
        for line in lines:
            self._apply(line)


def read_line(text: bytes) -> dict[str, Any]:
    try:
        line = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadFile("not JSON") from None
    if not isinstance(line, dict):
        raise BadFile("not an event of a study")
    event = line.get("event")
    if "study" in line:
        fields: dict[str, type] = {"study": str}
    elif isinstance(event, str) and event in _FIELDS:
        fields = {"participant": str, "event": str, "time": str, **_FIELDS[event]}
    else:
        raise BadFile("not an event of a study")
    for name, kind in fields.items():
        if not isinstance(line.get(name), kind):
            raise BadFile(f"not complete: it has no valid {name!r}")
    for value in line.get("answers", {}).values():
        if not (value is None or isinstance(value, str) or (type(value) in (int, float) and isfinite(value))):
            raise BadFile("not valid: an answer is neither text nor a number")
    return line


def episodes_of(folder: Path) -> Iterator[tuple[str, int, Episode]]:
    """The episodes of a study: key, `PlayedGame.attempt`, episode."""
    attempts = Counter[str]()
    for record in iter_records(folder):
        yield record.key, attempts[record.key], record.episode
        attempts[record.key] += 1


def excluded_keys(folder: Path) -> frozenset[str]:
    """The keys of finished episodes in which an excluded participant played."""
    if not (folder / PARTICIPANTS).exists():
        return frozenset()
    excluded = (each for each in Records(folder).read().participants.values() if each.excluded is not None)
    return frozenset(game.key for each in excluded for game in each.games if game.status not in ("", VOID))


def participant_clusters(folder: Path) -> dict[str, str]:
    """The key of every finished episode to a participant: the same one for all people who have played a task
    together, because their episodes are not independent. Intervals count them as one observation."""
    if not (folder / PARTICIPANTS).exists():
        return {}
    tasks: dict[str, dict[str, list[str]]] = {}
    for each in Records(folder).read().participants.values():
        for game in each.games:
            if game.status not in ("", VOID):
                tasks.setdefault(game.task, {}).setdefault(game.key, []).append(each.name)
    return {key: name for groups in tasks.values() for key, name in _joined(groups).items()}


def _joined(groups: Mapping[str, list[str]]) -> dict[str, str]:
    """For each key of a group of names, one name of all that are connected with the group."""
    stands_for = {name: name for group in groups.values() for name in group}

    def root(name: str) -> str:
        while stands_for[name] != name:
            name = stands_for[name]
        return name

    for group in groups.values():
        first, *rest = sorted(map(root, group))
        stands_for.update(dict.fromkeys(rest, first))
    return {key: root(group[0]) for key, group in groups.items()}
