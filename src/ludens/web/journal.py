"""Journals: what a server needs to go on with the games of people after it was killed.

A journal is the file of one game: who sits where, with which tokens, then one line for every reply. A reply
of a person is on the disk before it is acknowledged. A server that starts again plays the game anew from its
seed; every seat repeats the replies of the journal, and only then is asked again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from errno import ENOSPC
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import IO, Any, ClassVar, Literal, Self

import orjson

from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask, History
from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadFile, BadOption, Illegal, Late, MoveError, Unreadable
from ludens.core.files import LineFile, file_error, lock_file, save_file
from ludens.core.game import Game
from ludens.core.random import Stream
from ludens.core.sync import in_thread
from ludens.core.templates import Sections
from ludens.core.validation import Invalid, read_value

LOG = logging.getLogger(__name__)
FOLDER = ".games"
_SCHEMA = 1
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_WRITERS = ThreadPoolExecutor(4, "ludens-journal")
"""Separate threads, because bots that search for a long time fill those of the event loop."""
_REFUSED: dict[str, type[MoveError]] = {"unreadable": Unreadable, "illegal": Illegal, "late": Late}


@dataclass(frozen=True)
class TableRecord:
    """The first line of a journal: a table and the game that is played there."""

    session: str
    owner: str
    tokens: Mapping[str, str]
    """Of the seats of people."""
    game_number: int
    turns: Mapping[str, int]
    """The number of the last question of each person before this game."""
    void_games: int
    about: Mapping[str, Any]
    """The values from which the game can be set up again."""
    schema: int = _SCHEMA


@dataclass(frozen=True)
class JournalReply:
    """One reply of a seat. For a person, the text is what was typed."""

    seat: str
    turn: int
    """How many times the seat was asked in this game, this time included."""
    text: str = ""
    action: str | None = None
    usage: Usage | None = None
    finish: str = ""
    reasoning: str = ""
    refused: Literal["", "unreadable", "illegal", "late"] = ""
    """Set where the agent itself refused the reply, or there was none in time."""
    reason: str = ""
    ms: float = 0.0
    at: float = 0.0
    """Seconds since the game began, without the time in which the server was not running."""

    def repeat(self) -> Reply:
        """The same reply again; raises what was raised then."""
        reply = Reply(self.text, self.action, self.usage, self.finish, self.reasoning)
        if self.refused:
            error = _REFUSED[self.refused](self.reason)
            error.reply = reply if self.text or self.finish else None
            raise error
        return reply


@dataclass(frozen=True)
class GameEvent:
    """What else happens to a game."""

    event: Literal["begun", "left", "ended"]
    seat: str = ""
    text: str = ""
    """Why the game is over."""
    saved: str = ""


class Journal:
    """The journal of one table. Without a path nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.record: TableRecord | None = None
        self.begun = False
        self.leaver = ""
        """The seat whose person left the game."""
        self.end: GameEvent | None = None
        self.elapsed = 0.0
        """Seconds that the game had lasted at the last line when the journal was read."""
        self._replies: dict[tuple[str, int], JournalReply] = {}
        self._began = perf_counter()
        self._closed = False
        self._lock = Lock()

    @classmethod
    def read(cls, path: Path) -> Self:
        """A journal that an earlier server has written, without a last line that is not complete."""
        journal = cls(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise file_error("read", path, error) from None
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        try:
            journal._read_record(lines[0] if lines else b"{}")
            for line in lines[1:]:
                journal._read_line(orjson.loads(line))
        except (orjson.JSONDecodeError, Invalid) as error:
            raise BadFile(f"the journal {str(path)!r} is not valid: {error}.") from None
        return journal

    def _read_record(self, line: bytes) -> None:
        record = read_value(TableRecord, orjson.loads(line))
        if record.schema != _SCHEMA or not _ID.fullmatch(record.session):
            raise BadFile(f"the journal {str(self.path)!r} is of another version of Ludens.")
        self.record = record

    def _read_line(self, line: Any) -> None:
        if isinstance(line, dict) and "event" in line:
            self._apply(read_value(GameEvent, line))
            return
        reply = read_value(JournalReply, line)
        place = reply.seat, reply.turn
        # A reply that was written when its time was up did not count.
        if place not in self._replies or self._replies[place].refused != "late":
            self._replies[place] = reply
        self.elapsed = max(self.elapsed, reply.at)

    def _apply(self, event: GameEvent) -> None:
        match event.event:
            case "begun":
                self.begun = True
            case "left":
                self.leaver = event.seat
            case "ended":
                self.end = event

    def start(self, record: TableRecord) -> None:
        """Begin the journal of the next game, in place of the one before."""
        if self.path is not None:
            with self._lock:
                save_file(self.path, orjson.dumps(record) + b"\n")
        self.record, self.begun, self.leaver, self.end, self.elapsed = record, False, "", None, 0.0
        self._replies.clear()

    @property
    def repeated(self) -> int:
        """How many replies are given again."""
        return len(self._replies)

    def reply(self, seat: str, turn: int) -> JournalReply | None:
        """What a seat replied before the server was started again."""
        return self._replies.get((seat, turn))

    def start_clock(self) -> None:
        """Count from what the game had lasted when the server stopped."""
        self._began = perf_counter() - self.elapsed

    def now(self) -> float:
        """Seconds since the game began."""
        return round(perf_counter() - self._began, 6)

    def entry(
        self, seat: str, turn: int, start: float, reply: Reply, error: MoveError | None = None
    ) -> JournalReply:
        """The line for a reply to what was asked at some time."""
        now = self.now()
        return JournalReply(
            seat=seat,
            turn=turn,
            text=reply.text,
            action=reply.action,
            usage=reply.usage,
            finish=reply.finish,
            reasoning=reply.reasoning,
            refused=error.verdict if error is not None else "",
            reason=str(error) if error is not None else "",
            ms=round((now - start) * 1000, 3),
            at=now,
        )

    async def save(self, reply: JournalReply) -> None:
        """Return when the reply is on the disk; raise `BadFile` if that is not possible."""
        if self.path is not None:
            await asyncio.get_running_loop().run_in_executor(_WRITERS, self._append, reply, True)

    def note(self, line: JournalReply | GameEvent) -> None:
        """Write a line without waiting for the disk: it survives the end of this process, and is on the disk
        with the next reply that is saved."""
        if self._closed:
            return
        if isinstance(line, GameEvent):
            self._apply(line)
        try:
            self._append(line, False)
        except BadFile as error:
            LOG.error("a journal is not complete: %s", error)

    def _append(self, line: JournalReply | GameEvent, durable: bool) -> None:
        if self.path is None:
            return
        data = orjson.dumps(line) + b"\n"
        with self._lock:
            try:
                _append_line(self.path, data, durable)
            except OSError as error:
                raise file_error("write", self.path, error) from None

    def close(self) -> None:
        """Write nothing more, because the server stops: this is not an event of the game."""
        self._closed = True

    def delete(self) -> None:
        self._closed = True
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _append_line(path: Path, data: bytes, durable: bool) -> None:
    """Append a line, or nothing; the file is opened for every one, because thousands of tables would need as
    many file descriptors."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        end = os.fstat(handle).st_size
        try:
            if os.write(handle, data) < len(data):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            if durable:
                _sync(handle)
        except OSError:
            os.ftruncate(handle, end)
            raise
    finally:
        os.close(handle)


_sync = getattr(os, "fdatasync", os.fsync)


def folder_of(runs: Path) -> Path:
    """Where runs are kept, also where only one of them is shown."""
    return runs.parent if (runs / "run.json").exists() else runs


class JournalFolder:
    """The journals below a folder, of one server at a time."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock: IO[bytes] | None = None
        self._in_use = False
        """Whether another server keeps its games here."""

    def read(self) -> Iterator[Journal]:
        """Every journal that can be read."""
        if self._folder is None or not self._folder.is_dir() or not self._open(self._folder):
            return
        for path in sorted(self._folder.glob("*.jsonl")):
            try:
                LineFile(path, lock=False).close()  # removes a line that a crash left incomplete
                yield Journal.read(path)
            except BadFile as error:
                LOG.error("a game cannot go on: %s", error)

    def new(self, session: str) -> Journal:
        """The journal of a new table; it keeps nothing where another server keeps its games."""
        if self._folder is None or not self._open(self._folder):
            return Journal()
        return Journal(self._folder / f"{session}.jsonl")

    def _open(self, folder: Path) -> bool:
        if self._lock is not None or self._in_use:
            return not self._in_use
        lock = folder / "lock"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = lock.open("ab")
            lock_file(self._lock, lock)
        except OSError as error:
            raise file_error("write", lock, error) from None
        except BadOption:
            self.close()
            self._in_use = True
            LOG.warning(
                "another server keeps its games in %s: those of this one are lost when it stops", folder
            )
        return not self._in_use

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


@dataclass
class Journaled(Agent):
    """A bot or a model whose replies are in the journal of its game.

    A model is asked only what the journal has no reply to. A bot is always asked, so that its memory and its
    random stream are those of the first time; the reply of the journal counts.
    """

    agent: Agent | None = field(default=None, repr=False)
    journal: Journal = field(default_factory=Journal, repr=False)
    kind: ClassVar[str] = "journaled"
    _turn: int = field(default=0, init=False, repr=False)

    @property
    def _inner(self) -> Agent:
        assert self.agent is not None
        return self.agent

    def sit(self, game: Game, seat: str, random: Stream) -> Self:
        seated = replace(self, agent=self._inner.sit(game, seat, random))
        inner = seated._inner
        seated.game, seated.seat, seated.random = game, seat, random
        seated.sees, seated.waits, seated.unlimited_retries = inner.sees, inner.waits, inner.unlimited_retries
        seated._turn = 0
        return seated

    @property
    def spec(self) -> str:
        return self._inner.spec

    @property
    def remarks(self) -> Any:
        return self._inner.remarks

    @property
    def templates(self) -> Sections:
        return self._inner.templates

    def history(self) -> History:
        return self._inner.history()

    async def act(self, ask: Ask) -> Reply:
        self._turn += 1
        recorded = self.journal.reply(self.seat, self._turn)
        if recorded is not None:
            await asyncio.sleep(0)  # others go on while a long game is repeated
            if not self.waits:
                await self._reply(ask)
            return recorded.repeat()
        if self.journal.end is not None:
            raise AgentFailure(self.journal.end.text)
        start = self.journal.now()

        def entry(reply: Reply, error: MoveError | None = None) -> JournalReply:
            return self.journal.entry(self.seat, self._turn, start, reply, error)

        try:
            reply = await self._reply(ask)
        except MoveError as error:
            self.journal.note(entry(error.reply or Reply(), error))
            raise
        except asyncio.CancelledError:  # the limit of one reply
            self.journal.note(entry(Reply(), Late("no reply within the time limit.")))
            raise
        self.journal.note(entry(reply))
        return reply

    async def _reply(self, ask: Ask) -> Reply:
        act = self._inner.act(ask)
        return await (in_thread(act) if self._inner.computes else act)
