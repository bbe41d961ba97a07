"""Ctrl-C once: start nothing more. Twice: stop now.

SIGTERM counts as a Ctrl-C: schedulers send it some time before they kill.
"""

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
        before = {number: signal.signal(number, hit) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: signals are somebody else's business
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
