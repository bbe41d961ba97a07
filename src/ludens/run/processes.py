"""Plays episodes in worker processes on this machine, so that several cores are used.

Each worker has a socket. Jobs are sent to it; reports come back as `(key, report)`, where the key is that of
the job, or empty for the first report (ready or not) and for the meter, which is sent regularly.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, Self

from ludens.core.errors import BadOption
from ludens.run.executor import WorkerDied
from ludens.run.plan import Job, Plan
from ludens.run.runtime import blocked_signals, infrequent_gc
from ludens.run.worker import Report, Worker, WorkerExecutor

_NO_JOB = ""
_SECONDS_BETWEEN_METERS = 0.5


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

    def __init__(self, plan: Plan, count: int, concurrency: int = 1) -> None:
        super().__init__(plan, count, concurrency)
        self._workers: list[_WorkerProcess] = []

    async def start(self) -> None:
        self._workers = [self._start_worker() for _ in range(self._count)]
        try:
            for report in await asyncio.gather(*(worker.ready for worker in self._workers)):
                report.unwrap()
        except WorkerDied:
            raise BadOption("worker processes die as soon as they start; try without --workers.") from None

    def _start_worker(self) -> _WorkerProcess:
        return _WorkerProcess(self._worker_args, self._count_meter)

    async def _send(self, worker: int, job: Job) -> Report:
        if self._workers[worker].dead:
            self._workers[worker] = self._start_worker()
        return await self._workers[worker].play(job)

    async def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            await asyncio.gather(worker.listener, return_exceptions=True)
            await asyncio.to_thread(worker.process.join)


class _WorkerProcess:
    """A worker process, the connection to it, and the jobs that it has not returned yet."""

    def __init__(self, args: tuple[Any, ...], on_report: Callable[[Report], None]) -> None:
        ours, theirs = socket.socketpair()
        context = multiprocessing.get_context("spawn")
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, *args), daemon=True)
        resource_tracker.ensure_running()  # else it would start with the signals blocked, and unblock them
        with blocked_signals():
            self.process.start()
        theirs.close()
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Report] = loop.create_future()
        self.dead = False
        self._pending: dict[str, asyncio.Future[Report]] = {_NO_JOB: self.ready}
        self._channel: asyncio.Future[_Channel] = loop.create_task(_Channel.open(ours))
        self.listener = loop.create_task(self._listen(on_report))

    async def play(self, job: Job) -> Report:
        """Send a job and wait for its report."""
        future: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._pending[job.key] = future
        (await self._channel).send(job)
        return await future

    async def _listen(self, on_report: Callable[[Report], None]) -> None:
        channel = await self._channel
        try:
            while True:
                key, report = await channel.receive()
                on_report(report)
                future = self._pending.pop(key, None)
                if future is not None and not future.done():
                    future.set_result(report)
        except (EOFError, OSError):
            pass
        finally:
            self.dead = True
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(WorkerDied("a worker process died"))
                    future.exception()  # marks it as retrieved: nobody may be waiting for it
            await channel.close()


def _serve(connection: socket.socket, *args: Any) -> None:
    """The main function of a worker process: plays jobs until the connection closes."""
    with infrequent_gc():
        asyncio.run(_serve_jobs(connection, Worker(*args)))


async def _serve_jobs(connection: socket.socket, worker: Worker) -> None:
    channel = await _Channel.open(connection)

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
            tasks.add(task := asyncio.create_task(play(await channel.receive())))
            task.add_done_callback(tasks.discard)
    except (EOFError, OSError):  # the main process is gone: further calls would be paid for and lost
        for task in tasks:
            task.cancel()
    await worker.close()
    await channel.close()
