"""Worker processes that play episodes, and what they share with actors of Ray."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import signal
import socket
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from multiprocessing.process import BaseProcess
from secrets import token_hex
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple, Self

from ludens.agents import agent_paths, import_agent
from ludens.core.episode import Usage
from ludens.core.errors import BadOption, UsageError
from ludens.core.processes import SIGNALS, WorkerDied, blocked_signals, infrequent_gc
from ludens.models.ledger import Budget, Ledger, RemoteLedger
from ludens.run.jobs import Executor as Executor
from ludens.run.jobs import JobRunner
from ludens.run.plan import Job, Plan
from ludens.run.rows import Outcome, unplayed
from ludens.run.store import Destination, ShardWriter, Store
from ludens.run.task import import_suite

SAME_SIGNAL_SECONDS = 1.0


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


class Report(NamedTuple):
    result: Outcome | str
    """The outcome of a job, or the message of a usage error; empty when there is neither."""
    worker: str
    """A random id. A worker that is restarted has another one, and its usage starts at zero."""
    usage: Usage
    """What all jobs of the worker have spent."""
    counts: Counter[str]

    def unwrap(self) -> Outcome | str:
        """The result; raises the usage error if it is one."""
        if isinstance(self.result, str) and self.result:
            raise UsageError(self.result)
        return self.result


WorkerArgs = tuple[bytes, str, int, int, Sequence[str], Destination | None]
"""Plan, suite, concurrency, number of workers, accepted agents, where episodes are stored."""


class Worker:
    """Plays jobs outside of the main process. Usage errors are returned as text.

    Suite and agents (module:Class) are those that the user of the main process has accepted; so many workers
    share the rate limits of the models. Without a destination, episodes are returned instead of stored.
    """

    def __init__(
        self,
        plan: bytes,
        suite: str,
        concurrency: int,
        workers: int,
        agents: Sequence[str] = (),
        destination: Destination | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self._plan, self._suite, self._agents = plan, suite, agents
        self._shares, self._ledger = (concurrency, workers), ledger
        self._id, self._destination = token_hex(8), destination
        self._runner: JobRunner | None = None
        self._shard: ShardWriter | None = None

    def _get_runner(self) -> JobRunner:
        # Not created in the constructor, whose errors would look to Ray like the death of the actor.
        if self._runner is None:
            import_suite(self._suite)
            for name in self._agents:
                import_agent(name)
            self._runner = JobRunner(Plan.from_json(self._plan), *self._shares, self._ledger)
            if self._destination is not None:
                self._shard = ShardWriter(self._destination, self._runner.plan)
        return self._runner

    async def ready(self) -> Report:
        try:
            self._get_runner().check()
        except UsageError as error:
            return self.report(str(error))
        return self.report()

    async def probe(self) -> Report:
        """Send each network model one small request."""
        try:
            await self._get_runner().probe()
        except UsageError as error:
            return self.report(str(error))
        return self.report()

    async def play(self, job: Job) -> Report:
        """Play one job. An unexpected error voids it."""
        try:
            outcome = await self._get_runner().play(job)
            return self.report(self._shard.store(outcome) if self._shard is not None else outcome)
        except UsageError as error:
            return self.report(str(error))
        except Exception as error:
            return self.report(unplayed(job, f"a worker raised {type(error).__name__}: {error}"))

    async def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again."""
        self._get_runner().stop_waiting()

    def report(self, result: Outcome | str = "") -> Report:
        if self._runner is None:
            return Report(result, self._id, Usage(calls=0), Counter())
        return Report(result, self._id, self._runner.usage, self._runner.counts)

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.close()
        if self._shard is not None:
            self._shard.close()


