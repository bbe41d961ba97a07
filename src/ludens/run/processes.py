"""Plays episodes in worker processes on this machine, so that several cores are used.

Each worker has a socket. Jobs are sent to it; reports come back as `(key, report)`, where the key is that of
the job, or empty for the first report (ready or not) and for the meter, which is sent regularly. With a
budget, workers also send `_Reserve` and `_Settle`, and receive `_Reserved`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Self

from ludens.core.errors import BadOption
from ludens.models.spend import Ledger, Spend
from ludens.run.budget import Budget
from ludens.run.executor import WorkerDied
from ludens.run.jobs import JobRunner
from ludens.run.plan import Job, Plan
from ludens.run.runtime import blocked_signals, infrequent_gc
from ludens.run.worker import Report, Worker, WorkerArgs, WorkerExecutor

_NO_JOB = ""
_SECONDS_BETWEEN_METERS = 0.5


class _Reserve(NamedTuple):
    """A worker asks to reserve a call."""

    number: int
    expected: Spend
    alone: bool


class _Reserved(NamedTuple):
    """The answer to `_Reserve`; the reason is empty if the call is reserved."""

    number: int
    reason: str


class _Settle(NamedTuple):
    """A worker reports what a reserved call has consumed."""

    expected: Spend
    actual: Spend


class _StopWaiting(NamedTuple):
    """Tells a worker to drop calls that only wait to be sent again."""


class _Channel:
    """Sends and receives pickled objects over a socket. Sending never blocks."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, connection: socket.socket) -> Self:
        return cls(*await asyncio.open_unix_connection(sock=connection))

    def send(self, message: object) -> None:
        data = pickle.dumps(message)
        self._writer.write(len(data).to_bytes(8) + data)

    async def receive(self) -> Any:
        """The next object; raises `EOFError` or `OSError` when the other process is gone."""
        size = int.from_bytes(await self._reader.readexactly(8))
        return pickle.loads(await self._reader.readexactly(size))

    async def close(self) -> None:
        """Send what is buffered, then close."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class ProcessExecutor(WorkerExecutor):
    """A fixed number of worker processes; one that dies is replaced, and its jobs are void."""

    def __init__(self, plan: Plan, count: int, concurrency: int = 1, budget: Budget | None = None) -> None:
        super().__init__(plan, count, concurrency, budget)
        self._workers: list[_WorkerProcess] = []
        self._prober: JobRunner | None = None

    async def start(self) -> None:
        self._workers = [self._start_worker() for _ in range(self._count)]
        try:
            for report in await asyncio.gather(*(worker.ready for worker in self._workers)):
                report.unwrap()
        except WorkerDied:
            raise BadOption("worker processes die as soon as they start; try without --workers.") from None

    async def probe(self) -> None:
        """From this process: workers have the same keys and reach the same servers."""
        self._prober = runner = JobRunner(self._plan, ledger=self._ledger)
        try:
            await runner.probe()
        finally:
            self._meters["probe"] = runner.meter
            await runner.close()

    def _start_worker(self) -> _WorkerProcess:
        return _WorkerProcess(self._worker_args, self._count_meter, self._ledger)

    async def _send(self, worker: int, job: Job) -> Report:
        if self._workers[worker].dead:
            self._workers[worker] = self._start_worker()
        return await self._workers[worker].play(job)

    def stop_waiting(self) -> None:
        if self._prober is not None:
            self._prober.stop_waiting()
        for worker in self._workers:
            worker.stop_waiting()

    async def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            await asyncio.gather(worker.listener, return_exceptions=True)
            await asyncio.to_thread(worker.process.join)


class _WorkerProcess:
    """A worker process, the connection to it, and the jobs that it has not returned yet."""

    def __init__(self, args: WorkerArgs, on_report: Callable[[Report], None], ledger: Ledger | None) -> None:
        ours, theirs = socket.socketpair()
        context = multiprocessing.get_context("spawn")
        self.process: BaseProcess = context.Process(
            target=_serve, args=(theirs, ledger is not None, args), daemon=True
        )
        resource_tracker.ensure_running()  # else it would start with the signals blocked, and unblock them
        with blocked_signals():
            self.process.start()
        theirs.close()
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Report] = loop.create_future()
        self.dead = False
        self._ledger, self._reserved = ledger, list[Spend]()
        self._reserving: set[asyncio.Task[None]] = set()
        self._pending: dict[str, asyncio.Future[Report]] = {_NO_JOB: self.ready}
        self._channel: asyncio.Future[_Channel] = loop.create_task(_Channel.open(ours))
        self.listener = loop.create_task(self._listen(on_report))

    async def play(self, job: Job) -> Report:
        """Send a job and wait for its report."""
        future: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._pending[job.key] = future
        (await self._channel).send(job)
        return await future

    def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again."""
        if self._channel.done() and not self.dead:
            self._channel.result().send(_StopWaiting())

    async def _listen(self, on_report: Callable[[Report], None]) -> None:
        channel = await self._channel
        try:
            while True:
                message = await channel.receive()
                if isinstance(message, _Reserve):
                    self._reserving.add(task := asyncio.create_task(self._reserve(channel, message)))
                    task.add_done_callback(self._reserving.discard)
                    continue
                if isinstance(message, _Settle):
                    self._settle(message)
                    continue
                key, report = message
                on_report(report)
                future = self._pending.pop(key, None)
                if future is not None and not future.done():
                    future.set_result(report)
        except (EOFError, OSError):
            pass
        finally:
            self.dead = True
            for task in self._reserving:
                task.cancel()
            for expected in list(self._reserved):  # nobody knows what these calls have consumed
                self._settle(_Settle(expected, expected))
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(WorkerDied("a worker process died"))
                    future.exception()  # marks it as retrieved: nobody may be waiting for it
            await channel.close()

    async def _reserve(self, channel: _Channel, message: _Reserve) -> None:
        assert self._ledger is not None
        reason = await self._ledger.reserve(message.expected, message.alone)
        if not reason:
            self._reserved.append(message.expected)
        channel.send(_Reserved(message.number, reason))

    def _settle(self, message: _Settle) -> None:
        assert self._ledger is not None
        self._reserved.remove(message.expected)
        self._ledger.settle(*message)


