"""One thread draws all pictures: games and their caches are used by one thread at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from aiohttp import web

MAX_WAITING = 64
P = ParamSpec("P")
T = TypeVar("T")


class Renderer:
    """Runs functions in the thread; refuses them while too many wait."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "ludens-render")
        self._waiting = 0

    async def run(self, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """What the function returns."""
        if self._waiting >= MAX_WAITING:
            busy = "The server draws too many pictures at once; try again in a moment."
            raise web.HTTPServiceUnavailable(text=busy, headers={"Retry-After": "1"})
        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(work, *args, **more))
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Finish what runs, and drop what waits."""
        self._thread.shutdown(wait=True, cancel_futures=True)


RENDERER = web.AppKey("renderer", Renderer)
