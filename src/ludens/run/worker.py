"""What worker processes and Ray actors share: the worker, and the executor that sends jobs to workers."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from secrets import token_hex
from typing import NamedTuple

from ludens.agents import agent_paths, import_agent
from ludens.core.errors import UsageError
from ludens.models.spend import Ledger
from ludens.run.budget import Budget, make_ledger
from ludens.run.executor import Executor
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.task import import_suite


class Report(NamedTuple):
    """What a worker returns."""

    result: Outcome | str
    """The outcome of a job, or the message of a usage error; empty when there is neither."""
    worker: str
    """A random id. A worker that is restarted has another one, and its meter starts at zero."""
    meter: Meter
    """What all jobs of the worker have consumed."""

    def unwrap(self) -> Outcome | str:
        """The result; raises the usage error if it is one."""
        if isinstance(self.result, str) and self.result:
            raise UsageError(self.result)
        return self.result


WorkerArgs = tuple[bytes, str, int, int, Sequence[str]]
"""Plan, suite, concurrency, number of workers, accepted agents."""


class Worker:
    """Plays jobs outside of the main process. Usage errors are returned as text.

    Args:
        plan: The plan as JSON.
        suite: The suite's name, which the user of the main process has accepted.
        concurrency: How many episodes are played here at once.
        workers: How many workers share the rate limits of the models.
        agents: Agents as module:Class, which the user of the main process has accepted.
        ledger: Where every call is reserved; None without a budget.
    """

    def __init__(
        self,
        plan: bytes,
        suite: str,
        concurrency: int,
        workers: int,
        agents: Sequence[str] = (),
        ledger: Ledger | None = None,
    ) -> None:
        self._plan, self._suite, self._agents = plan, suite, agents
        self._shares, self._ledger = (concurrency, workers), ledger
        self._id = token_hex(8)
        self._runner: JobRunner | None = None

    def _get_runner(self) -> JobRunner:
        # Not created in the constructor, whose errors would look to Ray like the death of the actor.
        if self._runner is None:
            import_suite(self._suite)
            for name in self._agents:
                import_agent(name)
            self._runner = JobRunner(Plan.from_json(self._plan), *self._shares, self._ledger)
        return self._runner

    async def ready(self) -> Report:
        """Check that the plan can be played here."""
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
            return self.report(await self._get_runner().play(job))
        except UsageError as error:
            return self.report(str(error))
        except Exception as error:
            reason = f"a worker raised {type(error).__name__}: {error}"
            return self.report(Outcome(job, b"", True, error=reason))

    async def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again."""
        self._get_runner().stop_waiting()

    def report(self, result: Outcome | str = "") -> Report:
        """A result with the current meter."""
        return Report(result, self._id, self._runner.meter if self._runner else Meter())

    async def close(self) -> None:
        """Close every model."""
        if self._runner is not None:
            await self._runner.close()


class WorkerExecutor(Executor):
    """Distributes jobs over workers and adds up their meters. Subclasses start workers and send jobs."""

    def __init__(self, plan: Plan, count: int, concurrency: int, budget: Budget | None = None) -> None:
        self._plan, self._count, self._concurrency = plan, count, concurrency
        self._ledger = make_ledger(budget)
        self._active: Counter[int] = Counter()
        """The number of jobs that each worker is playing."""
        self._meters: dict[str, Meter] = {}
        """By worker id; those of dead workers are kept."""

    @property
    def _concurrency_each(self) -> int:
        return -(-max(self._concurrency, self._count) // self._count)

    @property
    def _worker_args(self) -> WorkerArgs:
        agents = agent_paths(self._plan.players)
        return self._plan.to_json(), self._plan.suite, self._concurrency_each, self._count, agents

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
        self._count_meter(report)
        outcome = report.unwrap()
        assert isinstance(outcome, Outcome)
        return outcome

    def _count_meter(self, report: Report) -> None:
        """Keep the meter of a report, unless a later one of the same worker arrived before it."""
        before, now = self._meters.get(report.worker, Meter()), report.meter
        if (now.calls, now.cached, now.retries) >= (before.calls, before.cached, before.retries):
            self._meters[report.worker] = now

    @property
    def meter(self) -> Meter:
        return Meter.sum(self._meters.values())
