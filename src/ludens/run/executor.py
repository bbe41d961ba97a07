"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

Each executor plays a job and gives back its outcome; what an episode becomes does not depend on which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.player import Outcome, Player


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


class Here(Executor):
    """On the calling event loop."""

    def __init__(self, plan: Plan, concurrency: int = 1) -> None:
        self._player = Player(plan, concurrency)

    async def play(self, job: Job) -> Outcome:
        return await self._player.play(job)

    @property
    def meter(self) -> Meter:
        return self._player.meter

    async def close(self) -> None:
        await self._player.close()


def executor(plan: Plan, *, concurrency: int = 1, workers: int = 0, ray: str | None = None) -> Executor:
    """Where the episodes of a run are played: here unless workers or a Ray address are named."""
    if ray is not None:
        from ludens.run.cluster import OnRay

        return OnRay(plan, ray, workers, concurrency)
    if workers:
        from ludens.run.processes import Processes

        return Processes(plan, workers, concurrency)
    return Here(plan, concurrency)
