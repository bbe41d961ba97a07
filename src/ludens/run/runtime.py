"""Process-wide settings that a run changes while it lasts: signal handlers and the garbage collector."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SAME_SIGNAL_SECONDS = 1.0
_GC_THRESHOLDS = (20_000, 10, 100)


@contextmanager
def interrupts(on_first: Callable[[], None]) -> Iterator[None]:
    """Handle SIGINT and SIGTERM: the first calls `on_first`, the second raises `KeyboardInterrupt` at once.

    Signals within a second of the first are ignored: `timeout` sends its signal twice, to the process and to
    its group.
    Schedulers send SIGTERM some time before they kill. This is a plain signal handler and not the event
    loop's, because a bot that searches for a minute blocks the loop, but not the signal.
    """
    first: float | None = None
    loop = asyncio.get_running_loop()

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if first is not None:
            if monotonic() - first < SAME_SIGNAL_SECONDS:
                return
            raise KeyboardInterrupt
        first = monotonic()
        loop.call_soon_threadsafe(on_first)

    try:
        before = {number: signal.signal(number, handle) for number in SIGNALS}
    except ValueError:  # not the main thread, which alone may set handlers
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            if first is not None and monotonic() - first < SAME_SIGNAL_SECONDS:
                signal.signal(number, partial(_after_run, handler, first))
            else:
                signal.signal(number, handler)


def _after_run(handler: Any, first: float, number: int, frame: FrameType | None) -> None:
    """Ignore the repetition of a signal when the run has ended meanwhile; later signals are delivered."""
    if monotonic() - first >= SAME_SIGNAL_SECONDS:
        signal.signal(number, handler)
        signal.raise_signal(number)


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block SIGINT and SIGTERM; a process started meanwhile inherits the mask and never receives them.

    Terminals, `timeout` and schedulers send them to every process of a run; the main process decides.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def infrequent_gc() -> Iterator[None]:
    """Freeze the objects that exist and collect cyclic garbage less often.

    Hundreds of concurrent episodes create many objects that live for a while and hardly any cycles; with the
    default thresholds a tenth of the time is spent looking for them.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
