"""Verifies every episode of a run, in worker processes, and that none is missing, repeated or not planned."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import resource_tracker
from pathlib import Path

from ludens.core.cores import cores
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, LudensError, ReplayMismatch
from ludens.core.verify import Verified, verify
from ludens.models.specs import is_model
from ludens.run.binding import PlanCheck
from ludens.run.lines import EPISODES, Head, read_record, split_line
from ludens.run.plan import Plan
from ludens.run.runtime import blocked_signals
from ludens.run.store import FINISHED, LineReader, read_finished, read_plan
from ludens.run.task import import_suite, suite
from ludens.run.verified import VerifiedRun, hash_run, write_verified

_CHUNK = 8
"""Episodes that a worker verifies before it reports."""
_EPISODES_PER_WORKER = 32
"""Fewer are not worth the start of a process."""

Outcome = tuple[str, Verified | str, bool]
"""Key of an episode, what was verified or why it failed, and whether it is void."""


@dataclass
class RunVerification:
    """What was verified in a run so far."""

    total: int
    """Lines in the file."""
    episodes: int = 0
    """Lines that were verified, void episodes included."""
    verified: Verified = field(default_factory=Verified)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Key of each line that failed, and why."""
    planned: int = 0
    present: int = 0
    """Planned episodes that were played."""
    proven: int = 0
    """Planned episodes that were played and verified."""
    voids: int = 0
    """Lines with a void episode."""
    missing: list[str] = field(default_factory=list)
    """Keys of the planned episodes that are not there."""
    repeated: list[str] = field(default_factory=list)
    """Keys of further lines of an episode that is there already."""
    unplanned: list[str] = field(default_factory=list)
    """Keys of lines that belong to no job of the plan."""
    finished: bool = False
    """Whether all planned episodes had been played when the run was last written to."""

    @property
    def ok(self) -> bool:
        """Whether everything that is there was verified, and everything that was played is there."""
        return not self.failures and not (self.finished and self.missing)


def verify_run(
    folder: Path,
    *,
    workers: int | None = None,
    on_progress: Callable[[RunVerification], None] | None = None,
) -> RunVerification:
    """Verify every episode of a run, and that all are there, and write `verified.json`.

    Args:
        folder: The run.
        workers: Number of processes; 0 for this one alone. Default: one per core, if there is enough to do.
        on_progress: Called after every few episodes.
    """
    before, plan = hash_run(folder), read_plan(folder)
    lines = [(head, offset) for head, offset, _ in LineReader(folder, repeated=True).read()]
    suite(plan.suite)  # raises if it is not registered: workers import it
    result, offsets = _survey(folder, plan, lines)
    chunks = [offsets[start : start + _CHUNK] for start in range(0, len(offsets), _CHUNK)]
    if workers is None:
        workers = min(cores(), len(offsets) // _EPISODES_PER_WORKER)
    for outcomes in _outcomes(folder, plan, chunks, workers):
        for key, outcome, void in outcomes:
            if isinstance(outcome, str):
                result.failures.append((key, outcome))
            else:
                result.episodes += 1
                result.proven += not void
                result.verified += outcome
        if on_progress is not None:
            on_progress(result)
    found = result.verified
    time = datetime.now(UTC).isoformat(timespec="seconds")
    counts = (result.episodes, found.moves, found.replies, found.pictures, len(result.failures))
    coverage = (result.planned, result.present, result.proven, result.finished)
    write_verified(folder, VerifiedRun(time, before, *counts, *coverage))
    return result


def _survey(folder: Path, plan: Plan, lines: Sequence[tuple[Head, int]]) -> tuple[RunVerification, list[int]]:
    """Which episodes are there, before any is verified, and the offsets of the lines to verify."""
    if not lines:
        raise BadFile(f"{str(folder)!r} contains no episodes.")
    keys, finished = {job.key for job in plan.jobs}, read_finished(folder)
    result = RunVerification(len(lines), planned=len(keys), finished=finished is not None)
    played, offsets = set[str](), list[int]()
    for number, (head, offset) in enumerate(lines, 1):
        if head.key in played:
            result.repeated.append(head.key)
            result.failures.append((head.key, f"line {number} repeats an episode that was finished before."))
            continue
        offsets.append(offset)
        result.voids += head.void
        if head.key not in keys:
            result.unplanned.append(head.key)
        if not head.void:
            played.add(head.key)
    result.present = len(played & keys)
    result.missing = [job.key for job in plan.jobs if job.key not in played]
    if finished not in (None, len(keys)):
        reason = (
            f"{len(keys):,} episodes are planned, but {FINISHED} says {finished:,}: one of them was edited."
        )
        result.failures.append(("run.json", reason))
    return result, offsets


def _outcomes(folder: Path, plan: Plan, chunks: Sequence[list[int]], workers: int) -> Iterator[list[Outcome]]:
    if workers < 2:
        verifier = _Verifier(folder, plan)
        yield from map(verifier.verify, chunks)
        return
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), _start_worker, (folder, plan.to_json(), plan.suite)
    )
    try:
        resource_tracker.ensure_running()  # else it would start with the signals blocked, and unblock them
        with blocked_signals():  # only this process handles Ctrl-C
            results = [pool.submit(_verify_in_worker, chunk) for chunk in chunks]
        for result in results:
            yield result.result()
    except BrokenProcessPool:
        raise BadFile("a worker process died; try --workers 0.") from None
    finally:
        # Nothing is cancelled: the pool, which notices that its processes are gone, would stumble over it.
        pool.shutdown(wait=False)
        for process in multiprocessing.active_children():
            process.kill()  # they block SIGTERM


class _Verifier:
    """Verifies episodes of one run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder, self._check = folder, PlanCheck(folder, plan)

    def verify(self, offsets: Sequence[int]) -> list[Outcome]:
        with (self._folder / EPISODES).open("rb") as file:
            return [self._one(file.readline()) for offset in offsets if file.seek(offset) >= 0]

    def _one(self, line: bytes) -> Outcome:
        head, data = split_line(line)
        try:
            episode = read_record(self._folder, head, data).episode
            self._check.check(head, episode)
            _check_models(episode)
            return head.key, verify(self._check.completed(head, episode)), head.void
        except LudensError as error:
            return head.key, str(error), head.void


def _check_models(episode: Episode) -> None:
    """Models never give an action itself: what they say is read."""
    for move in (*episode.moves, *episode.unfinished):
        if is_model(episode.seats.get(move.seat, "bot")) and (
            not move.tries or any(tried.direct for tried in move.tries)
        ):
            raise ReplayMismatch(f"the move of {move.seat} in step {move.step} has no reply of the model.")


_verifier: _Verifier


def _start_worker(folder: Path, plan: bytes, suite_name: str) -> None:
    global _verifier
    import_suite(suite_name)
    _verifier = _Verifier(folder, Plan.from_json(plan))


def _verify_in_worker(offsets: list[int]) -> list[Outcome]:
    return _verifier.verify(offsets)
