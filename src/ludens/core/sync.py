"""Driving coroutines that never wait: without an event loop, and in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_SYNC: ContextVar[bool] = ContextVar("run_sync", default=False)
"""Whether `run_sync` drives this code: nothing may then wait for a thread, even inside an event loop."""


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, such as an episode among bots; needs no event loop."""
    token = _SYNC.set(True)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        _SYNC.reset(token)
    coroutine.close()
    raise RuntimeError("run_sync was given a coroutine that waits")


async def in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, computed in a thread while the event loop goes on.

    Inside `run_sync` it is computed here.
    """
    if _SYNC.get():
        return await coroutine
    return await asyncio.to_thread(run_sync, coroutine)