class WorkerExecutor(Executor):
    """Distributes jobs over workers and adds up their usage. Subclasses start workers and send jobs."""

    def __init__(self, plan: Plan, count: int, concurrency: int, budget: Budget | None = None) -> None:
        self._plan, self._count, self._concurrency = plan, count, concurrency
        self._ledger = Ledger.of(budget)
        self._destination: Destination | None = None
        self._active: Counter[int] = Counter()
        self._reports: dict[str, Report] = {}
        """The last one of each worker, by its id; those of dead workers are kept."""

    @property
    def _concurrency_each(self) -> int:
        return -(-max(self._concurrency, self._count) // self._count)

    @property
    def _worker_args(self) -> WorkerArgs:
        agents, shares = agent_paths(self._plan.players), (self._concurrency_each, self._count)
        return self._plan.to_json(), self._plan.suite, *shares, agents, self._destination

    @property
    def _available(self) -> Sequence[int]:
        """The workers that can be sent a job; at least one."""
        return range(self._count)

    @abstractmethod
    async def _send(self, worker: int, job: Job) -> Report:
        """Let a worker play a job; raises `WorkerDied` if it cannot finish."""

    async def play(self, job: Job) -> Outcome:
        worker = min(self._available, key=self._active.__getitem__)
        self._active[worker] += 1
        try:
            report = await self._send(worker, job)
        finally:
            self._active[worker] -= 1
        self._add_report(report)
        outcome = report.unwrap()
        assert isinstance(outcome, Outcome)
        return outcome

    def _add_report(self, report: Report) -> None:
        before = self._reports.setdefault(report.worker, report)
        if (report.usage.calls, report.counts.total()) >= (before.usage.calls, before.counts.total()):
            self._reports[report.worker] = report

    @property
    def usage(self) -> Usage:
        return sum((report.usage for report in self._reports.values()), Usage(calls=0))

    @property
    def counts(self) -> Counter[str]:
        return sum((report.counts for report in self._reports.values()), Counter())


_NO_JOB = ""
_SECONDS_BETWEEN_REPORTS = 0.5


class _Reserve(NamedTuple):
    """A worker asks to reserve a call."""

    number: int
    expected: Usage


class _Reserved(NamedTuple):
    number: int
    reason: str


class _Settle(NamedTuple):
    """A worker reports what a reserved call has consumed."""

    expected: Usage
    actual: Usage


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

    async def start(self, store: Store | None = None) -> None:
        self._destination = store.destination() if store is not None else None
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
            self._add_report(Report("", "probe", runner.usage, runner.counts))
            await runner.close()

    def _start_worker(self) -> _WorkerProcess:
        return _WorkerProcess(self._worker_args, self._add_report, self._ledger)

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
        own_end, worker_end = socket.socketpair()
        context = multiprocessing.get_context("spawn")
        self.process: BaseProcess = context.Process(
            target=_serve, args=(worker_end, ledger is not None, args), daemon=True
        )
        with blocked_signals():
            self.process.start()
        worker_end.close()
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Report] = loop.create_future()
        self.dead = False
        self._ledger, self._reserved = ledger, list[Usage]()
        self._reserving: set[asyncio.Task[None]] = set()
        self._pending: dict[str, asyncio.Future[Report]] = {_NO_JOB: self.ready}
        self._channel: asyncio.Future[_Channel] = loop.create_task(_Channel.open(own_end))
        self.listener = loop.create_task(self._listen(on_report))

    async def play(self, job: Job) -> Report:
        future: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._pending[job.key] = future
        (await self._channel).send(job)
        return await future

    def stop_waiting(self) -> None:
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
            for expected in list(self._reserved):  # what these calls have consumed is unknown
                self._settle(_Settle(expected, expected))
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(WorkerDied("a worker process died"))
                    future.exception()  # marks it as retrieved: nobody may be waiting for it
            await channel.close()

    async def _reserve(self, channel: _Channel, message: _Reserve) -> None:
        assert self._ledger is not None
        reason = await self._ledger.reserve(message.expected)
        if not reason:
            self._reserved.append(message.expected)
        channel.send(_Reserved(message.number, reason))

    def _settle(self, message: _Settle) -> None:
        assert self._ledger is not None
        self._reserved.remove(message.expected)
        self._ledger.settle(*message)


class _ChannelLedger(RemoteLedger):
    """The ledger of the main process, used by a worker."""

    def __init__(self, channel: _Channel) -> None:
        super().__init__()
        self._channel, self._numbers = channel, count()
        self._waiting: dict[int, asyncio.Future[str]] = {}

    def ask(self, expected: Usage) -> asyncio.Future[str]:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[number := next(self._numbers)] = future
        self._channel.send(_Reserve(number, expected))
        return future

    def settle(self, expected: Usage, actual: Usage) -> None:
        self._channel.send(_Settle(expected, actual))

    def reserved(self, message: _Reserved) -> None:
        self._waiting.pop(message.number).set_result(message.reason)


def _serve(connection: socket.socket, limited: bool, args: WorkerArgs) -> None:
    """The main function of a worker process: plays jobs until the connection closes."""
    with infrequent_gc():
        asyncio.run(_serve_jobs(connection, limited, args))


async def _serve_jobs(connection: socket.socket, limited: bool, args: WorkerArgs) -> None:
    channel = await _Channel.open(connection)
    ledger = _ChannelLedger(channel) if limited else None
    worker = Worker(*args, ledger)

    async def play(job: Job) -> None:
        channel.send((job.key, await worker.play(job)))

    async def send_reports() -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_REPORTS)
            channel.send((_NO_JOB, worker.report()))

    ready = await worker.ready()
    channel.send((_NO_JOB, ready))
    if ready.result:
        return await channel.close()
    tasks = {asyncio.create_task(send_reports())}
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
