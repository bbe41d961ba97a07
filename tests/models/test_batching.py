"""Batching: items that arrive together share a batch, and each gets its own result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from ludens.core.activity import current_activity
from ludens.models.batching import Batcher


class Squares:
    """Squares numbers and records the batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def work(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        if len(items) > 3 and 99 in items:
            raise MemoryError("too many")
        if 13 in items:
            raise ValueError("unlucky")
        return [item * item for item in items]


@pytest.fixture
async def squares() -> Squares:
    return Squares()


Make = Callable[..., Batcher[int, int]]


@pytest.fixture
async def make(squares: Squares) -> AsyncIterator[Make]:
    made: list[Batcher[int, int]] = []

    def batcher(size: int = 4, seconds: float = 0.02, **more: object) -> Batcher[int, int]:
        made.append(Batcher(squares.work, size, seconds, **more))  # type: ignore[arg-type]
        return made[-1]

    yield batcher
    for one in made:
        one.close()


async def test_batches_up_to_the_size(squares: Squares, make: Make) -> None:
    batcher = make()
    results = await asyncio.gather(*map(batcher.ask, range(10)))
    assert results == [n * n for n in range(10)]
    assert squares.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("in_thread", [True, False])
async def test_work_in_a_thread_or_in_the_event_loop(in_thread: bool) -> None:
    threads = set()

    def work(items: Sequence[int]) -> list[int]:
        threads.add(threading.current_thread())
        if 13 in items:
            raise ValueError("unlucky")
        return [-item for item in items]

    batcher: Batcher[int, int] = Batcher(work, 2, 0.02, in_thread=in_thread)
    results = await asyncio.gather(*map(batcher.ask, [1, 2, 13, 4, 5]), return_exceptions=True)
    batcher.close()
    assert (results[:2], results[4]) == ([-1, -2], -5)
    assert [type(result) for result in results[2:4]] == [ValueError, ValueError]
    assert (threads == {threading.main_thread()}) == (not in_thread)


async def test_single_items(squares: Squares, make: Make) -> None:
    batcher = make(seconds=0.0)
    assert [await batcher.ask(n) for n in range(3)] == [0, 1, 4]
    assert squares.batches == [[0], [1], [2]]


async def test_only_equal_keys_share_a_batch(squares: Squares, make: Make) -> None:
    batcher = make(key=lambda n: n % 2)
    assert await asyncio.gather(*map(batcher.ask, range(6))) == [0, 1, 4, 9, 16, 25]
    assert squares.batches == [[0, 2, 4], [1, 3, 5]]


async def test_error_reaches_its_batch_only(make: Make) -> None:
    batcher = make(size=2)
    results = await asyncio.gather(*map(batcher.ask, [1, 13, 2, 3]), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError, int, int]


async def test_too_large_batch_is_halved(squares: Squares, make: Make) -> None:
    batcher = make(should_split=lambda error: isinstance(error, MemoryError))
    assert await asyncio.gather(*map(batcher.ask, [1, 2, 99, 3])) == [1, 4, 9801, 9]
    assert squares.batches == [[1, 2, 99, 3], [1, 2], [99, 3]]


async def test_cancelled_items_are_dropped(squares: Squares, make: Make) -> None:
    batcher = make()
    gone, stays = asyncio.create_task(batcher.ask(5)), asyncio.create_task(batcher.ask(6))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 36
    assert squares.batches == [[6]]


async def ask(batcher: Batcher[int, int], item: int) -> int:
    """As an episode asks: it waits."""
    with current_activity().waiting():
        return await batcher.ask(item)


async def test_batch_starts_when_every_episode_waits(squares: Squares, make: Make) -> None:
    batcher = make(size=99, seconds=60.0)

    async def episode(number: int, moves: int) -> None:
        with current_activity().running():
            for move in range(moves):
                assert await ask(batcher, 10 * number + move) == (10 * number + move) ** 2

    async with asyncio.timeout(50):
        await asyncio.gather(episode(1, 3), episode(2, 1), episode(3, 2))
    assert [sorted(batch) for batch in squares.batches] == [[10, 20, 30], [11, 31], [12]]


async def test_batch_waits_for_a_running_episode(squares: Squares, make: Make) -> None:
    batcher = make(size=99, seconds=60.0)

    async def episode(number: int, seconds: float) -> None:
        with current_activity().running():
            await asyncio.sleep(seconds)
            await ask(batcher, number)

    async with asyncio.timeout(50):
        await asyncio.gather(episode(1, 0.0), episode(2, 0.05))
    assert squares.batches == [[1, 2]]


async def test_seats_that_act_at_once_share_a_batch(squares: Squares, make: Make) -> None:
    batcher = make(size=99, seconds=60.0)

    async def episode(number: int) -> None:
        activity = current_activity()
        with activity.running():
            for step in range(2):
                await activity.gather(*(ask(batcher, 100 * step + 10 * number + seat) for seat in range(3)))

    async with asyncio.timeout(50):
        await asyncio.gather(*map(episode, range(2)))
    assert [sorted(batch) for batch in squares.batches] == [
        [0, 1, 2, 10, 11, 12],
        [100, 101, 102, 110, 111, 112],
    ]


async def test_full_batches_do_not_wait_for_running_episodes(squares: Squares, make: Make) -> None:
    batcher = make(size=2, seconds=60.0)
    with current_activity().running():
        async with asyncio.timeout(50):
            assert await asyncio.gather(batcher.ask(1), batcher.ask(2)) == [1, 4]


async def test_gather_time_ends_the_wait_for_a_running_episode(squares: Squares, make: Make) -> None:
    batcher = make(size=9, seconds=0.02)
    with current_activity().running():
        async with asyncio.timeout(50):
            assert await batcher.ask(3) == 9
