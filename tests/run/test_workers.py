"""Worker processes: usage errors are passed on, and a worker that dies is replaced."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from ludens.core.agent import Agent
from ludens.core.episode import Usage
from ludens.core.errors import UsageError
from ludens.run.engine import default_workers, make_executor
from ludens.run.jobs import JobRunner
from ludens.run.rows import Outcome
from ludens.run.task import SUITES
from ludens.run.workers import ProcessExecutor, Report, Worker
from tests.support import suites
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, found, plan_of, played


def test_executor_follows_the_options() -> None:
    plan = plan_of()
    assert isinstance(make_executor(plan), JobRunner)
    assert isinstance(make_executor(plan, workers=2), ProcessExecutor)


@pytest.mark.parametrize(
    ("specs", "concurrency", "cores", "expected"),
    [
        (("openai/gpt-4.1",), 16, 8, 0),
        (("openai/gpt-4.1",), 255, 8, 0),
        (("openai/gpt-4.1",), 256, 8, 2),
        (("openai/gpt-4.1", "vllm/qwen@http://127.0.0.1:8000/v1"), 1024, 8, 8),
        (("openai/gpt-4.1", "bot/random"), 1024, 4, 4),
        (("openai/gpt-4.1",), 1024, 1, 0),
        (("openai/gpt-4.1?concurrency=32",), 1024, 8, 0),
        (("openai/gpt-4.1?rpm=300",), 1024, 8, 2),
        (("openai/gpt-4.1?rpm=0&concurrency=600",), 1024, 8, 4),
        (("bot/random",), 1024, 8, 0),
        (("hf/somewhere",), 1024, 8, 0),
        (("openai/gpt-4.1", "human"), 1024, 8, 0),
    ],
)
def test_default_number_of_workers(
    specs: tuple[str, ...], concurrency: int, cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.run.engine.cores", lambda: cores)
    assert default_workers(plan_of(*specs, suite="demo"), concurrency) == expected


async def test_worker_reports_results_and_usage_errors() -> None:
    plan = plan_of("test/fussy?moves=100", suite=TURNS)
    worker = Worker(plan.to_json(), plan.suite, 1, 1)
    assert (await worker.ready()).unwrap() == ""
    first, second = [await worker.play(job) for job in list(plan.jobs)[:2]]
    assert isinstance(first.result, Outcome)
    assert first.worker == second.worker
    other = Worker(plan_of("test/fussy?moves=0", suite=TURNS).to_json(), plan.suite, 1, 1)
    failed = await other.play(next(iter(plan_of("test/fussy?moves=0", suite=TURNS).jobs)))
    assert failed.worker != first.worker
    with pytest.raises(UsageError, match="key is not taken"):
        failed.unwrap()


async def test_unexpected_error_in_a_worker_voids_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: JobRunner, spec: str, task: str) -> Agent:
        raise RuntimeError("a bug")

    plan = plan_of(suite=TURNS)
    worker = Worker(plan.to_json(), plan.suite, 1, 1)
    await worker.ready()
    monkeypatch.setattr(JobRunner, "agent", broken)
    outcome = (await worker.play(next(iter(plan.jobs)))).unwrap()
    assert isinstance(outcome, Outcome)
    assert (outcome.row.void, outcome.data) == (True, b"")
    assert "RuntimeError: a bug" in outcome.row.error


async def test_worker_that_was_restarted_reports_usage_errors_of_its_plan() -> None:
    """Ray creates a worker again without calling `ready`."""
    worker = Worker(plan_of().to_json(), "tests.support.suites:UNKNOWN", 1, 1)
    for report in (await worker.play(next(iter(plan_of().jobs))), await worker.ready()):
        with pytest.raises(UsageError, match="cannot be loaded"):
            report.unwrap()


async def test_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    plan = plan_of(f"test/deadly?mark={tmp_path / 'mark'}", suite=TURNS)
    result = await played(tmp_path / "run", plan, concurrency=2, workers=2)
    assert result.complete
    assert 1 <= result.progress.voids <= 2
    assert len(found(tmp_path / "run")) == 8


async def test_suite_unknown_to_workers_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SUITES, "_added", {"mine": suites.TURNS})
    plan = plan_of(suite="mine")
    with pytest.raises(UsageError, match="unknown suite 'mine'"):
        await played(tmp_path / "run", plan, workers=1)


async def test_usage_error_in_a_worker_keeps_its_message(tmp_path: Path) -> None:
    plan = plan_of("test/fussy?moves=5", suite=TURNS)
    with pytest.raises(UsageError, match=r"^the key is not taken any more\.$"):
        await played(tmp_path / "run", plan, concurrency=2, workers=1)
    assert len(found(tmp_path / "run")) >= 1


async def test_close_ends_the_workers(tmp_path: Path) -> None:
    plan = plan_of(suite=TURNS, limit=2)
    executor = ProcessExecutor(plan, 2)
    await executor.start()
    processes = [worker.process for worker in executor._workers]
    assert all(process.is_alive() for process in processes)
    outcome = await executor.play(next(iter(plan.jobs)))
    assert not outcome.row.void
    await executor.close()
    assert not any(process.is_alive() for process in processes)


async def test_calls_are_counted_during_an_episode() -> None:
    async with ModelServer(script=["ok", *["hang"] * 5]) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS)
        executor = ProcessExecutor(plan, 1)
        await executor.start()
        playing = asyncio.create_task(executor.play(next(iter(plan.jobs))))
        try:
            async with asyncio.timeout(120):
                while executor.usage.calls < 1:
                    await asyncio.sleep(0.05)
            assert not playing.done()
        finally:
            playing.cancel()
            await executor.close()


def test_reports_add_up() -> None:
    executor = ProcessExecutor(plan_of(), 2)
    assert (executor.usage, executor.counts) == (Usage(calls=0), Counter())
    for report in (
        Report("", "one", Usage(100, 10, images=2, calls=2), Counter(retries=1)),
        Report("", "other", Usage(200, 20, images=3, calls=3, cost=0.5), Counter(cached=4)),
        Report("", "one", Usage(50, 5, images=1, calls=1), Counter()),  # late
    ):
        executor._add_report(report)
    assert executor.usage == Usage(300, 30, images=5, calls=5, cost=0.5)
    assert executor.counts == {"retries": 1, "cached": 4}
