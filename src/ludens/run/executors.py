"""Choosing the executor of a run."""

from __future__ import annotations

from ludens.core.cores import cores
from ludens.models.specs import ModelSpec, is_model
from ludens.run.budget import Budget
from ludens.run.executor import Executor, InProcess
from ludens.run.plan import Plan
from ludens.run.task import MODEL

EPISODES_PER_PROCESS = 128
"""Concurrent episodes of models that one process can draw and send without being a bottleneck."""


def make_executor(
    plan: Plan,
    *,
    concurrency: int = 1,
    workers: int = 0,
    ray: str | None = None,
    budget: Budget | None = None,
) -> Executor:
    """The executor of a run: in this process unless workers or a Ray address are given."""
    if ray is not None:
        from ludens.run.ray_executor import RayExecutor

        return RayExecutor(plan, ray, workers, concurrency, budget)
    if workers:
        from ludens.run.processes import ProcessExecutor

        return ProcessExecutor(plan, workers, concurrency, budget)
    return InProcess(plan, concurrency, budget)


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
    count = min(calls // EPISODES_PER_PROCESS, cores())
    return count if count > 1 else 0
