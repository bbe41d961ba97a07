"""Participants of a study, and the file that remembers them: one line for everything that happened.

When the server starts again, the lines are read and everybody continues where they were.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically

PARTICIPANTS = "participants.jsonl"


@dataclass(eq=False)
class Participant:
    """One participant, as recorded."""

    name: str
    token: str
    consented: bool = False
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    played: list[dict[str, Any]] = field(default_factory=list)
    """Every game, void ones included: task, key, seat, status."""
    skipped: set[str] = field(default_factory=set)
    """Tasks for which no partner came."""
    withdrawn: bool = False

    def finished(self, task: str) -> int:
        """How many games of a task count."""
        return sum(game["task"] == task and game["status"] != "void" for game in self.played)

    def seats(self, task: str) -> list[str]:
        """The seats that the participant had in a task."""
        return [game["seat"] for game in self.played if game["task"] == task and game["status"] != "void"]


class Records:
    """The participants of a study, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PARTICIPANTS
        self.participants: dict[str, Participant] = {}
        self.key = ""
        if self._path.exists():
            self._read()
        if not self.key:
            self._write({"study": secrets.token_urlsafe(12)})

    def add(self) -> Participant:
        """A new participant."""
        name = f"p{len(self.participants) + 1:03}"
        self._write({"participant": name, "event": "added", "token": secrets.token_urlsafe(18)})
        return self.participants[name]

    def note(self, participant: Participant, event: str, **what: Any) -> None:
        """Record what happened to a participant."""
        self._write({"participant": participant.name, "event": event, **what})

    def find(self, token: str) -> Participant | None:
        """The participant with this token."""
        given = token.encode()
        return next((p for p in self.participants.values() if compare_digest(given, p.token.encode())), None)

    def _write(self, line: dict[str, Any]) -> None:
        line["time"] = datetime.now(UTC).isoformat(timespec="seconds")
        with self._path.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
        self._apply(line)

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:  # a crash left an incomplete line
            write_atomically(self._path, whole)
        for number, text in enumerate(whole.splitlines(), 1):
            try:
                self._apply(orjson.loads(text))
            except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
                raise BadFile(f"line {number} of {str(self._path)!r} cannot be read; remove it.") from None

    def _apply(self, line: dict[str, Any]) -> None:
        if "study" in line:
            self.key = str(line["study"])
            return
        name, event = line["participant"], line["event"]
        if event == "added":
            self.participants[name] = Participant(name, line["token"])
            return
        who = self.participants[name]
        match event:
            case "consented":
                who.consented = True
            case "before" | "after":
                setattr(who, event, dict(line["answers"]))
            case "played":
                who.played.append({key: line[key] for key in ("task", "key", "seat", "status")})
            case "skipped":
                who.skipped.add(line["task"])
            case "withdrawn":
                who.withdrawn = True
