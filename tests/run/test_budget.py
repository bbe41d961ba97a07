"""Budgets are hard limits: no request is sent that calls, tokens or cost do not cover."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ludens.core.episode import Usage
from ludens.core.errors import ModelRejected
from ludens.core.processes import WorkerDied
from ludens.models.errors import TransientError
from ludens.models.ledger import Budget, BudgetReached, Ledger, Price
from ludens.run.lines import read_records
from ludens.run.workers import ProcessExecutor, _ChannelLedger, _Reserved, _Settle
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, found, plan_of, played

FAILURES = ["500", "429", "length", "reset"] * 5


def test_ledger_exists_only_with_a_limit() -> None:
    assert Ledger.of(None) is None
    assert Ledger.of(Budget(hours=1)) is None
    assert Ledger.of(Budget(cost=0.1)) is not None


@pytest.mark.parametrize(
    ("workers", "script"),
    [(0, []), pytest.param(2, [], marks=pytest.mark.slow), (0, FAILURES), (2, FAILURES)],
    ids=["here", "workers", "here-failures", "workers-failures"],
)
async def test_no_request_beyond_max_calls(tmp_path: Path, workers: int, script: list[str]) -> None:
    """Without estimates every episode starts; requests that fail and extended ones count as well."""
    async with ModelServer(script=script) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS)
        budget = Budget(calls=10)
        result = await played(tmp_path, plan, concurrency=8, workers=workers, budget=budget)
        assert len(server.requests) == 10
        assert not result.complete
        assert result.reason == "10 calls used (--max-calls 10)"
        cut = [record for record in read_records(tmp_path) if record.episode.status == "void"]
        assert cut
        assert all("--max-calls 10" in record.episode.error for record in cut)
        server.script = ()
        again = await played(tmp_path, plan, concurrency=8, workers=workers)
        assert again.complete
        await played(tmp_path / "undisturbed", plan)
    assert found(tmp_path) == found(tmp_path / "undisturbed")


@pytest.mark.parametrize("workers", [0, 2])
async def test_tokens_and_cost_stay_within_the_budget(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server counts 100 tokens of input and 2 or 3 of output per request."""
    prices = tmp_path / "prices.toml"
    prices.write_text('["vllm/tiny"]\ninput = 1000.0\noutput = 1000.0\n')
    monkeypatch.setenv("LUDENS_PRICES", str(prices))
    async with ModelServer() as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}&max_tokens=10", suite=TURNS)
        for name, budget in (("tokens", Budget(tokens=2000)), ("cost", Budget(cost=2.0))):
            server.requests.clear()
            result = await played(tmp_path / name, plan, concurrency=8, workers=workers, budget=budget)
            assert not result.complete
            assert f"(--max-{name}" in result.reason
            assert 0 < result.progress.usage.tokens <= 2000
            assert 1 <= len(server.requests) <= 20


async def test_cached_answers_are_free(tmp_path: Path) -> None:
    async with ModelServer() as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}&cache={tmp_path / 'answers'}", suite=TURNS)
        await played(tmp_path / "one", plan)
        sent = len(server.requests)
        again = await played(tmp_path / "two", plan, budget=Budget(calls=1))
    assert again.complete
    assert len(server.requests) == sent


async def test_calls_wait_for_those_in_flight_before_they_are_refused() -> None:
    ledger = Ledger(Budget(tokens=1000))
    assert await ledger.reserve(Usage(800)) == ""
    second = asyncio.create_task(ledger.reserve(Usage(800)))
    await asyncio.sleep(0)
    assert not second.done()
    ledger.settle(Usage(800), Usage(100))
    assert await second == ""
    ledger.settle(Usage(800), Usage(150))
    assert ledger.spent == Usage(250, calls=2)
    assert "250 tokens used, and one more call" in await ledger.reserve(Usage(800))


