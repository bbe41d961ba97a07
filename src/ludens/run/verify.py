"""Checking a run: every episode is verified in worker processes, and invalid lines can be moved aside."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shlex import quote
from typing import Literal, NamedTuple

import orjson

from ludens.core.errors import BadFile, LudensError, ReplayMismatch
from ludens.core.files import file_error, lock_file, write_atomically
from ludens.core.plain import one_line
from ludens.core.processes import WorkerDied, cores, run_in_processes
from ludens.core.validation import Invalid, read_json
from ludens.core.verify import Verified, verify
from ludens.models.settings import is_model
from ludens.run.binding import PlanCheck, PlanEdited
from ludens.run.index import INDEX, RowReader
from ludens.run.lines import (
    LINE_START,
    PARQUET,
    Head,
    LineReader,
    raw_line,
    read_record,
    repair_hint,
    shards_of,
    split_line,
)
from ludens.run.plan import Plan
from ludens.run.reenact import Reenactment, reenact
from ludens.run.rows import EPISODES, Location, RowMaker
from ludens.run.store import FINISHED, read_finished, read_plan
from ludens.run.task import import_suite, suite

VERIFIED = "verified.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """The result of verifying a run."""

    time: str
    """When, in UTC, as 2026-01-31T12:00:00+00:00."""
    hash: str
    episodes: int
    """Lines that were verified, void episodes included."""
    moves: int
    replies: int
    pictures: int
    failed: int
    """Lines that could not be verified, are repeated, or are not of the plan."""
    planned: int
    present: int
    """Planned episodes that were played."""
    proven: int
    """Planned episodes that were played and verified."""
    finished: bool
    """Whether all planned episodes had been played (`finished.json`)."""
    index: str = ""
    """Hash of the index that was made from the episodes."""


def read_verified(folder: Path) -> tuple[VerifiedRun, bool] | None:
    """The result of the last verification of a run, and whether it is still valid; None if there is none.

    It is not valid if `run.json`, a shard or the index have changed since.
    """
    try:
        data = (folder / VERIFIED).read_bytes()
        verified = read_json(VerifiedRun, data, extra=True)
        return verified, (hash_run(folder), index_hash(folder)) == (verified.hash, verified.index)
    except (OSError, Invalid):
        return None


def verification_text(folder: Path) -> str:
    """One sentence about the verification of a run, for reports."""
    remedy = f"run `ludens verify {quote(str(folder))}`"
    read = read_verified(folder)
    if read is None:
        return f"not verified: {remedy}."
    verified, valid = read
    when = one_line(verified.time)[:40].replace("T", " ").removesuffix("+00:00") + " UTC"
    if not valid:
        return f"not verified: the run has changed since it was verified on {when}; {remedy}."
    if verified.failed:
        total = verified.episodes + verified.failed
        return f"not verified: {verified.failed:,} of {total:,} episodes failed verification on {when}."
    if verified.proven == verified.planned:
        return f"verified: all {verified.planned:,} episodes, on {when}."
    if verified.finished:
        absent = verified.planned - verified.present
        return f"not verified: {absent:,} of {verified.planned:,} episodes were missing on {when}."
    share = f"{verified.proven:,} of {verified.planned:,} planned episodes"
    return f"verified: {share}, on {when}; the run is unfinished."


def write_verified(folder: Path, result: VerifiedRun) -> None:
    data = orjson.dumps(asdict(result), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(folder / VERIFIED, data)


def hash_run(folder: Path) -> str:
    return _hash_files(folder, ["run.json", EPISODES, *(n for n in shards_of(folder) if n != EPISODES)])


def index_hash(folder: Path) -> str:
    return _hash_files(folder, [INDEX])


def _hash_files(folder: Path, names: Sequence[str]) -> str:
    digest, size = blake2b(digest_size=16), 0
    for name in names:
        path = folder / name
        size += path.exists()
        digest.update(b"%d:" % (path.stat().st_size if path.exists() else 0))
        if path.exists():
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
    return digest.hexdigest() if size else ""


def note_index(folder: Path) -> None:
    """Record that the index was made again from the shards that were verified."""
    read = read_verified(folder)
    if read is not None and not read[1] and read[0].hash == hash_run(folder):
        write_verified(folder, replace(read[0], index=index_hash(folder)))


_VERIFY_CHUNK = 8
"""Episodes that a worker verifies before it reports."""
_EPISODES_PER_WORKER = 32
"""Fewer are not worth the start of a process."""


class LineCheck(NamedTuple):
    """What the verification of one episode has shown."""

    key: str
    verified: Verified | str
    """What was verified, or why it failed."""
    void: bool
    again: Reenactment | None = None
    """Where it was played once more."""


@dataclass
class RunVerification:
    """What was verified in a run so far."""

    total: int
    episodes: int = 0
    verified: Verified = field(default_factory=Verified)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Key of each line that failed, and why."""
    planned: int = 0
    present: int = 0
    proven: int = 0
    voids: int = 0
    missing: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """Keys of further lines of an episode that is there already."""
    unplanned: list[str] = field(default_factory=list)
    """Keys of lines that belong to no job of the plan."""
    finished: bool = False
    """Whether all planned episodes had been played when the run was last written to."""
    again: dict[str, Reenactment] = field(default_factory=dict)
    """By key, the episodes that were played once more."""

    @property
    def ok(self) -> bool:
        """Whether all stored episodes were verified, and no episode that was played is missing."""
        return not self.failures and not (self.finished and self.missing)


