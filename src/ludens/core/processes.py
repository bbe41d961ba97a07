"""The cores of this machine, and work that is split over processes."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Self, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GC_THRESHOLDS = (20_000, 10, 100)

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many cores this process may use; all of the machine where the system cannot tell."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1


class WorkerDied(Exception):
    """A worker ended before it returned the result of its work."""


@contextmanager
def infrequent_gc() -> Iterator[None]:
    """Collect cyclic garbage less often.

    Hundreds of concurrent episodes create many objects that live for a while and hardly any cycles; with the
    default thresholds a tenth of the time is spent looking for them.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block SIGINT and SIGTERM; a process started meanwhile inherits the mask and never receives them.

    Terminals, `timeout` and schedulers send them to every process of a run; the main process decides. Where
    signals cannot be blocked (Windows), Ctrl-C reaches every process.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else it would start with the signals blocked, and unblock them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerPool:
    """Processes for several rounds of work. They are killed when it is closed, and end when the process that
    started them was killed.

    Args:
        workers: Number of processes.
        start: Called in every process first, with `args`.
        args: See `start`.
    """

    def __init__(
        self, workers: int, start: Callable[..., None] | None = None, args: tuple[Any, ...] = ()
    ) -> None:
        self._executor = ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker, (start, args))
        self._processes: dict[int, BaseProcess] = {}

    def submit(self, work: Callable[[T], R], item: T) -> Future[R]:
        with blocked_signals():
            future = self._executor.submit(work, item)
        self._processes.update(self._executor._processes or {})  # a broken pool forgets them
        return future

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Wait for results in it.

        Raises:
            WorkerDied: A process was killed.
        """
        try:
            yield
        except BrokenProcessPool:
            for process in self._processes.values():
                process.kill()
            # The pool's own thread waits for them: of two threads that do, one may not learn the code.
            self._executor.shutdown()
            codes = [process.exitcode for process in self._processes.values() if process.exitcode]
            raise WorkerDied(f"a worker process ended with code {max(codes, default=1)}") from None

    def finish(self) -> None:
        """All work is done: the processes end by themselves."""
        self._executor.shutdown()

    def close(self) -> None:
        processes = list((self._executor._processes or {}).values())
        # Nothing is cancelled: the pool, which notices that its processes are gone, would stumble over it.
        self._executor.shutdown(wait=False)
        for process in processes:
            process.kill()  # they block SIGTERM

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def run_in_processes(
    work: Callable[[T], R],
    items: Iterable[T],
    workers: int,
    *,
    ordered: bool = True,
    start: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
) -> Iterator[tuple[T, R]]:
    """Yield every item with its result.

    Only some more items than there are processes are taken in advance. The processes are killed when the
    iteration ends early.

    Args:
        work: A function of a module.
        items: What is worked on.
        workers: Number of processes.
        ordered: Whether results come in the order of the items, or as they are known.
        start: Called in every process first, with `args`.
        args: See `start`.

    Raises:
        WorkerDied: A process was killed.
    """
    source, waiting = iter(items), dict[Future[R], T]()
    with WorkerPool(workers, start, args) as pool, pool.watched():
        while True:
            for item in islice(source, max(0, 2 * workers - len(waiting))):
                waiting[pool.submit(work, item)] = item
            if not waiting:
                pool.finish()
                return
            first = next(iter(waiting))
            for future in [first] if ordered else wait(waiting, return_when=FIRST_COMPLETED).done:
                result = future.result()
                yield waiting.pop(future), result


def _begin_worker(start: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    """The first thing that a worker does: it ends with the process that started it, and calls `start`."""
    Thread(target=_end_with_parent, daemon=True).start()
    if start is not None:
        start(*args)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
