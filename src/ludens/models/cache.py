"""A persistent cache of answers, so that the same request is never paid for twice.

The key is a hash of the whole request: the model's spec, every text, the pixels of every picture, every
sampling parameter, the sample index. Many processes can share one file; the first answer to a request wins.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar
from weakref import WeakValueDictionary

import orjson

from ludens.core.episode import Usage
from ludens.core.errors import BadFile
from ludens.models.chat import Answer, Model, ModelWrapper, Request

_LOCK_TIMEOUT = 60.0
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"
_SELECT = "SELECT answer FROM answers WHERE key = ?"

T = TypeVar("T")


class Cached(ModelWrapper):
    """A model whose answers are cached in a file. Requests for tokens bypass it: tokens are not stored."""

    def __init__(self, inner: Model, path: str | Path) -> None:
        super().__init__(inner)
        self._file = AnswerFile(Path(path).expanduser())
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, request: Request) -> Answer:
        if request.want_tokens:
            return await self.inner.answer(request)
        key = request.digest(self.spec)
        # Concurrent equal requests wait for the first one.
        async with self._locks.setdefault(key, asyncio.Lock()):
            answer = await self._file.get(key)
            if answer is None:
                return await self._file.put(key, await self.inner.answer(request))
        self.counts["cached"] += 1
        return answer

    async def close(self) -> None:
        await super().close()
        self._file.close()


class AnswerFile:
    """An SQLite file of answers, accessed in one thread so that its lock does not block the event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    async def get(self, key: str) -> Answer | None:
        row = await self._run(lambda db: db.execute(_SELECT, (key,)).fetchone())
        return None if row is None else _load(row[0])

    async def put(self, key: str, answer: Answer) -> Answer:
        """Store an answer unless another process already stored one; returns the stored one."""
        data = orjson.dumps(answer.to_dict())

        def insert(db: sqlite3.Connection) -> bytes:
            db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, data))
            return bytes(db.execute(_SELECT, (key,)).fetchone()[0])

        row = await self._run(insert)
        if row == data:
            return answer
        first = _load(row)
        first.usage, first.cached = answer.usage, False
        return first

    def close(self) -> None:
        thread, self._thread = self._thread, None
        if thread:
            thread.submit(self._disconnect)
            thread.shutdown()

    async def _run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "ludens-cache")
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, lambda: job(self._connect())
            )
        except (sqlite3.Error, OSError) as error:
            raise BadFile(f"cannot use {str(self.path)!r} as a cache of answers: {error}.") from None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT, isolation_level=None)
            try:
                _when_unlocked(connection, "PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                _when_unlocked(connection, _TABLE)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close()


def _when_unlocked(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that can fail without waiting while another process opens the file."""
    deadline = monotonic() + _LOCK_TIMEOUT
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > deadline:
                raise
        sleep(0.02)


def _load(data: bytes) -> Answer:
    try:
        answer = Answer(**orjson.loads(data))
    except (orjson.JSONDecodeError, TypeError, AttributeError) as error:
        raise BadFile(f"the cache of answers has an invalid entry: {error}.") from None
    answer.usage, answer.cached = Usage(calls=0), True
    return answer
