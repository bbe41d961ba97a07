"""Worker processes: what they cannot do is said in a sentence, and one that dies takes nothing with it."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from ludens.core.errors import UsageError
from ludens.run.collector import rare_collections
from ludens.run.executor import InProcess, executor, fitting
from ludens.run.meter import Meter
from ludens.run.processes import ProcessExecutor
from ludens.run.task import SUITES
from tests.support import suites
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, found, plan_of, played


def test_where_episodes_are_played() -> None:
    plan = plan_of()
    assert isinstance(executor(plan), InProcess)
    assert isinstance(executor(plan, workers=2), ProcessExecutor)


@pytest.mark.parametrize(
    ("specs", "flying", "cores", "wanted"),
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
def test_many_calls_in_flight_get_several_processes(
    specs: tuple[str, ...], flying: int, cores: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.run.executor._cores", lambda: cores)
    assert fitting(plan_of(*specs, suite="demo"), flying) == wanted


def test_the_collector_is_as_it_was_after_a_run() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with rare_collections():
        assert gc.get_threshold() != before
        assert gc.get_freeze_count() > frozen
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, frozen)


async def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    plan = plan_of(f"test/deadly?mark={tmp_path / 'mark'}", suite=TURNS)
    ending = await played(tmp_path / "run", plan, concurrency=2, workers=2)
    assert ending.complete
    assert 1 <= ending.tally.voids <= 2
    assert len(found(tmp_path / "run")) == 8


async def test_a_suite_that_workers_do_not_know_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SUITES, "_added", {"mine": suites.TURNS})
    plan = plan_of(suite="mine")
    with pytest.raises(UsageError, match="unknown suite 'mine'"):
        await played(tmp_path / "run", plan, workers=1)


async def test_a_usage_error_in_a_worker_is_the_sentence_it_was(tmp_path: Path) -> None:
    plan = plan_of("test/fussy?moves=5", suite=TURNS)
    with pytest.raises(UsageError, match=r"^the key is not taken any more\.$"):
        await played(tmp_path / "run", plan, concurrency=2, workers=1)
    assert len(found(tmp_path / "run")) >= 1


async def test_workers_end_with_the_run(tmp_path: Path) -> None:
    plan = plan_of(suite=TURNS, limit=2)
    there = ProcessExecutor(plan, 2)
    await there.start()
    processes = [worker.process for worker in there._workers]
    assert all(process.is_alive() for process in processes)
    outcome = await there.play(next(plan.jobs()))
    assert not outcome.void
    await there.close()
    assert not any(process.is_alive() for process in processes)


async def test_what_is_asked_is_counted_while_episodes_last() -> None:
    async with ModelServer(script=["ok", *["hang"] * 5]) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS)
        there = ProcessExecutor(plan, 1)
        await there.start()
        playing = asyncio.create_task(there.play(next(plan.jobs())))
        try:
            async with asyncio.timeout(30):
                while there.meter.calls < 1:
                    await asyncio.sleep(0.05)
            assert not playing.done()
        finally:
            playing.cancel()
            await there.close()


def test_meters_add_up() -> None:
    one, other = Meter(2, 100, 10, 2, 0, 1, None), Meter(3, 200, 20, 3, 4, 0, 0.5)
    assert Meter.sum((one, other)) == Meter(5, 300, 30, 5, 4, 1, 0.5)
    assert Meter.sum(()) == Meter()
    assert Meter.sum((one, Meter())).cost is None