async def test_call_of_unknown_price_waits_until_it_is_alone() -> None:
    ledger = Ledger(Budget(cost=1.0))
    assert await ledger.reserve(Usage(10)) == ""
    second = asyncio.create_task(ledger.reserve(Usage(10)))
    await asyncio.sleep(0)
    assert not second.done()
    ledger.settle(Usage(10), Usage(10, cost=1.5))
    assert await second == "$1.5000 spent (--max-cost 1)"


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (TransientError("rate", "slow down"), Usage()),
        (TransientError("server", "HTTP 500"), Usage()),
        (ModelRejected("no such model"), Usage()),
        (TransientError("timeout", "no answer in time"), Usage(100, 20, cost=0.12)),
        (asyncio.CancelledError(), Usage(100, 20, cost=0.12)),
    ],
)
async def test_failed_requests_count_as_calls(error: BaseException, counted: Usage) -> None:
    ledger = Ledger(Budget(calls=9))
    with pytest.raises(type(error)):
        async with ledger.request("tiny", Price(1000.0, 1000.0), 100, 20):
            raise error
    assert ledger.spent == counted


async def test_estimates_follow_the_answers() -> None:
    ledger = Ledger(Budget(calls=2))
    assert ledger.expected("tiny", None, 100, 20) == Usage(100, 20)
    async with ledger.request("tiny", None, 100, None) as settle:
        settle(Usage(input_tokens=300, output_tokens=700, cost=0.5))
    assert ledger.spent == Usage(300, 700, cost=0.5)
    assert ledger.expected("tiny", None, 100, None) == Usage(300, 700, cost=0.5)
    assert ledger.expected("tiny", None, 100, 100) == Usage(300, 100, cost=0.2)
    assert ledger.expected("other", None, 100, 100) == Usage(100, 100)
    async with ledger.request("tiny", None, 100, 1):
        pass
    with pytest.raises(BudgetReached, match="2 calls used"):
        async with ledger.request("tiny", None, 100, 1):
            raise AssertionError("the call must not be sent")


async def test_reservations_are_released_while_others_are_in_flight() -> None:
    """One call is always in flight, so that the sum of all reservations is never reset."""
    ledger = Ledger(Budget(tokens=1000))
    expected = Usage(300)
    assert await ledger.reserve(expected) == ""
    for _ in range(20):
        async with asyncio.timeout(60):
            assert await ledger.reserve(expected) == ""
        ledger.settle(expected, Usage(10))
    assert ledger.spent == Usage(200, calls=20)


async def test_a_reservation_is_released_however_the_request_ends() -> None:
    ledger = Ledger(Budget(tokens=1000))
    async with ledger.request("tiny", None, 100, 20):  # in flight all the time
        for _ in range(100):
            async with asyncio.timeout(60):
                with pytest.raises(TransientError):
                    async with ledger.request("tiny", None, 100, 20):
                        raise TransientError("rate", "slow down")
                async with ledger.request("tiny", None, 100, 20) as settle:
                    settle(Usage(input_tokens=1, output_tokens=1))


async def test_a_worker_that_gives_up_releases_what_it_is_granted_later() -> None:
    sent: list[Any] = []
    channel = SimpleNamespace(send=sent.append)
    ledger = _ChannelLedger(channel)  # type: ignore[arg-type]
    expected = Usage(100)
    for reason, released in (("", [_Settle(expected, Usage(calls=0))]), ("no more.", [])):
        sent.clear()
        call = asyncio.create_task(ledger.reserve(expected))
        await asyncio.sleep(0)
        [asked] = sent
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        sent.clear()
        ledger.reserved(_Reserved(asked.number, reason))
        await asyncio.sleep(0)
        assert sent == released


async def test_calls_of_a_worker_that_died_are_settled(tmp_path: Path) -> None:
    async with ModelServer(latency=60) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS, limit=2)
        executor = ProcessExecutor(plan, 1, 1, Budget(calls=3))
        await executor.start()
        job = asyncio.create_task(executor.play(next(iter(plan.jobs))))
        while not server.requests:
            await asyncio.sleep(0.01)
        executor._workers[0].process.kill()
        with pytest.raises(WorkerDied):
            await job
        ledger = executor._ledger
        assert ledger is not None
        assert (ledger.spent.calls, ledger._in_flight) == (1, 0)
        await executor.close()
