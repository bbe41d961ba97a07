"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

An executor plays a job and returns its outcome; the episode does not depend on which executor is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ludens.run.budget import Budget, make_ledger
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan


class WorkerDied(Exception):
    """A worker ended before it returned the outcome of a job."""


class Executor(ABC):
    """Plays jobs somewhere."""

    async def start(self) -> None:
        """Get ready; called on the event loop that will call `play`."""

    async def probe(self) -> None:
        """Send each network model one small request; raises what is wrong with it."""

    @abstractmethod
    async def play(self, job: Job) -> Outcome:
        """Play one job; a `UsageError` ends the run, `WorkerDied` voids the job."""

    @property
    @abstractmethod
    def meter(self) -> Meter:
        """What models have consumed, as far as is known here."""

    def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again; requests in flight are finished."""

    async def close(self) -> None:
        """Stop everything that was started."""


class InProcess(Executor):
    """Plays on the calling event loop."""

    def __init__(self, plan: Plan, concurrency: int = 1, budget: Budget | None = None) -> None:
        self._runner = JobRunner(plan, concurrency, ledger=make_ledger(budget))

    async def probe(self) -> None:
        await self._runner.probe()

    async def play(self, job: Job) -> Outcome:
        return await self._runner.play(job)

    @property
    def meter(self) -> Meter:
        return self._runner.meter

    def stop_waiting(self) -> None:
        self._runner.stop_waiting()

    async def close(self) -> None:
        await self._runner.close()
