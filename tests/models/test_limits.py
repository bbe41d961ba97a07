"""Rate limits hold in every period, and allow as much as they say."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.models import Answer
from ludens.models.ledger import RateLimiter, SlidingWindow
from tests.models.conftest import Reach, question
from tests.support.model_server import ModelServer


class Clock:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def acquired(window: SlidingWindow, amounts: list[int], clock: Clock) -> list[float]:
    """When each amount is acquired, all requested at once."""

    async def acquire_all() -> list[float]:
        return [(await window.acquire(amount))[0] for amount in amounts]

    original, asyncio.sleep = asyncio.sleep, clock.sleep  # type: ignore[assignment]
    try:
        return asyncio.run(acquire_all())
    finally:
        asyncio.sleep = original


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(5, 60))
def test_no_minute_exceeds_the_limit(amounts: list[int], limit: int) -> None:
    clock = Clock()
    times = acquired(SlidingWindow(limit, clock=lambda: clock.now), amounts, clock)
    for start in times:
        inside = [a for a, t in zip(amounts, times, strict=True) if start <= t < start + 60]
        assert sum(inside) <= limit or len(inside) == 1


def test_the_limit_is_used_fully() -> None:
    clock = Clock()
    assert acquired(SlidingWindow(3, clock=lambda: clock.now), [1] * 7, clock) == pytest.approx(
        [0, 0, 0, 60, 60, 60, 120], abs=0.01
    )


async def test_actual_consumption_replaces_the_estimate() -> None:
    now = [0.0]
    window = SlidingWindow(100, clock=lambda: now[0])
    entry = await window.acquire(90)
    window.adjust(entry, 10)
    await asyncio.wait_for(window.acquire(90), 1)
    now[0] = 61.0
    window.adjust(entry, 1000)
    await asyncio.wait_for(window.acquire(100), 1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(window.acquire(1), 0.01)


async def test_cancelled_call_does_not_block_others() -> None:
    limiter = RateLimiter(4, rpm=1)
    await limiter.acquire(lambda: 0)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(limiter.acquire(lambda: 0), 0.01)


async def left_after(calls: Collection[asyncio.Task[Answer]], count: int) -> set[asyncio.Task[Answer]]:
    """The calls that still wait some time after so many have ended."""
    async with asyncio.timeout(60):
        while sum(call.done() for call in calls) < count:
            await asyncio.sleep(0.01)
    _, waiting = await asyncio.wait(calls, timeout=0.2)
    return waiting


async def test_requests_per_minute(reach: Reach) -> None:
    async with ModelServer() as server:
        model = reach(server, "rpm=3")
        calls = [asyncio.create_task(model.answer(question())) for _ in range(5)]
        waiting = await left_after(calls, 3)
        assert (len(waiting), len(server.requests)) == (2, 3)
        for call in waiting:
            call.cancel()
        await asyncio.wait(waiting)


async def test_limits_are_shared_whatever_the_sampling_parameters(reach: Reach) -> None:
    async with ModelServer(latency=0.01) as server:
        cold, warm = reach(server, "rpm=3"), reach(server, "rpm=3&temperature=1")
        calls = [asyncio.create_task(m.answer(question())) for _ in range(3) for m in (cold, warm)]
        waiting = await left_after(calls, 3)
        assert (len(waiting), len(server.requests)) == (3, 3)
        for call in waiting:
            call.cancel()
        await asyncio.wait(waiting)
        other = reach(server, "rpm=3", name="vllm/other")
        await asyncio.wait_for(other.answer(question()), 60)


async def test_tokens_per_minute(reach: Reach) -> None:
    # Every answer consumes 102 tokens, whatever was estimated.
    async with ModelServer() as server:
        model = reach(server, "tpm=250&max_tokens=40")
        for _ in range(2):
            await asyncio.wait_for(model.answer(question()), 60)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.answer(question()), 0.2)
        assert len(server.requests) == 2


async def test_estimate_counts_without_reported_usage(reach: Reach) -> None:
    async with ModelServer(script=["parts", "parts"]) as server:
        model = reach(server, "tpm=250&max_tokens=200")
        await asyncio.wait_for(model.answer(question()), 60)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.answer(question()), 0.2)
        assert len(server.requests) == 1


async def test_failed_connections_consume_nothing(reach: Reach) -> None:
    async with ModelServer(script=["reset"] * 4) as server:
        model = reach(server, "tpm=1000&max_tokens=400")
        await asyncio.wait_for(model.answer(question()), 60)
        assert len(server.requests) == 5


async def test_concurrency(reach: Reach) -> None:
    async with ModelServer(latency=0.01) as server:
        model = reach(server, "concurrency=5")
        await asyncio.gather(*(model.answer(question()) for _ in range(40)))
        assert server.busiest == 5


def test_estimate_includes_text_pictures_and_output() -> None:
    assert question("x" * 400).estimated_input == (400 + len("Play.")) // 4 + 32 * 48 // 750
