"""A run's folder, opened for writing.

- `run.json` is the plan.
- `episodes.jsonl` and `episodes/*.jsonl` are shards: a line is appended when an episode ends, so that a
  killed run loses only the episodes in flight. Every worker writes to a shard of its own (`ShardWriter`),
  this process to the first, which it locks: only one process may own a run at a time.
- `index.jsonl` has a row for every line of the shards (`ludens.run.index`).
- `finished.json` says that all planned episodes were played: without it, an episode that is missing was not
  played yet; with it, it was removed.
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, Self, TypeVar
from zlib import crc32

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption
from ludens.core.files import LineFile, file_error, write_atomically
from ludens.run.index import INDEX, RowDict, RowReader, StaleIndex, header, seal
from ludens.run.lines import SHARDS, Head, write_line
from ludens.run.plan import Job, Plan
from ludens.run.rows import EPISODES, EpisodeRow, Outcome, RowMaker

T = TypeVar("T")

FINISHED = "finished.json"
_OWNER = "owner"
"""In the folder of the workers' shards: a random text of the process that owns the run."""


class Destination(NamedTuple):
    folder: str
    owner: str
    """The contents of the file `owner` there: a worker that does not find them sees another folder of
    that name, or belongs to a process that no longer owns the run."""
    jobs_hash: str


def _store(file: LineFile, shard: str, outcome: Outcome, hashes: tuple[str, str]) -> EpisodeRow:
    row = outcome.row
    head = Head(row.key, row.entrant, row.task, row.seating, row.sample, row.void, *hashes)
    line = write_line(head, outcome.data)
    try:
        row.offset = file.append(line)
    except OSError as error:
        raise file_error("save an episode in", file.path.parent, error) from None
    row.shard, row.length, row.checksum = shard, len(line), crc32(line)
    return row