class _RemoteLedger(Ledger):
    """The ledger of the main process, used by a worker."""

    def __init__(self, channel: _Channel) -> None:
        self._channel, self._numbers = channel, count()
        self._waiting: dict[int, asyncio.Future[str]] = {}

    async def reserve(self, expected: Spend, alone: bool) -> str:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[number := next(self._numbers)] = future
        self._channel.send(_Reserve(number, expected, alone))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(lambda granted: self._release(granted, expected))
            raise

    def _release(self, granted: asyncio.Future[str], expected: Spend) -> None:
        """Release a reservation that is no longer needed."""
        if not granted.cancelled() and not granted.result():
            self.settle(expected, Spend())

    def settle(self, expected: Spend, actual: Spend) -> None:
        self._channel.send(_Settle(expected, actual))

    def reserved(self, message: _Reserved) -> None:
        """The main process has answered."""
        self._waiting.pop(message.number).set_result(message.reason)


def _serve(connection: socket.socket, limited: bool, args: WorkerArgs) -> None:
    """The main function of a worker process: plays jobs until the connection closes."""
    with infrequent_gc():
        asyncio.run(_serve_jobs(connection, limited, args))


async def _serve_jobs(connection: socket.socket, limited: bool, args: WorkerArgs) -> None:
    channel = await _Channel.open(connection)
    ledger = _RemoteLedger(channel) if limited else None
    worker = Worker(*args, ledger)

    async def play(job: Job) -> None:
        channel.send((job.key, await worker.play(job)))

    async def send_meters() -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_METERS)
            channel.send((_NO_JOB, worker.report()))

    ready = await worker.ready()
    channel.send((_NO_JOB, ready))
    if ready.result:
        return await channel.close()
    tasks = {asyncio.create_task(send_meters())}
    try:
        while True:
            message = await channel.receive()
            if isinstance(message, _Reserved):
                assert ledger is not None
                ledger.reserved(message)
            elif isinstance(message, _StopWaiting):
                await worker.stop_waiting()
            else:
                tasks.add(task := asyncio.create_task(play(message)))
                task.add_done_callback(tasks.discard)
    except (EOFError, OSError):  # the main process is gone: further calls would be paid for and lost
        for task in tasks:
            task.cancel()
    await worker.close()
    await channel.close()
