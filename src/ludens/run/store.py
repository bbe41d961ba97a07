"""A run's folder: `run.json` says what is played, `episodes.jsonl` holds one line for every finished episode.

A line is appended and flushed the moment an episode ends, so that a killed run loses only what was in
flight. A line torn by a crash is cut off when the folder is opened again. One process writes at a time.
"""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption
from ludens.run.plan import Job, Plan

EPISODES = "episodes.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """One line of `episodes.jsonl`."""

    key: str
    entrant: str
    task: str
    seating: int
    episode: Episode


class Store:
    """The folder of one run, opened for writing."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self.done: set[str] = set()
        self.voids: Counter[str] = Counter()
        self._file: BinaryIO | None = None
        self._told = False
        """Whether it was said that a line could not be written."""

    @classmethod
    def create(cls, folder: Path, plan: Plan) -> Self:
        """A new folder, or the same run's folder again."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot("write into", folder, error) from None
        file = folder / "run.json"
        if file.exists():
            if read_plan(folder).identity() != plan.identity():
                raise _another(folder)
        else:
            partial = folder / "run.json.part"  # what a crash at this very moment leaves behind
            if any(other != partial for other in folder.iterdir()):
                raise BadOption(f"the folder {str(folder)!r} is not empty and holds no run.")
            try:
                partial.write_bytes(plan.to_json())
                partial.rename(file)
            except OSError as error:
                raise _cannot("write into", folder, error) from None
        return cls(folder, plan)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """The folder of a run that was begun before."""
        plan = read_plan(folder)
        plan.check_unchanged()
        return cls(folder, plan)

    def __enter__(self) -> Self:
        path = self.folder / EPISODES
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise _cannot("write", path, error) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise BadOption(f"another process is writing to {str(self.folder)!r}.") from None
        except OSError as error:  # some network drives have no locks
            self._file.close()
            raise _cannot("lock", path, error) from None
        try:
            # Two may have begun in an empty folder at the same moment; the plan of one of them stayed.
            if read_plan(self.folder).identity() != self.plan.identity():
                raise _another(self.folder)
            _mend(path)
            self.done, self.voids = progress(self.folder)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as trouble:  # what a full disk has not taken is tried once more, in vain
            if not self._told:
                raise _cannot("save an episode in", self.folder, trouble) from None

    def add(self, job: Job, episode: bytes, void: bool) -> None:
        """Append one finished episode, given as JSON. A key that is done is never written again."""
        assert self._file is not None, "the store is not open"
        if job.key in self.done:
            return
        head = orjson.dumps(
            {"key": job.key, "entrant": job.entrant, "task": job.task, "seating": job.seating, "void": void}
        )
        try:
            self._file.write(head[:-1] + _MARK + episode + b"}\n")
            self._file.flush()
        except OSError as error:
            # Nothing may follow what could be half a line; the next process mends it.
            self._told = True
            raise _cannot("save an episode in", self.folder, error) from None
        if void:
            self.voids[job.key] += 1
        else:
            self.done.add(job.key)

    def pending(self) -> Iterator[Job]:
        """What is still to be played, in the plan's order."""
        return (job for job in self.plan.jobs() if job.key not in self.done)


def read_plan(folder: Path) -> Plan:
    """The plan of a run's folder."""
    try:
        return Plan.from_json((folder / "run.json").read_bytes())
    except OSError:
        raise BadFile(f"{str(folder)!r} is not a run: it holds no run.json.") from None


def progress(folder: Path) -> tuple[set[str], Counter[str]]:
    """The keys of the finished episodes of a run, and how often each key was void."""
    path = folder / EPISODES
    done: set[str] = set()
    voids: Counter[str] = Counter()
    for key, void in _keys(path) if path.exists() else ():
        if void:
            voids[key] += 1
        else:
            done.add(key)
    return done, voids


def read_records(folder: Path) -> list[Record]:
    """Every finished episode of a run, void ones included, in the order they were written."""
    path = folder / EPISODES
    return [_record(line, path, number) for number, line in _lines(path)] if path.exists() else []


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines with their numbers; the last may still be being written."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield number, line
    except OSError as error:
        raise _cannot("read", path, error) from None


_MARK = b',"episode":'
"""Stands once before the episode; within strings its quotes would be escaped."""


def _record(line: bytes, path: Path, number: int) -> Record:
    head, _, tail = line.rstrip().partition(_MARK)
    try:
        fields = orjson.loads(head + b"}")
        episode = Episode.from_json(tail[:-1])
        return Record(fields["key"], fields["entrant"], fields["task"], fields["seating"], episode)
    except (orjson.JSONDecodeError, KeyError, TypeError, BadFile) as error:
        raise BadFile(f"line {number} of {str(path)!r} is not an episode: {error}") from None


def _keys(path: Path) -> Iterator[tuple[str, bool]]:
    for number, line in _lines(path):
        try:
            head = orjson.loads(line.partition(_MARK)[0] + b"}")
            yield head["key"], head["void"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise BadFile(f"line {number} of {str(path)!r} is not an episode.") from None


def _another(folder: Path) -> BadOption:
    return BadOption(f"{str(folder)!r} holds another run; choose another --out or resume that one.")


def _cannot(what: str, path: Path, error: OSError) -> BadFile:
    return BadFile(f"cannot {what} {str(path)!r}: {(error.strerror or str(error)).lower()}.")


def _mend(path: Path) -> None:
    """Cut off a last line that a crash left without its end."""
    with path.open("rb+") as file:
        file.seek(0, 2)
        end = file.tell()
        position = end
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            block = file.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position != end:
            file.truncate(position)
