"""The lines of a run's shards: one finished episode each, with the job it belongs to.

Shards are `episodes.jsonl`, written by the process that owns the run, `episodes/*.jsonl`, one of each worker,
and `compact.parquet`, into which `ludens compact` puts the lines of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, MissingExtra
from ludens.core.files import file_error
from ludens.core.validation import Invalid, read_json
from ludens.run.plan import Job
from ludens.run.rows import EPISODES, Location

SHARDS = "episodes"
PARQUET = "compact.parquet"
LINE = "line"
"""The column of `compact.parquet` with the lines of the shards."""

LINE_START = b'{"key":'
_SEPARATOR = b',"episode":'
"""Occurs once before the episode; inside strings its quotes would be escaped."""


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a line that precede the episode."""

    key: str
    entrant: str
    task: str
    seating: int
    sample: int
    void: bool
    job: str
    """`Plan.job_hash` of the episode's job, which binds it to `run.json`."""
    plan: str = ""
    """`Plan.jobs_hash`; empty in runs of older versions."""

    def job_of(self, seed: int) -> Job:
        return Job(self.key, self.entrant, self.task, seed, self.seating, self.sample)


@dataclass(frozen=True, slots=True)
class Record(Head):
    """One line."""

    episode: Episode = field(kw_only=True)


class StoredLine(NamedTuple):
    """A complete line of a shard."""

    head: Head
    data: bytes
    """The episode as JSON."""
    location: Location
    line: bytes


def write_line(head: Head, episode: bytes) -> bytes:
    return orjson.dumps(head)[:-1] + _SEPARATOR + episode + b"}\n"


def split_line(line: bytes) -> tuple[Head, bytes]:
    """The head of a complete line, and the episode as JSON."""
    cut = line.find(_SEPARATOR)
    try:
        head = read_json(Head, line[:cut] + b"}", extra=True)
    except Invalid:
        raise BadFile("not an episode") from None
    return head, line[cut + len(_SEPARATOR) : -2]


def read_record(folder: Path, head: Head, data: bytes) -> Record:
    try:
        episode = Episode.from_json(data)
    except BadFile as error:
        reason = str(error).rstrip(".")
        raise BadFile(f"{head.key!r} in {str(folder)!r}: {reason}; {repair_hint(folder)}") from None
    return Record(
        head.key, head.entrant, head.task, head.seating, head.sample, head.void, head.job, head.plan,
        episode=episode,
    )  # fmt: skip


def repair_hint(folder: Path) -> str:
    """How to continue with a run that has an invalid line."""
    return f"run `ludens repair {quote(str(folder))}` to set it aside."


def shards_of(folder: Path) -> list[str]:
    """The shards of a run that exist, in the order in which they are read."""
    workers = sorted(f"{SHARDS}/{path.name}" for path in (folder / SHARDS).glob("*.jsonl"))
    return [name for name in (PARQUET, EPISODES) if (folder / name).exists()] + workers


def shard_size(folder: Path, shard: str) -> int:
    """Bytes of a shard, or rows of a Parquet file."""
    if shard == PARQUET:
        return int(open_parquet(folder / shard).metadata.num_rows)
    return (folder / shard).stat().st_size


def open_parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra(f"reading {PARQUET}", "data") from None
    try:
        return pq.ParquetFile(path, page_checksum_verification=True)
    except (OSError, ValueError) as error:
        raise BadFile(f"cannot read {str(path)!r}: {error}.") from None


def parquet_column(path: Path, column: str, start: int = 0) -> Iterator[bytes]:
    file = open_parquet(path)
    for group in range(file.metadata.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if start < rows:
            yield from file.read_row_group(group, [column])[column].to_pylist()[start:]
        start = max(0, start - rows)


class LineReader:
    """Reads the lines of a run's shards, also while they are written: each `read` continues.

    The last line of a shard may be incomplete while another process writes it, and is left for the next
    `read`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ends: Counter[str] = Counter()
        """Where in each shard the next line begins."""
        self._numbers: Counter[str] = Counter()

    @property
    def end(self) -> int:
        return self.ends.total()

    def unread(self) -> bool:
        sizes = ((name, shard_size(self.folder, name)) for name in shards_of(self.folder))
        return any(size > self.ends[name] for name, size in sizes)

    def read(self) -> Iterator[StoredLine]:
        """Every further line."""
        for shard in shards_of(self.folder):
            try:
                yield from self.shard(shard)
            except OSError as error:
                raise file_error("read", self.folder / shard, error) from None

    def shard(self, shard: str) -> Iterator[StoredLine]:
        for line, length in self._raw(shard):
            location = Location(shard, self.ends[shard])
            self.ends[shard] += length
            self._numbers[shard] += 1
            yield StoredLine(*self._split(shard, line), location, line)

    def _raw(self, shard: str) -> Iterator[tuple[bytes, int]]:
        """Every further complete line, and by how much it moves the end."""
        if shard == PARQUET:
            for line in parquet_column(self.folder / shard, LINE, self.ends[shard]):
                yield line, 1
            return
        with (self.folder / shard).open("rb") as file:
            file.seek(self.ends[shard])
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line, len(line)

    def _split(self, shard: str, line: bytes) -> tuple[Head, bytes]:
        try:
            return split_line(line)
        except BadFile as error:
            where = f"line {self._numbers[shard]} of {str(self.folder / shard)!r}"
            raise BadFile(f"{where} is {error}; {repair_hint(self.folder)}") from None


def read_lines(folder: Path) -> Iterator[StoredLine]:
    """Every complete line of a run, without further lines of a key that is finished."""
    finished_keys = set[str]()
    for line in LineReader(folder).read():
        if line.head.key not in finished_keys:
            yield line
        if not line.head.void:
            finished_keys.add(line.head.key)


def iter_records(folder: Path) -> Iterator[Record]:
    """Every finished episode of a run, void ones included, in the order they were written."""
    return (read_record(folder, line.head, line.data) for line in read_lines(folder))


def read_records(folder: Path) -> list[Record]:
    return list(iter_records(folder))


def raw_line(folder: Path, location: Location) -> bytes:
    path = folder / location.shard
    if location.shard == PARQUET:
        return next(parquet_column(path, LINE, location.offset), b"")
    try:
        with path.open("rb") as file:
            file.seek(location.offset)
            return file.readline()
    except OSError as error:
        raise file_error("read", path, error) from None


def read_episode(folder: Path, key: str, location: Location) -> Episode:
    line = raw_line(folder, location)
    try:
        return Episode.from_json(split_line(line)[1])
    except BadFile as error:
        raise BadFile(f"{key!r} in {str(folder)!r}: {error}") from None
