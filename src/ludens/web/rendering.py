"""What takes long and must not stop the event loop, in threads.

One thread draws all pictures: views and their caches are used by one thread at a time. The addresses take
turns: somebody who wants many pictures delays nobody else by more than one. Other threads make games and
first states (`aside`), which may read files or search for seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from aiohttp import web

from ludens.web.addresses import address_of

MAX_WAITING = 64
"""Of one address."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class _Queue:
    """What waits for one address."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class Renderer:
    """Runs functions in one thread, one of each address in turn; refuses them while too many wait."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "ludens-render")
        self._queues: dict[str, _Queue] = {}

    async def run(self, address: str, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """What the function returns."""
        queue = self._queues.setdefault(address, _Queue())
        if queue.waiting >= MAX_WAITING:
            busy = "The server draws too many pictures for you at once; try again in a moment."
            raise web.HTTPServiceUnavailable(text=busy, headers={"Retry-After": "1"})
        queue.waiting += 1
        try:
            async with queue.turn:
                return await asyncio.wrap_future(self._thread.submit(work, *args, **more))
        finally:
            queue.waiting -= 1
            if not queue.waiting:
                del self._queues[address]

    def close(self) -> None:
        """Finish what runs, and drop what waits."""
        self._thread.shutdown(wait=True, cancel_futures=True)


RENDERER = web.AppKey("renderer", Renderer)


async def render(request: web.Request, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    """What the function returns in the thread that draws, when it is the turn of the request."""
    return await request.app[RENDERER].run(address_of(request), work, *args, **more)


class Makers:
    """Runs functions in several threads; refuses them while too many wait."""

    def __init__(self, threads: int, most: int) -> None:
        self._threads, self._most = ThreadPoolExecutor(threads, "ludens-make"), most
        self._waiting = 0

    async def run(self, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """What the function returns."""
        if self._waiting >= self._most:
            busy = "The server makes too many games at once; try again in a moment."
            raise web.HTTPServiceUnavailable(text=busy, headers={"Retry-After": "1"})
        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._threads.submit(work, *args, **more))
        finally:
            self._waiting -= 1


aside = Makers(4, 1_000).run
"""Runs what makes games, agents and first states."""
