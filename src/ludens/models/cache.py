"""Answers kept in a file, so that the same request is never paid for twice.

The key is a hash of the whole request: the model's spec, every word, every picture's pixels, every sampling
choice. Many calls and many processes may share one file: whoever answers first is the one everybody reads.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

import orjson

from ludens.core.episode import Usage
from ludens.core.errors import BadFile
from ludens.models.chat import Answer, Model, Request

_SECONDS_TO_LOCK = 60.0
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"

T = TypeVar("T")


class Cached(Model):
    """A model that looks into a file before it asks."""

    def __init__(self, inner: Model, path: str | Path) -> None:
        super().__init__(inner.spec)
        self.inner = inner
        self.tally, self.remarks = inner.tally, inner.remarks
        self._store = Store(Path(path).expanduser())
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, request: Request) -> Answer:
        key = request.digest(self.spec)
        lock = self._asking.setdefault(key, asyncio.Lock())
        # Calls that ask the same at the same time wait for the first of them.
        async with lock:
            kept = await self._store.get(key)
            if kept is None:
                answer = await self.inner.answer(request)
                return await self._store.put(key, answer)
        self.tally["cached"] += 1
        return kept

    async def close(self) -> None:
        await self.inner.close()
        self._store.close()


class Store:
    """The file. All of SQLite happens in one thread of its own, so that waiting for a lock stops nobody."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    async def get(self, key: str) -> Answer | None:
        """The answer kept under this key. It was paid for before: its usage is nothing."""
        row = await self._run(lambda db: _one(db, key))
        return None if row is None else _free(row)

    async def put(self, key: str, answer: Answer) -> Answer:
        """Keep an answer; when another process was faster, its answer is the one that counts."""
        data = orjson.dumps(asdict(answer))
        kept = await self._run(lambda db: _add(db, key, data))
        if kept == data:
            return answer
        first = _free(kept)
        first.usage, first.cached = answer.usage, False
        return first

    def close(self) -> None:
        """Close the file; it opens again when it is needed."""
        thread, self._thread = self._thread, None
        if thread:
            thread.submit(self._disconnect)
            thread.shutdown()

    async def _run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "ludens-cache")
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, lambda: job(self._connected())
            )
        except (sqlite3.Error, OSError) as error:
            raise BadFile(f"answers cannot be kept in {self.path}: {error}.") from None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_SECONDS_TO_LOCK, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(_TABLE)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close()


def _one(db: sqlite3.Connection, key: str) -> bytes | None:
    row = db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def _add(db: sqlite3.Connection, key: str, data: bytes) -> bytes:
    db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, data))
    return _one(db, key) or data


def _free(data: bytes) -> Answer:
    try:
        answer = Answer(**orjson.loads(data))
    except (orjson.JSONDecodeError, TypeError, AttributeError) as error:
        raise BadFile(f"the cache holds something that is no answer: {error}.") from None
    answer.usage, answer.cached = Usage(calls=0), True
    return answer
