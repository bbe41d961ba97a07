"""An update beside play: a thread that computes while the event loop goes on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

SWITCH_INTERVAL = 5e-5
"""Seconds after which a busy thread lets another one run.

A thread that computes gives up the interpreter at almost every call of torch, and waits that long to get it
back from a thread that plays. With the 5 ms of Python, an update of 0.5 s took 95 s beside a busy thread;
with these it took 1.7 s (H200).
"""


@contextmanager
def quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class SideThread:
    """Runs functions in a thread; on a GPU in a stream of its own, so that neither side waits for the other.

    Args:
        device: Where the functions compute.
    """

    def __init__(self, device: Any) -> None:
        self._stream: Any = None
        if device.type == "cuda":
            import torch

            self._stream = torch.cuda.Stream()  # of the device that this thread uses

    async def run(self, function: Callable[[], T]) -> T:
        """The function sees the results of all earlier work, and later work sees its results."""
        if self._stream is None:
            return await asyncio.to_thread(function)
        import torch

        ours = torch.cuda.current_stream()
        self._stream.wait_stream(ours)
        try:
            return await asyncio.to_thread(self._in_stream, function)
        finally:
            ours.wait_stream(self._stream)

    def _in_stream(self, function: Callable[[], T]) -> T:
        import torch

        with torch.cuda.device(self._stream.device), torch.cuda.stream(self._stream):
            return function()
