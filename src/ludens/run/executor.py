"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

An executor plays a job and returns its outcome; the episode does not depend on which executor is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan


class WorkerDied(Exception):
    """A worker ended before it returned the outcome of a job."""


class Executor(ABC):
    """Plays jobs somewhere."""

    async def start(self) -> None:
        """Get ready; called on the event loop that will call `play`."""

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
    """Plays on the calling event loop."""

    def __init__(self, plan: Plan, concurrency: int = 1) -> None:
        self._runner = JobRunner(plan, concurrency)

    async def play(self, job: Job) -> Outcome:
        return await self._runner.play(job)

    @property
    def meter(self) -> Meter:
        return self._runner.meter

    async def close(self) -> None:
        await self._runner.close()
