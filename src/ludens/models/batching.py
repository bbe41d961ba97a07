"""Asks that arrive together are answered together: what a model in this process needs to be fast."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Batcher(Generic[A, B]):
    """Collects what is asked within a moment and works on it at once, in a thread of its own.

    Args:
        work: Answers a batch, one result for each item; runs in the thread, never twice at the same time.
        size: The largest batch.
        seconds: How long to wait for company.
        alike: Only items with the same value share a batch.
        splits: Whether an error means that the batch was too large: its halves are tried instead.
    """

    def __init__(
        self,
        work: Callable[[Sequence[A]], Sequence[B]],
        size: int,
        seconds: float,
        alike: Callable[[A], object] = lambda item: None,
        splits: Callable[[Exception], bool] = lambda error: False,
    ) -> None:
        self._work, self._size, self._seconds = work, size, seconds
        self._alike, self._splits = alike, splits
        self._thread = ThreadPoolExecutor(1, "ludens-batch")
        self._queue: list[tuple[A, asyncio.Future[B]]] = []
        self._full = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, item: A) -> B:
        """The result for one item, whoever shares its batch."""
        future: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._queue.append((item, future))
        if len(self._queue) >= self._size:
            self._full.set()
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._run())
        return await future

    def close(self) -> None:
        """Let go of the thread, once what it works on is done."""
        self._thread.shutdown(wait=False)

    async def _run(self) -> None:
        while self._queue:
            if len(self._queue) < self._size:
                self._full.clear()
                try:
                    await asyncio.wait_for(self._full.wait(), self._seconds)
                except TimeoutError:
                    pass
            await self._answer(self._take())

    def _take(self) -> list[tuple[A, asyncio.Future[B]]]:
        """The oldest item and those like it; who no longer waits is forgotten."""
        waiting = [entry for entry in self._queue if not entry[1].done()]
        kind = self._alike(waiting[0][0]) if waiting else None
        batch = [entry for entry in waiting if self._alike(entry[0]) == kind][: self._size]
        taken = {id(future) for _, future in batch}
        self._queue = [entry for entry in waiting if id(entry[1]) not in taken]
        return batch

    async def _answer(self, batch: list[tuple[A, asyncio.Future[B]]]) -> None:
        if not batch:
            return
        loop, items = asyncio.get_running_loop(), [item for item, _ in batch]
        try:
            results = await loop.run_in_executor(self._thread, self._work, items)
        except Exception as error:
            if len(batch) > 1 and self._splits(error):
                half = len(batch) // 2
                await self._answer(batch[:half])
                await self._answer(batch[half:])
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
