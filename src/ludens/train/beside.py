"""An update beside play: a thread that computes while the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


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
        """The function sees what was computed before, and what comes after sees its results."""
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
