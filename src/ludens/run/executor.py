"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

Each executor plays a job and gives back its outcome; what an episode becomes does not depend on which.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from ludens.core.spec import parse_spec
from ludens.models import NETWORK
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.task import MODEL


class WorkerDied(Exception):
    """A worker ended before it gave back the job."""


class Executor(ABC):
    """Somewhere to play jobs."""

    async def start(self) -> None:
        """Get ready; runs on the loop that will call `play`."""

    @abstractmethod
    async def play(self, job: Job) -> Outcome:
        """Play one job; a `UsageError` ends the run, `WorkerDied` voids the job."""

    @property
    @abstractmethod
    def meter(self) -> Meter:
        """What models have consumed, as far as is known here."""

    async def close(self) -> None:
        """Stop everything that was started."""


class InProcess(Executor):
    """On the calling event loop."""

    def __init__(self, plan: Plan, concurrency: int = 1) -> None:
        self._player = JobRunner(plan, concurrency)

    async def play(self, job: Job) -> Outcome:
        return await self._player.play(job)

    @property
    def meter(self) -> Meter:
        return self._player.meter

    async def close(self) -> None:
        await self._player.close()


EPISODES_A_PROCESS = 128
"""Episodes of models in flight that one process draws and asks for without being always busy."""


def processes(flying: int) -> int:
    """How many processes so many models in flight want on this machine; 0 where this one will do."""
    wanted = min(flying // EPISODES_A_PROCESS, _cores())
    return wanted if wanted > 1 else 0


def _cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def fitting(plan: Plan, flying: int) -> int:
    """Processes for a run if nobody says how many: only many calls to models elsewhere want several.

    A limit in a spec keeps calls from flying, and cannot be shared out among more processes than it allows.
    """
    seated = {spec for task in plan.chosen.values() for seats in task.seatings for spec in seats.values()}
    specs = [parse_spec(spec) for spec in (seated - {MODEL}) | set(plan.entrants.values())]
    asked = {spec.kind for spec in specs} - {"bot"}
    if not asked or not asked <= NETWORK:
        return 0
    given = [spec.options.get(name, "") for spec in specs for name in ("concurrency", "rpm")]
    return processes(min([flying, *(int(limit) for limit in given if limit.isdecimal() and int(limit))]))


def executor(plan: Plan, *, concurrency: int = 1, workers: int = 0, ray: str | None = None) -> Executor:
    """Where the episodes of a run are played: here unless workers or a Ray address are named."""
    if ray is not None:
        from ludens.run.ray_executor import RayExecutor

        return RayExecutor(plan, ray, workers, concurrency)
    if workers:
        from ludens.run.processes import ProcessExecutor

        return ProcessExecutor(plan, workers, concurrency)
    return InProcess(plan, concurrency)
