"""Where episodes are played: on this event loop, in worker processes, or on a Ray cluster.

An executor plays a job and returns its outcome; the episode does not depend on which executor is used.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from ludens.models.specs import ModelSpec, is_model
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.task import MODEL

EPISODES_PER_PROCESS = 128
"""Concurrent episodes of models that one process can draw and send without being a bottleneck."""


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


def make_executor(plan: Plan, *, concurrency: int = 1, workers: int = 0, ray: str | None = None) -> Executor:
    """The executor of a run: in this process unless workers or a Ray address are given."""
    if ray is not None:
        from ludens.run.ray_executor import RayExecutor

        return RayExecutor(plan, ray, workers, concurrency)
    if workers:
        from ludens.run.processes import ProcessExecutor

        return ProcessExecutor(plan, workers, concurrency)
    return InProcess(plan, concurrency)


def default_workers(plan: Plan, concurrency: int) -> int:
    """How many worker processes to use by default: several only for many concurrent calls to remote models.

    A limit in a spec bounds the concurrent calls, and cannot be shared by more processes than it allows.
    """
    seated = {spec for task in plan.chosen.values() for seats in task.seatings for spec in seats.values()}
    specs = {spec for spec in (seated - {MODEL}) | set(plan.entrants.values()) if not spec.startswith("bot/")}
    models = [ModelSpec.parse(spec) for spec in specs if is_model(spec)]
    if not models or len(models) < len(specs) or not all(model.is_network for model in models):
        return 0
    limits = [model.limit for model in models if model.limit is not None]
    return workers_for(min([concurrency, *limits]))


def workers_for(calls: int) -> int:
    """How many worker processes so many concurrent calls need on this machine; 0 if this process suffices."""
    count = min(calls // EPISODES_PER_PROCESS, _cores())
    return count if count > 1 else 0


def _cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1
