"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

Each executor plays a job and gives back its outcome; what an episode becomes does not depend on which.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from ludens.core.errors import MissingExtra, UsageError
from ludens.run.plan import Job, Plan
from ludens.run.player import Outcome, Player


class WorkerDied(Exception):
    """A worker process ended before it gave back the job."""


class Executor(ABC):
    """Somewhere to play jobs."""

    async def start(self) -> None:
        """Get ready; runs on the loop that will call `play`."""

    @abstractmethod
    async def play(self, job: Job) -> Outcome:
        """Play one job."""

    async def close(self) -> None:
        """Stop everything that was started."""


class Here(Executor):
    """On the calling event loop."""

    def __init__(self, plan: Plan) -> None:
        self._player = Player(plan)

    async def play(self, job: Job) -> Outcome:
        return await self._player.play(job)

    async def close(self) -> None:
        await self._player.close()


class _Worker:
    """One child process, its pipe, and the jobs it holds."""

    def __init__(self, plan: Plan, loop: asyncio.AbstractEventLoop) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(plan.to_json(), theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.held: dict[str, asyncio.Future[Outcome]] = {}
        self._loop = loop
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                key, result = pickle.loads(self.pipe.recv_bytes())
            except (EOFError, OSError):
                self._post(None, WorkerDied("a worker process died"))
                return
            self._post(key, result)

    def _post(self, key: str | None, result: Outcome | Exception) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, key, result)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    def _settle(self, key: str | None, result: Outcome | Exception) -> None:
        waiting = [self.held.pop(key)] if key in self.held else [] if key else list(self.held.values())
        if key is None:
            self.held.clear()
        for future in waiting:
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    @property
    def alive(self) -> bool:
        return self.process.is_alive()


class Processes(Executor):
    """In worker processes on this machine, so that heavy bots do not hold up the event loop."""

    def __init__(self, plan: Plan, count: int) -> None:
        self._plan = plan
        self._count = count
        self._workers: list[_Worker] = []

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._workers = [_Worker(self._plan, loop) for _ in range(self._count)]

    async def play(self, job: Job) -> Outcome:
        worker = min(self._workers, key=lambda w: len(w.held))
        if not worker.alive:
            loop = asyncio.get_running_loop()
            fresh = _Worker(self._plan, loop)
            self._workers[self._workers.index(worker)] = worker = fresh
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        worker.held[job.key] = future
        try:
            worker.pipe.send_bytes(pickle.dumps(job))
        except OSError:
            worker.held.pop(job.key, None)
            raise WorkerDied("a worker process died") from None
        return await future

    async def close(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
            worker.process.join(5)


def _serve(plan: bytes, pipe: Connection) -> None:
    """The life of a worker process: play what comes, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve_jobs(Plan.from_json(plan), pipe))


async def _serve_jobs(plan: Plan, pipe: Connection) -> None:
    player = Player(plan)
    tasks: set[asyncio.Task[None]] = set()

    async def one(job: Job) -> None:
        try:
            result: Outcome | Exception = await player.play(job)
        except UsageError as error:
            result = UsageError(str(error))
        pipe.send_bytes(pickle.dumps((job.key, result)))

    while True:
        try:
            job = pickle.loads(await asyncio.to_thread(pipe.recv_bytes))
        except (EOFError, OSError):
            break
        task = asyncio.create_task(one(job))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()
    await player.close()


class OnRay(Executor):
    """On a Ray cluster: the same jobs in actors, one for every CPU the cluster offers."""

    def __init__(self, plan: Plan, address: str, count: int = 0, concurrency: int = 64) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("running on Ray", "ray") from None
        self._ray = ray
        self._plan, self._address, self._count, self._concurrency = plan, address, count, concurrency
        self._actors: list[Any] = []
        self._held: list[int] = []

    async def start(self) -> None:
        ray = self._ray
        if not ray.is_initialized():
            local = self._address in ("", "local")
            here = {"num_cpus": self._count or None} if local else {"address": self._address}
            ray.init(include_dashboard=False, log_to_driver=False, **here)
        count = self._count or max(1, int(ray.cluster_resources().get("CPU", 1)))
        actor = ray.remote(num_cpus=1, max_concurrency=self._concurrency, max_restarts=-1)(RayPlayer)
        self._actors = [actor.remote(self._plan.to_json()) for _ in range(count)]
        self._held = [0] * count

    async def play(self, job: Job) -> Outcome:
        index = min(range(len(self._actors)), key=self._held.__getitem__)
        self._held[index] += 1
        try:
            result: Outcome | str = await self._actors[index].play.remote(job)
        except self._ray.exceptions.RayError as error:
            raise WorkerDied(f"a Ray worker failed: {type(error).__name__}") from None
        finally:
            self._held[index] -= 1
        if isinstance(result, str):
            raise UsageError(result)
        return result

    async def close(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._ray.shutdown()


class RayPlayer:
    """A player inside a Ray actor."""

    def __init__(self, plan: bytes) -> None:
        self._player = Player(Plan.from_json(plan))

    async def play(self, job: Job) -> Outcome | str:
        """Play one job; the sentence of a usage error comes back as text."""
        try:
            return await self._player.play(job)
        except UsageError as error:
            return str(error)