class ShardWriter:
    """Stores the episodes of one worker in a shard that no other process writes to."""

    def __init__(self, destination: Destination, plan: Plan) -> None:
        self._folder, self._owner, self._jobs_hash = Path(destination[0]), *destination[1:]
        self._plan = plan
        self._file: LineFile | None = None

    def store(self, outcome: Outcome) -> Outcome:
        """The outcome with the place of the episode.

        It is unchanged if the run's folder cannot be reached: the process that owns the run stores it.
        """
        if not outcome.data or not self._owned():
            return outcome
        if self._file is None:
            host = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname())[:60]
            name = f"{host}-{os.getpid()}-{token_hex(4)}.jsonl"
            self._file = LineFile(self._folder / SHARDS / name, new=True)
        hashes = self._plan.job_hash(outcome.row.job), self._jobs_hash
        return Outcome(_store(self._file, f"{SHARDS}/{self._file.path.name}", outcome, hashes))

    def _owned(self) -> bool:
        try:
            return (self._folder / SHARDS / _OWNER).read_text() == self._owner
        except OSError:
            return False

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Store:
    """The folder of one run, opened for writing.

    If it is `durable`, every episode is on the disk when `save` returns: people do not repeat a game.
    """

    def __init__(self, folder: Path, plan: Plan, durable: bool = False) -> None:
        self.folder = folder
        self.plan = plan
        self.done: set[str] = set()
        self.voids: Counter[str] = Counter()
        self._durable = durable
        self._file: LineFile | None = None
        self._index: LineFile | None = None
        self._reader: RowReader
        self._recovered: dict[str, EpisodeRow] = {}

    @classmethod
    def create(cls, folder: Path, plan: Plan, durable: bool = False) -> Self:
        """A new folder, or the existing folder of the same plan."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise file_error("write into", folder, error) from None
        file = folder / "run.json"
        if file.exists():
            _check_same_plan(folder, plan)
        else:
            partial = folder / "run.json.part"  # left behind by a crash while it is written
            if any(path != partial for path in folder.iterdir()):
                raise BadOption(f"the folder {str(folder)!r} is not empty and contains no run.")
            try:
                write_atomically(file, plan.to_json())
            except OSError as error:
                raise file_error("write into", folder, error) from None
        return cls(folder, plan, durable)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        plan = read_plan(folder)
        plan.check_unchanged()
        return cls(folder, plan)

    @classmethod
    def extend(cls, folder: Path, plan: Plan) -> Self:
        """The folder of a plan of matches to which entrants were added; what was played stays."""
        before = read_plan(folder)
        if before.jobs_hash != plan.jobs_hash or before.entrants.items() - plan.entrants.items():
            raise BadOption(f"{str(folder)!r} contains another run; choose another --out or resume that run.")
        lock = LineFile(folder / EPISODES)  # raises if a process plays the run
        try:
            write_atomically(folder / "run.json", plan.to_json())
        except OSError as error:
            raise file_error("write into", folder, error) from None
        finally:
            lock.close()
        return cls(folder, plan)

    def __enter__(self) -> Self:
        self._file = LineFile(self.folder / EPISODES, self._durable)
        try:
            # Two processes may have created a run in this folder at the same moment; one plan has won.
            _check_same_plan(self.folder, self.plan)
            if (self.folder / SHARDS).is_dir():
                self.destination()  # workers of a process that was killed store nothing more
            self._maker = RowMaker.of(self.plan)
            try:
                self._open_index()
            except StaleIndex:
                self._close_index()
                self._open_index(direct=True)
            if not self._complete:
                (self.folder / FINISHED).unlink(missing_ok=True)
        except BaseException:
            self._close_index()
            self._file.close()
            raise
        return self

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _open_index(self, direct: bool = False) -> None:
        self.voids = Counter()
        self._reader = reader = RowReader(self.folder, self.plan, self._maker, direct=direct)
        self.done = reader.done = set()
        path = self.folder / INDEX
        if not reader.direct:
            self._index = LineFile(path, lock=False)
            reader.keep = self._index.append
        for row in reader.read():
            if row.get("status") == "void":
                self.voids[row["key"]] += 1
        if reader.direct:
            reader.write_index(locked=True)
            self._index = LineFile(path, lock=False)
            if not path.stat().st_size:
                self._index.append(header(self.plan, self._maker))
            reader.keep = self._index.append
        reader.direct = True  # the rest of the index is written here

    def __exit__(self, *_: object) -> None:
        if self._file is None:
            return
        try:
            self.index_shards()
            with suppress(OSError):
                if self._index is not None and not self._reader.sealed():
                    self._index.append(seal(self.folder))
            if self._complete:
                data = orjson.dumps({"episodes": len(self.done)}, option=orjson.OPT_APPEND_NEWLINE)
                write_atomically(self.folder / FINISHED, data)
        except OSError as failure:
            raise file_error("write into", self.folder, failure) from None
        finally:
            self._close_index()
            self._file.close()
            self.done.clear()  # 100 MB for a million keys; a report may be made while the store is referenced

    @property
    def _complete(self) -> bool:
        return len(self.done) == self.plan.total()

    def destination(self) -> Destination:
        """Where workers store episodes; workers with an earlier destination store nothing more."""
        owner = token_hex(16)
        try:
            (self.folder / SHARDS).mkdir(exist_ok=True)
            write_atomically(self.folder / SHARDS / _OWNER, owner.encode())
        except OSError as error:
            raise file_error("write into", self.folder, error) from None
        return Destination(str(self.folder.resolve()), owner, self.plan.jobs_hash)

    def save(self, job: Job, episode: Episode) -> None:
        """Store an episode. A key that is done is never written again."""
        self.add(Outcome(self._maker.make(job, episode), episode.to_json()))

    def add(self, outcome: Outcome) -> None:
        """Store an episode, or put it into the index if a worker has stored it."""
        assert self._file is not None, "the store is not open"
        assert self._index is not None
        row, ends = outcome.row, self._reader.lines.ends
        self._recovered.pop(row.key, None)
        if outcome.data and row.key not in self.done:
            _store(self._file, EPISODES, outcome, (self.plan.job_hash(row.job), self.plan.jobs_hash))
        elif not row.length:
            self.voids[row.key] += row.void
            return
        if row.offset > ends[row.shard]:  # lines of the shard whose rows did not arrive yet
            self.index_shards()
        if row.offset < ends[row.shard]:
            return
        try:
            self._index.append(row.to_json())
        except OSError as error:
            raise file_error("save an episode in", self.folder, error) from None
        ends[row.shard] += row.length
        if row.void:
            self.voids[row.key] += 1
        else:
            self.done.add(row.key)

    def index_shards(self) -> None:
        """Put what workers have stored into the index, also of those that died before they reported it."""
        for row in self._reader.read():
            if row.get("status") == "void":
                self.voids[row["key"]] += 1
            row.pop("measured", None)
            self._recovered[row["key"]] = EpisodeRow.from_dict(row)

    def recovered(self, job: Job) -> EpisodeRow | None:
        """The row of a job whose worker died after it had stored the episode."""
        self.index_shards()
        return self._recovered.pop(job.key, None)

    def pending(self) -> Iterator[Job]:
        return (job for job in self.plan.jobs if job.key not in self.done)


def read_plan(folder: Path) -> Plan:
    try:
        return Plan.from_json((folder / "run.json").read_bytes())
    except OSError:
        raise BadFile(f"{str(folder)!r} is not a run: it contains no run.json.") from None


def read_finished(folder: Path) -> int | None:
    """The number of episodes with which a run was finished; None if it was not."""
    try:
        episodes = orjson.loads((folder / FINISHED).read_bytes())["episodes"]
        return episodes if isinstance(episodes, int) else -1
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        return -1


def read_progress(folder: Path) -> tuple[set[str], Counter[str]]:
    """The keys of the finished episodes of a run, and how often each key was void."""
    return _read(_progress, folder) if (folder / "run.json").exists() else (set(), Counter())


def _read(read: Callable[[RowReader], T], folder: Path) -> T:
    plan = read_plan(folder)
    try:
        return read(RowReader(folder, plan, None, check=False))
    except StaleIndex:
        return read(RowReader(folder, plan, None, check=False, direct=True))


def _progress(reader: RowReader) -> tuple[set[str], Counter[str]]:
    done, voids = set[str](), Counter[str]()
    reader.done = done
    for row in reader.read():
        if row.get("status") == "void":
            voids[row["key"]] += 1
    return done, voids


def read_places(folder: Path) -> list[RowDict]:
    """Key, status and place of every episode of a run, void ones included, in the order they were written."""
    return _read(lambda reader: list(reader.read()), folder)


def _check_same_plan(folder: Path, plan: Plan) -> None:
    if read_plan(folder).identity() != plan.identity():
        raise BadOption(f"{str(folder)!r} contains another run; choose another --out or resume that run.")
