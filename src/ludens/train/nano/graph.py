"""CUDA graphs: many small kernels launched at once."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


class Graphs:
    """Makes graphs, one after the other, in the same memory: earlier ones must not be called any more."""

    def __init__(self) -> None:
        self._last: torch.cuda.CUDAGraph | None = None

    @staticmethod
    def on(device: torch.device) -> Graphs | None:
        """Graphs where there can be any: on GPUs of NVIDIA."""
        return Graphs() if device.type == "cuda" else None

    def capture(self, function: Callable[[], None]) -> torch.cuda.CUDAGraph:
        """The kernels of a function, which do not run meanwhile. Other threads may use the GPU."""
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        pool = None if self._last is None else self._last.pool()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), no_collection():
            graph.capture_begin(pool, capture_error_mode="thread_local")
            try:
                function()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        self._last = graph
        return graph


@contextmanager
def no_collection() -> Iterator[None]:
    """No garbage is collected meanwhile: an old graph that is freed during a capture ends the capture."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Graphed:
    """A function without arguments that changes tensors in place.

    The first call runs it, so that libraries are set up; the second captures its kernels; that and every
    later call launch all of them at once.
    """

    def __init__(self, function: Callable[[], None], graphs: Graphs) -> None:
        self._function, self._graphs = function, graphs
        self._warm = False
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if not self._warm:
            self._function()
            self._warm = True
            return
        if self._graph is None:
            self._graph = self._graphs.capture(self._function)
        self._graph.replay()
