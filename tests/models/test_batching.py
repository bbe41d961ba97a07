"""Asks that arrive together are answered together, and each gets its own answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from ludens.models.batching import Batcher


class Kitchen:
    """Squares numbers, and remembers what was cooked together."""

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
async def kitchen() -> Kitchen:
    return Kitchen()


Make = Callable[..., Batcher[int, int]]


@pytest.fixture
async def make(kitchen: Kitchen) -> AsyncIterator[Make]:
    made: list[Batcher[int, int]] = []

    def batcher(size: int = 4, seconds: float = 0.02, **more: object) -> Batcher[int, int]:
        made.append(Batcher(kitchen.work, size, seconds, **more))  # type: ignore[arg-type]
        return made[-1]

    yield batcher
    for one in made:
        one.close()


async def test_company_shares_a_batch_up_to_its_size(kitchen: Kitchen, make: Make) -> None:
    batcher = make()
    results = await asyncio.gather(*map(batcher.ask, range(10)))
    assert results == [n * n for n in range(10)]
    assert kitchen.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


async def test_who_comes_alone_is_served_alone(kitchen: Kitchen, make: Make) -> None:
    batcher = make(seconds=0.0)
    assert [await batcher.ask(n) for n in range(3)] == [0, 1, 4]
    assert kitchen.batches == [[0], [1], [2]]


async def test_only_likes_share_a_batch(kitchen: Kitchen, make: Make) -> None:
    batcher = make(alike=lambda n: n % 2)
    assert await asyncio.gather(*map(batcher.ask, range(6))) == [0, 1, 4, 9, 16, 25]
    assert kitchen.batches == [[0, 2, 4], [1, 3, 5]]


async def test_an_error_reaches_everybody_in_the_batch_and_nobody_else(make: Make) -> None:
    batcher = make(size=2)
    results = await asyncio.gather(*map(batcher.ask, [1, 13, 2, 3]), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError, int, int]


async def test_a_batch_that_is_too_large_is_halved(kitchen: Kitchen, make: Make) -> None:
    batcher = make(splits=lambda error: isinstance(error, MemoryError))
    assert await asyncio.gather(*map(batcher.ask, [1, 2, 99, 3])) == [1, 4, 9801, 9]
    assert kitchen.batches == [[1, 2, 99, 3], [1, 2], [99, 3]]


async def test_who_stops_waiting_is_not_cooked_for(kitchen: Kitchen, make: Make) -> None:
    batcher = make()
    gone, stays = asyncio.create_task(batcher.ask(5)), asyncio.create_task(batcher.ask(6))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 36
    assert kitchen.batches == [[6]]
