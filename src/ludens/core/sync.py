"""Driving coroutines that never wait: without an event loop, and in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, such as an episode among bots; needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("run_sync was given a coroutine that waits")


async def in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, computed in a thread while the event loop goes on.

    Without an event loop (`run_sync`) it is computed here.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return await coroutine
    return await asyncio.to_thread(run_sync, coroutine)
