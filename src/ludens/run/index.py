"""The index of a run, `index.jsonl`: a header, then the row of every stored episode.

It is a cache of the shards. The header says of which plan and by which code it was made; every row has the
checksum of its line. An index that does not fit is ignored, and made again from the shards. It covers the
beginning of each shard: lines that follow, because a process was killed or still writes, are read there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from weakref import finalize
from zlib import crc32

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, UsageError
from ludens.core.files import lock_file
from ludens.run.binding import PlanCheck
from ludens.run.lines import (
    LINE,
    PARQUET,
    Head,
    LineReader,
    parquet_column,
    read_episode,
    read_record,
    shards_of,
)
from ludens.run.plan import Plan
from ludens.run.rows import EPISODES, EpisodeRow, Location, RowMaker, code_hash

INDEX = "index.jsonl"
SCHEMA = 1
SEALED, SKIPPED = "sealed", "skipped"
_END = 1 << 20
_BLOCK = 1 << 16
"""Rows of a larger block do not stay in the caches of a core."""
_IN_MEMORY = 1 << 24

RowDict = dict[str, Any]
"""A row as the index has it: the fields of `EpisodeRow` that differ from their defaults. If the metrics of
the episode cannot be written, they are in `measured`, an `EpisodeRow`."""


def location_of(row: RowDict) -> Location:
    """Where the line of a row is."""
    return Location(row.get("shard", EPISODES), row.get("offset", 0))


class StaleIndex(Exception):
    """The index does not fit the shards; the rows read so far must not be used."""


def header(plan: Plan, maker: RowMaker) -> bytes:
    """The first line of an index."""
    fields = {"index": SCHEMA, "run": plan.identity(), "code": code_hash(maker)}
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def seal(folder: Path) -> bytes:
    """A line that says how large each shard is, and when it was written.

    As long as both are unchanged, its lines need not be compared with the checksums of the index.
    """
    return orjson.dumps({SEALED: _states(folder)}, option=orjson.OPT_APPEND_NEWLINE)


def _states(folder: Path) -> dict[str, list[int]]:
    stats = ((name, os.stat(folder / name)) for name in shards_of(folder))
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats}


class RowReader:
    """Reads the rows of a run, also while it is played: each `read` continues where the last one ended.

    Args:
        folder: The run.
        plan: Its plan.
        maker: Makes rows of episodes that are not in the index; if None, rows have only what heads of lines
            have, and it does not matter by which code the index was made.
        check: Whether lines that are not in the index must belong to the plan.
        direct: Whether to read the shards alone.
    """

    def __init__(
        self, folder: Path, plan: Plan, maker: RowMaker | None, *, check: bool = True, direct: bool = False
    ) -> None:
        self.folder, self._plan, self._maker = folder, plan, maker
        self.lines = LineReader(folder)
        self.direct = direct or not self._valid_header()
        self.done: set[str] | None = set() if self.direct else None
        """The keys of the finished episodes; None as long as they are not needed."""
        self.keep: Callable[[bytes], object] = lambda line: None
        """Called with the lines of the index that it does not have yet."""
        self._check = PlanCheck(folder, plan) if check else None
        self._position = 0
        self._sealed = frozenset() if self.direct else self._read_seal()
        self._cache: SpooledTemporaryFile[bytes] | None = None
        if self.direct and maker is not None:
            self._cache = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
            self._cache.write(header(plan, maker))
            self.keep = self._cache.write
            finalize(self, self._cache.close)

    def read(self) -> Iterator[RowDict]:
        """Every further row.

        Raises:
            StaleIndex: The index does not fit the shards.
            BadFile: A line that is not in the index is not valid.
        """
        if not self.direct:
            yield from self._read_index()
        if not self.lines.unread():
            return
        if self.done is None:
            rows = (row for row in self._index_lines(0) if _is_finished(row))
            self.done = {row["key"] for row in rows}
        for head, data, location, line in self.lines.read():
            length = 1 if location.shard == PARQUET else len(line)
            place = {**location._asdict(), "length": length, "checksum": crc32(line)}
            if head.key in self.done:
                self.keep(orjson.dumps({SKIPPED: True, **place}, option=orjson.OPT_APPEND_NEWLINE))
                continue
            if not head.void:
                self.done.add(head.key)
            yield self._row_of(head, location, data, place)

    def write_index(self, locked: bool = False) -> bool:
        """Replace the index by the rows that were read, unless another process is writing to the run.

        Returns whether that was done.
        """
        if self._cache is None:
            return False
        partial = self.folder / f"{INDEX}.part"
        try:
            with self._cache as rows, ExitStack() as stack:
                if not locked:
                    lock_file(stack.enter_context((self.folder / EPISODES).open("rb")), self.folder)
                rows.write(seal(self.folder))
                rows.seek(0)
                with partial.open("wb") as file:
                    copyfileobj(rows, file)
                partial.replace(self.folder / INDEX)
            return True
        except (OSError, UsageError):
            return False  # the next reader makes the rows again
        finally:
            self._cache, self.keep = None, lambda line: None

    def _row_of(self, head: Head, location: Location, data: bytes, place: RowDict) -> RowDict:
        if self._maker is None:
            return {"key": head.key, "status": "void" if head.void else "done", **place}
        episode = read_record(self.folder, head, data).episode
        if self._check is not None:
            self._check.check(head, episode, location.shard)
        row = self._maker.make(head.job_of(episode.seed), episode)
        row.shard, row.offset, row.length, row.checksum = place.values()
        line = row.to_json()
        self.keep(line)
        return self._complete(orjson.loads(line), episode)

    def _complete(self, row: RowDict, episode: Episode | None = None) -> RowDict:
        """The row, with its metrics if it has none."""
        if "values" not in row and row.get("status") != "void" and self._maker is not None:
            whole = EpisodeRow.from_dict(row)
            if episode is None:
                episode = read_episode(self.folder, whole.key, whole.location)
            self._maker.measure(whole, episode)
            row["measured"] = whole
        return row

    def _valid_header(self) -> bool:
        try:
            with (self.folder / INDEX).open("rb") as file:
                fields = orjson.loads(file.readline())
            same = fields["index"] == SCHEMA and fields["run"] == self._plan.identity()
            return bool(same and (self._maker is None or fields["code"] == code_hash(self._maker)))
        except (OSError, ValueError, LookupError, TypeError):
            return False

    def _read_seal(self) -> frozenset[str]:
        """The shards that were not changed since the index was written."""
        with (self.folder / INDEX).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        try:
            sealed = orjson.loads(last)[SEALED]
            return frozenset(
                name for name, state in _states(self.folder).items() if sealed.get(name) == state
            )
        except (ValueError, LookupError, TypeError, AttributeError, OSError):
            return frozenset()

    def sealed(self) -> bool:
        """Whether the index ends with the seal of all shards."""
        return self._read_seal() == set(shards_of(self.folder))

    def _read_index(self) -> Iterator[RowDict]:
        ends = self.lines.ends
        with ShardLines(self.folder) as lines:
            for row in self._index_lines(self._position):
                if SEALED in row:
                    continue
                try:
                    shard, offset, length = row.get("shard", EPISODES), row.get("offset", 0), row["length"]
                    end = ends[shard]
                    if offset < end:  # it was read from the shard before it was in the index
                        continue
                    if offset > end or (
                        shard not in self._sealed and crc32(lines.of(row)) != row["checksum"]
                    ):
                        raise StaleIndex
                    ends[shard] = end + length
                    if self.done is not None and _is_finished(row):
                        self.done.add(row["key"])
                except (LookupError, TypeError, ValueError, AttributeError, OSError):
                    raise StaleIndex from None
                if SKIPPED not in row:
                    yield row if "values" in row else self._complete(row)

    def _index_lines(self, position: int) -> Iterator[RowDict]:
        """Every complete line of the index from a position on, without the header."""
        try:
            with (self.folder / INDEX).open("rb") as file:
                file.seek(position)
                rest = b""
                while block := file.read(_BLOCK):
                    complete, newline, rest = (rest + block).rpartition(b"\n")
                    if newline:
                        rows = orjson.loads(b"[" + complete.replace(b"\n", b",") + b"]")
                        start, position = position, position + len(complete) + 1
                        self._position = max(self._position, position)
                        yield from rows if start else rows[1:]
        except (OSError, ValueError):
            raise StaleIndex from None


def _is_finished(row: RowDict) -> bool:
    return row.get("status") != "void" and SKIPPED not in row and SEALED not in row


class ShardLines(ExitStack):
    """Reads single lines of shards, which stay open."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._compacted: Iterator[bytes] | None = None

    def of(self, row: RowDict) -> bytes:
        """The line of a row; those of the Parquet file must be read in their order."""
        shard, offset = row.get("shard", EPISODES), row.get("offset", 0)
        if shard == PARQUET:
            self._compacted = self._compacted or parquet_column(self._folder / shard, LINE, offset)
            return next(self._compacted, b"")
        if shard not in self._files:
            if shard not in shards_of(self._folder):
                raise StaleIndex
            self._files[shard] = self.enter_context((self._folder / shard).open("rb"))
        self._files[shard].seek(offset)
        return self._files[shard].read(row["length"])


def index_rows(folder: Path, plan: Plan, maker: RowMaker) -> Iterator[RowDict]:
    """Every row of a run that is not being written, in the order they were written."""
    try:
        yield from RowReader(folder, plan, maker, check=False).read()
    except StaleIndex:
        raise BadFile(f"{str(folder / INDEX)!r} was changed while it was read; try again.") from None
