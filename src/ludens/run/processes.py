"""Episodes in worker processes on this machine, so that heavy bots do not hold up one another."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ludens.core.errors import BadOption, UsageError
from ludens.run.collector import rare_collections
from ludens.run.executor import Executor, WorkerDied
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.task import import_suite

_READY = ""
"""Stands where a job's key would: a worker has made its player; from then on, how its meter stands."""
_SECONDS_TO_END = 5.0
_SECONDS_BETWEEN_METERS = 0.5


class ProcessExecutor(Executor):
    """A fixed number of workers; one that dies is replaced, and its jobs are void."""

    def __init__(self, plan: Plan, count: int, concurrency: int = 1) -> None:
        self._plan, self._count = plan, count
        self._each = -(-max(concurrency, count) // count)
        self._workers: list[_Worker] = []
        self._gone = Meter()

    async def start(self) -> None:
        self._workers = [self._start_worker() for _ in range(self._count)]
        try:
            await asyncio.gather(*(worker.ready for worker in self._workers))
        except WorkerDied:
            raise BadOption("worker processes end as soon as they begin; try it without --workers.") from None

    def _start_worker(self) -> _Worker:
        return _Worker(self._plan, self._each, self._count, asyncio.get_running_loop())

    async def play(self, job: Job) -> Outcome:
        worker = min(self._workers, key=lambda w: len(w.held))
        if worker.gone:
            self._gone = Meter.sum((self._gone, worker.meter))
            fresh = self._start_worker()
            self._workers[self._workers.index(worker)] = worker = fresh
        return await worker.play(job)

    @property
    def meter(self) -> Meter:
        return Meter.sum((self._gone, *(worker.meter for worker in self._workers)))

    async def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            await asyncio.to_thread(worker.end)


@contextmanager
def _unheard() -> Iterator[None]:
    """A process started within hears neither Ctrl-C nor SIGTERM, from its first moment on.

    Terminals, `timeout` and schedulers send them to every process of a run; the first one decides.
    """
    resource_tracker.ensure_running()  # else it begins within, and lets them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """One child process, its pipe, and the jobs it holds."""

    def __init__(self, plan: Plan, concurrency: int, count: int, loop: asyncio.AbstractEventLoop) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_serve, args=(plan.to_json(), plan.suite, concurrency, count, theirs), daemon=True
        )
        with _unheard():
            self.process.start()
        theirs.close()
        self.ready: asyncio.Future[Outcome | None] = loop.create_future()
        self.held: dict[str, asyncio.Future[Outcome | None]] = {_READY: self.ready}
        self.meter = Meter()
        self.gone = False
        self._loop = loop
        self._reader = threading.Thread(target=self._read_pipe, daemon=True)
        self._reader.start()

    async def play(self, job: Job) -> Outcome:
        """Send the job over and wait for what becomes of it."""
        future: asyncio.Future[Outcome | None] = self._loop.create_future()
        self.held[job.key] = future
        try:
            self.pipe.send_bytes(pickle.dumps(job))
        except OSError:
            self.held.pop(job.key, None)
            raise WorkerDied("a worker process died") from None
        outcome = await future
        assert outcome is not None
        return outcome

    def end(self) -> None:
        """Wait for the process and its listener, then close the pipe: no one reads from it any more."""
        self.process.join()
        self._reader.join(_SECONDS_TO_END)
        self.pipe.close()

    def _read_pipe(self) -> None:
        """In a thread: hand over what comes through the pipe until it closes."""
        while True:
            try:
                said = pickle.loads(self.pipe.recv_bytes())
            except (EOFError, OSError):
                said = None
            try:
                if said is None:
                    self._loop.call_soon_threadsafe(self._on_exit)
                    return
                self._loop.call_soon_threadsafe(self._settle, *said)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _settle(self, key: str, result: Outcome | UsageError | None, meter: Meter) -> None:
        self.meter = meter
        future = self.held.pop(key, None)
        if future is None or future.done():
            return
        if isinstance(result, UsageError):
            _fail(future, result)
        else:
            future.set_result(result)

    def _on_exit(self) -> None:
        self.gone = True
        for future in self.held.values():
            _fail(future, WorkerDied("a worker process died"))
        self.held.clear()


def _fail(future: asyncio.Future[Outcome | None], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # looked at, since perhaps nobody waits: for a replacement's `ready`, for example


def _serve(plan: bytes, suite: str, concurrency: int, count: int, pipe: Connection) -> None:
    """The life of a worker process: play what comes, until the pipe closes.

    The process that started it has accepted the suite's name, so it may be imported here too.
    """
    with rare_collections():
        asyncio.run(_serve_jobs(plan, suite, concurrency, count, pipe))


async def _serve_jobs(plan: bytes, suite: str, concurrency: int, count: int, pipe: Connection) -> None:
    def say(key: str, result: Outcome | UsageError | None, meter: Meter) -> None:
        try:
            pipe.send_bytes(pickle.dumps((key, result, meter)))
        except OSError:  # the first process is gone: whatever is asked now is paid for and lost
            os._exit(1)

    async def tell() -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_METERS)
            say(_READY, None, player.meter)

    try:
        import_suite(suite)
        player = JobRunner(Plan.from_json(plan), concurrency, count)
        player.check()
    except UsageError as error:
        return say(_READY, UsageError(str(error)), Meter())
    say(_READY, None, Meter())

    async def one(job: Job) -> None:
        try:
            result: Outcome | UsageError = await player.play(job)
        except UsageError as error:
            result = UsageError(str(error))
        say(job.key, result, player.meter)

    telling = asyncio.create_task(tell())
    tasks: set[asyncio.Task[None]] = set()
    while True:
        try:
            job = pickle.loads(await asyncio.to_thread(pipe.recv_bytes))
        except (EOFError, OSError):
            break
        task = asyncio.create_task(one(job))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in (telling, *tasks):
        task.cancel()
    await player.close()
