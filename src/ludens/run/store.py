"""A run's folder: `run.json` is the plan, `episodes.jsonl` has one line for every finished episode.

`finished.json` says that all planned episodes were played: without it, an episode that is missing was not
played yet; with it, it was removed.

A line is appended when an episode ends, so that a killed run loses only the episodes in flight. Only one
process may write at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from ludens.core.errors import BadFile, BadOption
from ludens.core.files import write_atomically
from ludens.run.binding import PlanCheck
from ludens.run.line_file import LineFile, cannot
from ludens.run.lines import EPISODES as EPISODES
from ludens.run.lines import Head as Head
from ludens.run.lines import Record as Record
from ludens.run.lines import read_record, repair_hint, split_line, write_line
from ludens.run.plan import Job, Plan

FINISHED = "finished.json"


class Store:
    """The folder of one run, opened for writing.

    Args:
        folder: The folder.
        plan: What is played.
        durable: Whether every episode is on the disk when `add` returns; people do not play one again.
    """

    def __init__(self, folder: Path, plan: Plan, durable: bool = False) -> None:
        self.folder = folder
        self.plan = plan
        self.done: set[str] = set()
        self.voids: Counter[str] = Counter()
        self._durable = durable
        self._file: LineFile | None = None

    @classmethod
    def create(cls, folder: Path, plan: Plan, durable: bool = False) -> Self:
        """A new folder, or the existing folder of the same plan."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot("write into", folder, error) from None
        file = folder / "run.json"
        if file.exists():
            _check_same_plan(folder, plan)
        else:
            partial = folder / "run.json.part"  # left behind by a crash while it is written
            if any(other != partial for other in folder.iterdir()):
                raise BadOption(f"the folder {str(folder)!r} is not empty and contains no run.")
            try:
                write_atomically(file, plan.to_json())
            except OSError as error:
                raise cannot("write into", folder, error) from None
        return cls(folder, plan, durable)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """The folder of an existing run."""
        plan = read_plan(folder)
        plan.check_unchanged()
        return cls(folder, plan)

    def __enter__(self) -> Self:
        self._file = LineFile(self.folder / EPISODES, self._durable)
        try:
            # Two processes may have created a run in this folder at the same moment; one plan has won.
            _check_same_plan(self.folder, self.plan)
            self.done, self.voids = read_progress(self.folder, self.plan)
            if not self._complete:
                (self.folder / FINISHED).unlink(missing_ok=True)
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
            if self._complete:
                data = orjson.dumps({"episodes": len(self.done)}, option=orjson.OPT_APPEND_NEWLINE)
                write_atomically(self.folder / FINISHED, data)
        except OSError as failure:
            raise cannot("write into", self.folder, failure) from None
        finally:
            self._file.close()

    @property
    def _complete(self) -> bool:
        return len(self.done) == self.plan.total()

    def add(self, job: Job, episode: bytes, void: bool) -> None:
        """Append an episode, given as JSON. A key that is done is never written again."""
        assert self._file is not None, "the store is not open"
        if job.key in self.done:
            return
        hashed = self.plan.job_hash(job)
        head = Head(
            job.key, job.entrant, job.task, job.seating, job.sample, void, hashed, self.plan.jobs_hash
        )
        try:
            self._file.append(write_line(head, episode))
        except OSError as error:
            raise cannot("save an episode in", self.folder, error) from None
        if void:
            self.voids[job.key] += 1
        else:
            self.done.add(job.key)

    def pending(self) -> Iterator[Job]:
        """The jobs that are not done, in the plan's order."""
        return (job for job in self.plan.jobs if job.key not in self.done)


def read_plan(folder: Path) -> Plan:
    """The plan of a run."""
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


def read_progress(folder: Path, plan: Plan | None = None) -> tuple[set[str], Counter[str]]:
    """The keys of the finished episodes of a run, and how often each key was void.

    If a plan is given, episodes that do not belong to it raise `BadFile`.
    """
    done: set[str] = set()
    voids: Counter[str] = Counter()
    check = PlanCheck(folder, plan) if plan is not None else None
    for head, _, data in read_lines(folder):
        if check is not None:
            check.check_head(head, data)
        if head.void:
            voids[head.key] += 1
        else:
            done.add(head.key)
    return done, voids


class LineReader:
    """Reads the episodes of a run, also while they are written: each `read` continues after the last line.

    The last line may be incomplete while another process writes it, and is left for the next `read`. Further
    lines of a key that is finished are skipped, unless `repeated` is set.
    """

    def __init__(self, folder: Path, repeated: bool = False) -> None:
        self.folder, self.path, self._repeated = folder, folder / EPISODES, repeated
        self.end = 0
        """Where in the file the next line begins."""
        self._number = 0
        self._done: set[str] = set()

    def read(self) -> Iterator[tuple[Head, int, bytes]]:
        """For every further line: its head, its offset in the file, the episode as JSON."""
        if not self.path.exists():
            return
        try:
            with self.path.open("rb") as file:
                file.seek(self.end)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    offset, self.end = self.end, self.end + len(line)
                    self._number += 1
                    head, data = self._split(line)
                    known = head.key in self._done
                    if not head.void:
                        self._done.add(head.key)
                    if self._repeated or not known:
                        yield head, offset, data
        except OSError as error:
            raise cannot("read", self.path, error) from None

    def _split(self, line: bytes) -> tuple[Head, bytes]:
        try:
            return split_line(line)
        except BadFile as error:
            where = f"line {self._number} of {str(self.path)!r}"
            raise BadFile(f"{where} is {error}; {repair_hint(self.folder)}") from None


def read_lines(folder: Path) -> Iterator[tuple[Head, int, bytes]]:
    """Every complete line of a run's episodes: its head, its offset in the file, the episode as JSON."""
    return LineReader(folder).read()


def iter_records(folder: Path) -> Iterator[Record]:
    """Every finished episode of a run, void ones included, in the order they were written."""
    return (read_record(folder, head, data) for head, _, data in read_lines(folder))


def read_records(folder: Path) -> list[Record]:
    """All of `iter_records`."""
    return list(iter_records(folder))


def _check_same_plan(folder: Path, plan: Plan) -> None:
    if read_plan(folder).identity() != plan.identity():
        raise BadOption(f"{str(folder)!r} contains another run; choose another --out or resume that run.")
