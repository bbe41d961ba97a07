"""The engine: the episodes do not depend on how a run is played, and no finished episode is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ludens.core.episode import Usage
from ludens.core.errors import BadOption
from ludens.core.processes import WorkerDied
from ludens.models.ledger import Budget
from ludens.run.engine import Engine
from ludens.run.jobs import Executor, JobRunner
from ludens.run.lines import read_records
from ludens.run.plan import Job, Plan
from ludens.run.rows import EpisodeRow, Outcome
from ludens.run.store import Store
from ludens.run.workers import interrupts
from tests.support.runs import TURNS, found, plan_of, played
from tests.support.suites import Flaky, Fussy

BOTS = ("bot/random", "bot/first")


@pytest.fixture
def plan() -> Plan:
    return plan_of(*BOTS)


async def test_serial_concurrent_worker_and_resumed_runs_are_equal(tmp_path: Path, plan: Plan) -> None:
    serial = await played(tmp_path / "serial", plan)
    assert (serial.complete, serial.reason, serial.progress.episodes) == (True, "", plan.total())
    expected = found(tmp_path / "serial")
    assert set(expected) == {job.key for job in plan.jobs}

    await played(tmp_path / "concurrent", plan, concurrency=8)
    assert found(tmp_path / "concurrent") == expected

    await played(tmp_path / "workers", plan, concurrency=8, workers=2)
    assert found(tmp_path / "workers") == expected

    with Store.create(tmp_path / "resumed", plan) as store:
        executor = _StopsAtSeven(plan)
        engine = Engine(store, executor, concurrency=3)
        executor.stop = engine.stop
        stopped = await engine.run()
    assert (stopped.complete, stopped.reason) == (False, "enough")
    assert 7 <= stopped.progress.episodes <= 9  # those in flight are finished
    again = await played(tmp_path / "resumed", plan, concurrency=5)
    assert again.complete
    assert again.progress.before + again.progress.episodes == plan.total()
    assert found(tmp_path / "resumed") == expected


class _StopsAtSeven(JobRunner):
    """Stops the run while its seventh episode is in flight."""

    stop: Callable[[str], None]
    begun = 0

    async def play(self, job: Job) -> Outcome:
        self.begun += 1
        if self.begun == 7:
            self.stop("enough")
        return await super().play(job)


async def test_complete_run_plays_nothing(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path, plan)
    before = (tmp_path / "episodes.jsonl").read_bytes()
    again = await played(tmp_path, plan)
    assert (again.complete, again.progress.episodes, again.progress.before) == (True, 0, plan.total())
    assert (tmp_path / "episodes.jsonl").read_bytes() == before


async def test_void_episodes_are_retried_and_counted(tmp_path: Path) -> None:
    Flaky.failed.clear()
    plan = plan_of("test/flaky?times=3", suite=TURNS)
    result = await played(tmp_path, plan, concurrency=4)
    assert (result.complete, result.progress.voids, result.progress.episodes) == (True, 3, 8)
    statuses = Counter(record.episode.status for record in read_records(tmp_path))
    assert (statuses["void"], statuses["done"]) == (3, 8)


async def test_failed_episodes_are_reported_and_played_again_by_resume(tmp_path: Path) -> None:
    Flaky.failed.clear()
    plan = plan_of("test/flaky?times=100", suite=TURNS, limit=1)
    result = await played(tmp_path, plan)
    tries = 1 + plan.void_retries
    assert not result.complete
    assert result.reason == "2 episodes failed after all retries; last error: no answer today."
    assert (result.progress.voids, len(read_records(tmp_path))) == (2 * tries, 2 * tries)
    Flaky.failed["test/flaky?times=100"] = 100
    again = await played(tmp_path, plan)
    assert (again.complete, len(found(tmp_path))) == (True, 2)


async def test_usage_error_stops_the_run_and_keeps_finished_episodes(tmp_path: Path) -> None:
    Fussy.made.clear()
    plan = plan_of("test/fussy?moves=12", suite=TURNS)
    with pytest.raises(BadOption, match="the key is not taken any more"):
        await played(tmp_path, plan, concurrency=4)
    kept = found(tmp_path)
    assert 0 < len(kept) < plan.total()
    Fussy.made["test/fussy?moves=12"] = -1000
    assert (await played(tmp_path, plan)).complete
    after = found(tmp_path)
    assert {key: after[key] for key in kept} == kept


class _Paid(Executor):
    """Plays instantly; every episode takes a fixed number of calls, ten by default."""

    def __init__(self, calls: int = 10) -> None:
        self._calls, self._usage = calls, Usage(calls=0)
        self.max_in_flight, self._in_flight = 0, 0

    async def play(self, job: Job) -> Outcome:
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        for _ in range(self._calls):
            await asyncio.sleep(0)
            self._usage.calls += 1
            self._usage.input_tokens += 100
        self._in_flight -= 1
        usage = Usage(calls=self._calls, input_tokens=100 * self._calls)
        return Outcome(EpisodeRow.of(job, usage=usage), b"{}")

    @property
    def usage(self) -> Usage:
        return self._usage

    @property
    def counts(self) -> Counter[str]:
        return Counter()


@pytest.mark.parametrize("concurrency", [1, 8, 200])
@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(calls=95), "90 calls used, and one more episode is expected to exceed the limit"),
        (Budget(calls=90), "90 calls used (--max-calls 90)"),
        (Budget(tokens=9_500), "9,000 tokens used, and one more"),
    ],
)
async def test_budget_is_kept_at_any_concurrency(
    tmp_path: Path, budget: Budget, reason: str, concurrency: int
) -> None:
    plan = plan_of("bot/first", "bot/random", suite=TURNS, void_retries=0)
    guess = {(name, "turns"): Usage(1000, calls=10) for name in plan.entrants}
    executor = _Paid()
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, executor, concurrency=concurrency, budget=budget, estimates=guess)
        result = await engine.run()
    assert not result.complete
    assert result.reason.startswith(reason)
    assert executor.usage.calls == 90
    assert len(read_lines(tmp_path)) == 9
    # All retries are reserved for, which leaves room for three; once the first has finished, for more.
    assert min(concurrency, 3) <= executor.max_in_flight <= min(concurrency, 6)


async def test_retries_that_the_estimate_does_not_foresee_do_not_exceed_the_budget(tmp_path: Path) -> None:
    """All episodes could be in flight before the first has finished."""
    plan = plan_of("bot/first", suite=TURNS)
    executor = _Paid(calls=30)
    with Store.create(tmp_path, plan) as store:
        guess = {("bot/first", "turns"): Usage(calls=10)}
        engine = Engine(store, executor, concurrency=200, budget=Budget(calls=100), estimates=guess)
        await engine.run()
    assert executor.usage.calls == 90


class _Billed(_Paid):
    """Every episode costs $1, which is unknown until it has finished."""

    async def play(self, job: Job) -> Outcome:
        outcome = await super().play(job)
        self._usage.cost = (self._usage.cost or 0.0) + 1.0
        outcome.row.usage.cost = 1.0
        return outcome


async def test_without_a_known_price_one_episode_is_played_first(tmp_path: Path) -> None:
    plan = plan_of("bot/random", suite=TURNS)
    guess = {("bot/random", "turns"): Usage(1000, calls=10)}
    executor = _Billed()
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, executor, concurrency=8, budget=Budget(cost=3.5), estimates=guess)
        result = await engine.run()
    assert result.reason.startswith("$3.0000 spent, and one more episode")
    assert (executor.usage.cost, executor.max_in_flight) == (3.0, 2)


def read_lines(folder: Path) -> list[bytes]:
    return (folder / "episodes.jsonl").read_bytes().splitlines()


async def test_jobs_that_the_budget_still_covers_are_played(tmp_path: Path) -> None:
    """A long task at the head of the queue does not prevent short ones from being played."""
    plan = plan_of("bot/first", tasks=("together", "question"))
    guess = {("bot/first", "together"): Usage(calls=1000), ("bot/first", "question"): Usage(calls=10)}
    with Store.create(tmp_path, plan) as store:
        store.done.add(next(iter(plan.jobs)).key)
        engine = Engine(store, _Paid(), concurrency=2, budget=Budget(calls=45), estimates=guess)
        result = await engine.run()
    assert result.progress.episodes == 4
    assert {line.split(b":")[2] for line in read_lines(tmp_path)} == {b"question"}
    assert "40 calls used, and one more" in result.reason


async def test_no_episode_starts_that_the_estimate_does_not_cover(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    guess = {("bot/first", "turns"): Usage(calls=10_000)}
    executor = _Paid()
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, executor, concurrency=4, budget=Budget(calls=35), estimates=guess)
        result = await engine.run()
    assert (executor.usage.calls, result.complete) == (0, False)
    assert "(--max-calls 35)" in result.reason


async def test_time_limit(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    result = await played(tmp_path, plan, budget=Budget(hours=1e-9))
    assert not result.complete
    assert "(--max-hours 1e-09)" in result.reason


class _Dying(JobRunner):
    """Loses its first three jobs, as worker processes that die do."""

    lost = 0

    async def play(self, job: Job) -> Outcome:
        if self.lost < 3:
            self.lost += 1
            raise WorkerDied("a worker process died")
        return await super().play(job)


async def test_job_of_a_dead_worker_is_played_again(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path / "sound", plan)
    with Store.create(tmp_path / "run", plan) as store:
        result = await Engine(store, _Dying(plan), concurrency=2).run()
    assert (result.complete, result.progress.voids) == (True, 3)
    assert found(tmp_path / "run") == found(tmp_path / "sound")


async def test_bots_do_not_block_the_event_loop_between_episodes(tmp_path: Path) -> None:
    """Bots never await anything, but `stop` must take effect."""
    plan = plan_of("bot/first", suite=TURNS)
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, JobRunner(plan), concurrency=1)
        asyncio.get_running_loop().call_soon(
            lambda: asyncio.get_running_loop().call_soon(engine.stop, "enough")
        )
        result = await engine.run()
    assert not result.complete
    assert result.progress.episodes < 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_first_signal_calls_back_and_a_later_one_raises(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    before = signal.getsignal(number)
    monkeypatch.setattr("ludens.run.workers.SAME_SIGNAL_SECONDS", 60.0)
    with interrupts(lambda: calls.append(1)):
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.01)
        assert calls == [1]
        os.kill(os.getpid(), number)  # `timeout` sends its signal twice
        monkeypatch.setattr("ludens.run.workers.SAME_SIGNAL_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


async def test_interrupted_run_finishes_episodes_in_flight(tmp_path: Path, plan: Plan) -> None:
    begun: list[Job] = []

    class Interrupted(JobRunner):
        async def play(self, job: Job) -> Outcome:
            begun.append(job)
            if len(begun) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.02)
            return await super().play(job)

    with Store.create(tmp_path, plan) as store:
        result = await Engine(store, Interrupted(plan), concurrency=3).run()
    assert (result.complete, result.interrupted, result.reason) == (False, True, "interrupted")
    assert 5 <= len(begun) < plan.total()
    assert len(found(tmp_path)) == result.progress.episodes == len(begun)
    assert result.progress.in_flight == 0


async def test_samples_of_one_seed_are_distinct_episodes(tmp_path: Path) -> None:
    plan = plan_of("bot/random", suite=TURNS, limit=2, samples=3)
    result = await played(tmp_path, plan, concurrency=4)
    assert (result.complete, result.progress.episodes) == (True, 6)
    records = {record.key: record for record in read_records(tmp_path)}
    assert set(records) == {job.key for job in plan.jobs}
    assert Counter((r.episode.seed, r.seating) for r in records.values()) == {(0, 0): 3, (0, 1): 3}
    assert all(
        r.sample == r.episode.sample == next(job.sample for job in plan.jobs if job.key == r.key)
        for r in records.values()
    )


class _AlwaysDying(JobRunner):
    """Loses one job every time; the test would not end if nobody counted."""

    lost = 0

    async def play(self, job: Job) -> Outcome:
        if job.key != next(iter(self.plan.jobs)).key:
            return await super().play(job)
        self.lost += 1
        assert self.lost < 10, "the job is played again without end"
        raise WorkerDied("a worker process died")


async def test_deaths_of_workers_count_as_void_episodes(tmp_path: Path) -> None:
    plan = plan_of(suite=TURNS, limit=2, void_retries=2)
    with Store.create(tmp_path / "run", plan) as store:
        executor = _AlwaysDying(plan)
        result = await Engine(store, executor).run()
        assert store.voids == {next(iter(plan.jobs)).key: 3}
    assert executor.lost == result.progress.voids == 3
    assert (result.complete, result.errors) == (False, ("a worker process died",))
    assert "1 episode failed after all retries; last error: a worker process died" in result.reason