def verify_run(
    folder: Path,
    *,
    workers: int | None = None,
    reenacts: bool = False,
    on_progress: Callable[[RunVerification], None] | None = None,
) -> RunVerification:
    """Verify every episode of a run, and that all are there, and write `verified.json`.

    `workers` is the number of processes; by default one per core, if there is enough to do. With `reenacts`,
    bots must also choose their moves again (`run.reenact`).
    """
    before, plan = hash_run(folder), read_plan(folder)
    lines = [(line.head, line.location) for line in LineReader(folder).read()]
    suite(plan.suite)  # raises if it is not registered: workers import it
    result, places = _survey(folder, plan, lines)
    chunks = [places[start : start + _VERIFY_CHUNK] for start in range(0, len(places), _VERIFY_CHUNK)]
    if workers is None:
        workers = min(cores(), len(places) // _EPISODES_PER_WORKER)
    for outcomes in _outcomes(folder, plan, chunks, workers, reenacts):
        for key, verified, void, again in outcomes:
            if isinstance(verified, str):
                result.failures.append((key, verified))
            else:
                result.episodes += 1
                result.proven += not void
                result.verified += verified
            if again is not None:
                result.again[key] = again
        if on_progress is not None:
            on_progress(result)
    if not result.failures:  # make the index again, so that tables show what was verified
        rows = RowReader(folder, plan, RowMaker.of(plan), direct=True)
        deque(rows.read(), maxlen=0)
        rows.write_index()
    record = VerifiedRun(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        hash=before,
        index=index_hash(folder),
        failed=len(result.failures),
        **asdict(result.verified),
        **{name: getattr(result, name) for name in ("episodes", "planned", "present", "proven", "finished")},
    )
    write_verified(folder, record)
    return result


def _survey(
    folder: Path, plan: Plan, lines: Sequence[tuple[Head, Location]]
) -> tuple[RunVerification, list[Location]]:
    """Which episodes are there, before any is verified, and the places of the lines to verify."""
    if not lines:
        raise BadFile(f"{str(folder)!r} contains no episodes.")
    keys, recorded = {job.key for job in plan.jobs}, read_finished(folder)
    result = RunVerification(len(lines), planned=len(keys), finished=recorded is not None)
    finished_keys, places = set[str](), list[Location]()
    for number, (head, location) in enumerate(lines, 1):
        if head.key in finished_keys:
            result.repeated.append(head.key)
            result.failures.append((head.key, f"line {number} repeats an episode that was finished before."))
            continue
        places.append(location)
        result.voids += head.void
        if head.key not in keys:
            result.unplanned.append(head.key)
        if not head.void:
            finished_keys.add(head.key)
    result.present = len(finished_keys & keys)
    result.missing = [job.key for job in plan.jobs if job.key not in finished_keys]
    if recorded not in (None, len(keys)):
        reason = (
            f"{len(keys):,} episodes are planned, but {FINISHED} says {recorded:,}: one of them was edited."
        )
        result.failures.append(("run.json", reason))
    return result, places


def _outcomes(
    folder: Path, plan: Plan, chunks: Sequence[list[Location]], workers: int, reenacts: bool
) -> Iterator[list[LineCheck]]:
    if workers < 2:
        verifier = _LineVerifier(folder, plan, reenacts)
        yield from map(verifier.verify, chunks)
        return
    start = folder, plan.to_json(), plan.suite, reenacts
    try:
        for _, outcomes in run_in_processes(
            _verify_in_worker, chunks, workers, start=_start_worker, args=start
        ):
            yield outcomes
    except WorkerDied:
        raise BadFile("a worker process died; try --workers 0.") from None


class _LineVerifier:
    def __init__(self, folder: Path, plan: Plan, reenacts: bool) -> None:
        self._folder, self._check, self._reenacts = folder, PlanCheck(folder, plan), reenacts

    def verify(self, places: Sequence[Location]) -> list[LineCheck]:
        return [self._verify(location) for location in places]

    def _verify(self, location: Location) -> LineCheck:
        head, data = split_line(raw_line(self._folder, location))
        try:
            episode = read_record(self._folder, head, data).episode
            self._check.check(head, episode, location.shard)
            for move in (*episode.moves, *episode.unfinished):
                # Models never give an action itself: what they say is read.
                replied = move.tries and not any(tried.direct for tried in move.tries)
                if is_model(episode.seats.get(move.seat, "bot")) and not replied:
                    where = f"the move of {move.seat} in step {move.step}"
                    raise ReplayMismatch(f"{where} has no reply of the model.")
            verified = verify(completed := self._check.completed(head, episode))
            again = reenact(completed) if self._reenacts and not head.void else None
            return LineCheck(head.key, verified, head.void, again)
        except LudensError as error:
            return LineCheck(head.key, str(error), head.void)


_verifier: _LineVerifier


def _start_worker(folder: Path, plan: bytes, suite_name: str, reenacts: bool) -> None:
    global _verifier
    import_suite(suite_name)
    _verifier = _LineVerifier(folder, Plan.from_json(plan), reenacts)


def _verify_in_worker(places: list[Location]) -> list[LineCheck]:
    return _verifier.verify(places)


_TRIES = 8
"""Places in an invalid line at which a complete one may begin."""


@dataclass
class RepairResult:
    """What a repair has found and done."""

    valid: int = 0
    planned: int = 0
    moved: dict[Path, list[tuple[int, str]]] = field(default_factory=dict)
    """By the file to which they were moved: number of each line, and why."""

    @property
    def missing_episodes(self) -> int:
        """Episodes that `ludens resume` will play."""
        return self.planned - self.valid


def repair(folder: Path) -> RepairResult:
    """Move every invalid line of a shard to `SHARD.bad.jsonl`.

    If `run.json` was edited, lines are not at fault: `PlanEdited` is raised and nothing is moved.
    """
    plan, valid = read_plan(folder), set[str]()
    check = PlanCheck(folder, plan)
    result = RepairResult(0, plan.total())
    for shard in shards_of(folder):
        if shard == PARQUET:  # `compact` has checked it
            valid.update(line.head.key for line in LineReader(folder).shard(shard) if not line.head.void)
            continue
        bad = set_aside(
            folder / shard,
            LINE_START,
            lambda line: valid.update(_finished_key(folder, check, line, valid)),
        )
        result.moved[bad_lines(folder / shard)] = bad
    result.valid = len(valid)
    return result


def bad_lines(path: Path) -> Path:
    """The file for the invalid lines of another one: `episodes.bad.jsonl`."""
    return path.with_suffix(f".bad{path.suffix}")


def set_aside(path: Path, start: bytes, check: Callable[[bytes], object]) -> list[tuple[int, str]]:
    """Move every line that `check` rejects to `bad_lines`; returns their numbers and what is wrong with them.

    If a write that failed has left a part of a line before a complete one, the complete one is kept.
    """
    moved, bad = list[tuple[int, str]](), dict[int, tuple[bytes, bytes]]()
    try:
        with path.open("rb+") as file:
            lock_file(file, path)
            for number, line in enumerate(file, 1):
                try:
                    if not line.endswith(b"\n"):
                        raise BadFile("incomplete")
                    check(line)
                except PlanEdited:
                    raise
                except BadFile as error:
                    moved.append((number, str(error).removesuffix("; " + repair_hint(path.parent))))
                    complete = _complete_end(line, start, check)
                    bad[number] = line.removesuffix(complete).removesuffix(b"\n") + b"\n", complete
            if bad:
                path.with_name(FINISHED).unlink(missing_ok=True)
                _write(bad_lines(path), "ab", (line for line, _ in bad.values()))
                file.seek(0)
                partial = path.with_name(f"{path.name}.part")
                rest = (bad[number][1] if number in bad else line for number, line in enumerate(file, 1))
                _write(partial, "wb", rest)
                partial.rename(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise file_error("repair", path.parent, error) from None
    return moved


def _complete_end(line: bytes, start: bytes, check: Callable[[bytes], object]) -> bytes:
    """The complete line at the end of an invalid one; empty where there is none."""
    position = line.find(start, 1) if line.endswith(b"\n") else -1
    for _ in range(_TRIES):
        if position < 0:
            break
        try:
            check(line[position:])
        except BadFile:
            position = line.find(start, position + 1)
        else:
            return line[position:]
    return b""


def _finished_key(folder: Path, check: PlanCheck, line: bytes, earlier: Container[str]) -> Iterator[str]:
    """The key of a valid line, if its episode is finished; those in `done` must not occur again."""
    head, data = split_line(line)
    record = read_record(folder, head, data)
    check.check(head, record.episode)
    if head.key in earlier:
        raise BadFile(f"repeats {head.key!r}, which was finished before")
    if not head.void:
        yield head.key


def _write(path: Path, mode: Literal["ab", "wb"], lines: Iterable[bytes]) -> None:
    with path.open(mode) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
