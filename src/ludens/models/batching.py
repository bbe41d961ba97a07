"""Dynamic batching: requests that arrive together are answered together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from ludens.core.activity import current_activity

A = TypeVar("A")
B = TypeVar("B")


class Batcher(Generic[A, B]):
    """Collects items and works on them in batches.

    A batch starts when it is full, when every live coroutine of the event loop waits (see
    `ludens.core.activity`), or when its first item has waited for `seconds`.

    Args:
        work: Answers a batch, one result per item; one batch at a time.
        size: The largest batch.
        seconds: How long to wait for further items.
        key: Only items with equal keys share a batch.
        should_split: Whether an error means that the batch was too large; its halves are tried instead.
        in_thread: Whether the work runs in a thread of its own; if not, it blocks the event loop.
    """

    def __init__(
        self,
        work: Callable[[Sequence[A]], Sequence[B]],
        size: int,
        seconds: float,
        key: Callable[[A], object] = lambda item: None,
        should_split: Callable[[Exception], bool] = lambda error: False,
        in_thread: bool = True,
    ) -> None:
        self._work, self._size, self._seconds = work, size, seconds
        self._key, self._should_split = key, should_split
        self._thread = ThreadPoolExecutor(1, "ludens-batch") if in_thread else None
        self._queue: list[tuple[A, asyncio.Future[B]]] = []
        self._full = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, item: A) -> B:
        future: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._queue.append((item, future))
        if len(self._queue) >= self._size:
            self._full.set()
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._run())
        return await future

    def close(self) -> None:
        if self._thread:
            self._thread.shutdown(wait=False)

    async def _run(self) -> None:
        while self._queue:
            if len(self._queue) < self._size:
                await self._wait_for_more()
            await self._answer(self._take())

    async def _wait_for_more(self) -> None:
        self._full.clear()
        events = [asyncio.create_task(self._full.wait()), asyncio.create_task(current_activity().wait_idle())]
        await asyncio.wait(events, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        for event in events:
            event.cancel()

    def _take(self) -> list[tuple[A, asyncio.Future[B]]]:
        """Take the oldest item and those with the same key from the queue; cancelled ones are dropped."""
        waiting = [entry for entry in self._queue if not entry[1].done()]
        key = self._key(waiting[0][0]) if waiting else None
        batch = [entry for entry in waiting if self._key(entry[0]) == key][: self._size]
        futures = {id(future) for _, future in batch}
        self._queue = [entry for entry in waiting if id(entry[1]) not in futures]
        return batch

    async def _answer(self, batch: list[tuple[A, asyncio.Future[B]]]) -> None:
        if not batch:
            return
        items = [item for item, _ in batch]
        try:
            if self._thread:
                results = await asyncio.get_running_loop().run_in_executor(self._thread, self._work, items)
            else:
                results = self._work(items)
        except Exception as error:
            if len(batch) > 1 and self._should_split(error):
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
