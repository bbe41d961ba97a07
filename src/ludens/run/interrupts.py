"""Ctrl-C once: start nothing more. Twice: stop now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts(first: Callable[[], None]) -> Iterator[None]:
    """Within: the first interruption calls `first`, the second is a `KeyboardInterrupt` wherever we are.

    A plain signal handler and not the loop's: a bot that thinks for a minute keeps the loop, not the signal.
    """
    times = 0
    loop = asyncio.get_running_loop()

    def hit(number: int, frame: FrameType | None) -> None:
        nonlocal times
        times += 1
        if times > 1:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(first)

    try:
        before = signal.signal(signal.SIGINT, hit)
    except ValueError:  # not the main thread: signals are somebody else's business
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
