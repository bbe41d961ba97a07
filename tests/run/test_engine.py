"""The engine: every way of playing a run leads to the same episodes, and whatever ends it loses none."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import BadOption
from ludens.run.budget import Budget, Spend
from ludens.run.engine import Engine
from ludens.run.executor import Executor, InProcess, WorkerDied
from ludens.run.interrupts import interrupts
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.store import Store, read_records
from tests.support.runs import TURNS, found, plan_of, played
from tests.support.suites import Flaky, Fussy

BOTS = ("bot/random", "bot/first")


@pytest.fixture
def plan() -> Plan:
    return plan_of(*BOTS)


async def test_serial_is_concurrent_is_workers_is_resumed(tmp_path: Path, plan: Plan) -> None:
    serial = await played(tmp_path / "serial", plan)
    assert (serial.complete, serial.reason, serial.tally.episodes) == (True, "", plan.total())
    expected = found(tmp_path / "serial")
    assert set(expected) == {job.key for job in plan.jobs()}

    await played(tmp_path / "concurrent", plan, concurrency=8)
    assert found(tmp_path / "concurrent") == expected

    await played(tmp_path / "workers", plan, concurrency=8, workers=2)
    assert found(tmp_path / "workers") == expected

    with Store.create(tmp_path / "resumed", plan) as store:
        executor = _Enough(plan)
        engine = Engine(store, executor, concurrency=3)
        executor.stop = engine.stop
        stopped = await engine.run()
    assert (stopped.complete, stopped.reason, stopped.tally.episodes) == (False, "enough", 7)
    again = await played(tmp_path / "resumed", plan, concurrency=5)
    assert again.complete
    assert again.tally.before + again.tally.episodes == plan.total()
    assert found(tmp_path / "resumed") == expected


class _Enough(InProcess):
    """Says stop while its seventh episode is in flight."""

    stop: Callable[[str], None]
    begun = 0

    async def play(self, job: Job) -> Outcome:
        self.begun += 1
        if self.begun == 7:
            self.stop("enough")
        return await super().play(job)


async def test_a_run_that_is_complete_plays_nothing(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path, plan)
    before = (tmp_path / "episodes.jsonl").read_bytes()
    again = await played(tmp_path, plan)
    assert (again.complete, again.tally.episodes, again.tally.before) == (True, 0, plan.total())
    assert (tmp_path / "episodes.jsonl").read_bytes() == before


async def test_void_episodes_are_played_again_and_counted(tmp_path: Path) -> None:
    Flaky.failed.clear()
    plan = plan_of("test/flaky?times=3", suite=TURNS)
    ending = await played(tmp_path, plan, concurrency=4)
    assert (ending.complete, ending.tally.voids, ending.tally.episodes) == (True, 3, 8)
    statuses = Counter(record.episode.status for record in read_records(tmp_path))
    assert (statuses["void"], statuses["done"]) == (3, 8)


async def test_an_episode_that_stays_void_is_told_and_tried_again_by_resuming(tmp_path: Path) -> None:
    Flaky.failed.clear()
    plan = plan_of("test/flaky?times=100", suite=TURNS, limit=1)
    ending = await played(tmp_path, plan)
    tries = 1 + plan.void_retries
    assert not ending.complete
    assert ending.reason == "2 episodes stay void; the last reason: no answer today."
    assert (ending.tally.voids, len(read_records(tmp_path))) == (2 * tries, 2 * tries)
    Flaky.failed["test/flaky?times=100"] = 100
    again = await played(tmp_path, plan)
    assert (again.complete, len(found(tmp_path))) == (True, 2)


async def test_a_usage_error_stops_everything_and_keeps_what_is_finished(tmp_path: Path) -> None:
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
    """Plays instantly, and says that every episode took ten calls, more or less."""

    def __init__(self, calls: int = 10) -> None:
        self._calls, self._meter = calls, Meter()
        self.most, self._flying = 0, 0

    async def play(self, job: Job) -> Outcome:
        self._flying += 1
        self.most = max(self.most, self._flying)
        for _ in range(self._calls):
            await asyncio.sleep(0)
            self._meter.calls += 1
            self._meter.input_tokens += 100
        self._flying -= 1
        return Outcome(job, b"{}", False, self._calls, 100 * self._calls)

    @property
    def meter(self) -> Meter:
        return self._meter


@pytest.mark.parametrize("concurrency", [1, 8, 200])
@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(calls=95), "90 calls were made, and one more episode is expected to take it beyond"),
        (Budget(calls=90), "90 calls were made (--max-calls 90)"),
        (Budget(tokens=9_500), "9,000 tokens were used, and one more"),
    ],
)
async def test_a_budget_is_kept_however_many_fly(
    tmp_path: Path, budget: Budget, reason: str, concurrency: int
) -> None:
    plan = plan_of("bot/first", "bot/random", suite=TURNS, void_retries=0)
    guess = {(name, "turns"): Spend(10, 1000) for name in plan.entrants}
    executor = _Paid()
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, executor, concurrency=concurrency, budget=budget, estimated=guess)
        ending = await engine.run()
    assert not ending.complete
    assert ending.reason.startswith(reason)
    assert executor.meter.calls == 90
    assert len(read_lines(tmp_path)) == 9
    # Three tries a move are foreseen for three of them, until the first has told that one is enough.
    assert executor.most == min(concurrency, 6)


async def test_replies_that_are_all_refused_do_not_break_a_budget(tmp_path: Path) -> None:
    """Estimates know nothing of them, and all could be in flight before the first has ended."""
    plan = plan_of("bot/first", suite=TURNS)
    executor = _Paid(calls=30)
    with Store.create(tmp_path, plan) as store:
        guess = {("bot/first", "turns"): Spend(10)}
        engine = Engine(store, executor, concurrency=200, budget=Budget(calls=100), estimated=guess)
        await engine.run()
    assert executor.meter.calls == 90


class _Billed(_Paid):
    """Whose provider names the price of an answer with the answer, and not before."""

    async def play(self, job: Job) -> Outcome:
        outcome = await super().play(job)
        self._meter.cost = (self._meter.cost or 0.0) + 1.0
        return replace(outcome, cost=1.0)


async def test_where_no_price_is_known_one_episode_tells_it(tmp_path: Path) -> None:
    plan = plan_of("bot/random", suite=TURNS)
    guess = {("bot/random", "turns"): Spend(10, 1000)}
    executor = _Billed()
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, executor, concurrency=8, budget=Budget(cost=3.5), estimated=guess)
        ending = await engine.run()
    assert ending.reason.startswith("3.0000 was spent, and one more episode is expected to take it beyond")
    assert (executor.meter.cost, executor.most) == (3.0, 2)


def read_lines(folder: Path) -> list[bytes]:
    return (folder / "episodes.jsonl").read_bytes().splitlines()


async def test_what_the_budget_still_covers_is_played(tmp_path: Path) -> None:
    """A long task at the head of the queue does not keep short ones from being played."""
    plan = plan_of("bot/first", tasks=("together", "question"))
    guess = {("bot/first", "together"): Spend(1000), ("bot/first", "question"): Spend(10)}
    with Store.create(tmp_path, plan) as store:
        store.done.add(next(plan.jobs()).key)
        engine = Engine(store, _Paid(), concurrency=2, budget=Budget(calls=45), estimated=guess)
        ending = await engine.run()
    assert ending.tally.episodes == 4
    assert {line.split(b":")[2] for line in read_lines(tmp_path)} == {b"question"}
    assert "40 calls were made, and one more" in ending.reason


async def test_the_first_episode_starts_whatever_the_estimate_says(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    guess = {("bot/first", "turns"): Spend(10_000)}
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, _Paid(), concurrency=4, budget=Budget(calls=35), estimated=guess)
        await engine.run()
    assert len(read_lines(tmp_path)) == 3


async def test_hours_end_a_run(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    ending = await played(tmp_path, plan, budget=Budget(hours=1e-9))
    assert not ending.complete
    assert "(--max-hours 1e-09)" in ending.reason


class _Dying(InProcess):
    """Loses a job now and then, as worker processes do."""

    lost = 0

    async def play(self, job: Job) -> Outcome:
        if self.lost < 3:
            self.lost += 1
            raise WorkerDied("a worker process died")
        return await super().play(job)


async def test_a_job_lost_with_its_worker_is_played_again(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path / "sound", plan)
    with Store.create(tmp_path / "run", plan) as store:
        ending = await Engine(store, _Dying(plan), concurrency=2).run()
    assert (ending.complete, ending.tally.voids) == (True, 3)
    assert found(tmp_path / "run") == found(tmp_path / "sound")


async def test_bots_let_the_loop_breathe(tmp_path: Path) -> None:
    """Bots never wait by themselves: a stop must be heard all the same."""
    plan = plan_of("bot/first", suite=TURNS)
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, InProcess(plan), concurrency=1)
        asyncio.get_running_loop().call_soon(
            lambda: asyncio.get_running_loop().call_soon(engine.stop, "enough")
        )
        ending = await engine.run()
    assert not ending.complete
    assert ending.tally.episodes < 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_interruption_is_a_word_and_the_second_an_order(number: int) -> None:
    heard: list[int] = []
    before = signal.getsignal(number)
    with interrupts(lambda: heard.append(1)):
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.01)
        assert heard == [1]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


async def test_an_interrupted_run_finishes_what_flies(tmp_path: Path, plan: Plan) -> None:
    class Slow(InProcess):
        async def play(self, job: Job) -> Outcome:
            await asyncio.sleep(0.02)
            return await super().play(job)

    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, Slow(plan), concurrency=3)
        loop = asyncio.get_running_loop()
        loop.call_later(0.03, os.kill, os.getpid(), signal.SIGINT)
        ending = await engine.run()
    assert (ending.complete, ending.interrupted, ending.reason) == (False, True, "interrupted")
    assert len(found(tmp_path)) == ending.tally.episodes >= 3
    assert ending.tally.episodes % 3 == 0
    assert ending.tally.in_flight == 0
