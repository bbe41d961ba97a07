"""Plays a run: many episodes at once, saved as they finish, within a budget, stoppable and resumable."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from time import monotonic

from ludens.concurrent import run_many
from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure
from ludens.core.plain import plural
from ludens.core.processes import WorkerDied, cores, infrequent_gc
from ludens.models.ledger import BUDGET_REACHED, Budget, BudgetReached, Ledger
from ludens.models.settings import ModelSpec, is_model
from ludens.run.jobs import Executor, JobRunner
from ludens.run.plan import Job, Plan
from ludens.run.progress import RunProgress, TimeLeft
from ludens.run.rows import EpisodeRow, Outcome, unplayed
from ludens.run.store import Store
from ludens.run.workers import ProcessExecutor, interrupts

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
        return ProcessExecutor(plan, workers, concurrency, budget)
    return JobRunner(plan, concurrency, ledger=Ledger.of(budget))


def default_workers(plan: Plan, concurrency: int) -> int:
    """How many worker processes to use by default: several only for many concurrent calls to remote models.

    A limit in a spec bounds the concurrent calls, and cannot be shared by more processes than it allows.
    """
    specs = {spec for spec in plan.opponents | {*plan.entrants.values()} if not spec.startswith("bot/")}
    models = [ModelSpec.parse(spec) for spec in specs if is_model(spec)]
    if not models or len(models) < len(specs) or not all(model.is_network for model in models):
        return 0
    limits = [model.limit for model in models if model.limit is not None]
    return workers_for(min([concurrency, *limits]))


def workers_for(calls: int) -> int:
    """The number of worker processes for this many concurrent calls; 0 if this process suffices."""
    count = min(calls // EPISODES_PER_PROCESS, cores())
    return count if count > 1 else 0


_SECONDS_BETWEEN_UPDATES = 0.25


@dataclass(frozen=True)
class RunResult:
    complete: bool
    reason: str
    """Why it is not complete; empty if it is."""
    interrupted: bool
    progress: RunProgress
    errors: tuple[str, ...] = ()
    """The last errors of episodes that failed after all retries, each once; empty if it was stopped."""


class Engine:
    """Plays the jobs of a run that are not done yet.

    `estimates` says what one episode of a cell (entrant and task) is estimated to consume; `source` is asked
    for the next jobs when all earlier ones have been played, until it has none; with `probe`, each
    network model is sent one small request before the first episode; `on_progress` is called a few times a
    second and once at the end.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        *,
        concurrency: int = 16,
        budget: Budget | None = None,
        estimates: Mapping[tuple[str, str], Usage] | None = None,
        tasks: Container[str] | None = None,
        source: Callable[[], Iterable[Job]] | None = None,
        probe: bool = False,
        on_progress: Callable[[RunProgress], None] | None = None,
    ) -> None:
        self._store, self._executor, self._probe = store, executor, probe
        self._concurrency, self._on_progress = concurrency, on_progress
        names = store.plan.tasks_by_name if tasks is None else tasks
        self._numbers = count()
        self._queues: defaultdict[tuple[str, str], deque[tuple[int, Job]]] = defaultdict(deque)
        """The jobs of each cell, numbered in the order in which they should start."""
        self._heads: list[tuple[int, tuple[str, str]]] = []
        """A heap: the number of the first job of each queue, and its cell."""
        self._source, self._unrecorded, self._failed = source, 0, set[str]()
        for job in store.pending() if source is None else ():
            if job.task in names:
                self._enqueue(job)
        retries = {name: task.config.retries for name, task in store.plan.tasks_by_name.items()}
        self._budget = BudgetGuard(budget or Budget(), estimates or {}, retries)
        calls = {cell: usage.calls for cell, usage in (estimates or {}).items()}
        waiting = {cell: len(queue) for cell, queue in self._queues.items()}
        self._time_left = TimeLeft(waiting, calls)
        self._interrupted, self._errors = False, list[str]()
        before = len(store.done)
        self.progress = RunProgress(before + sum(waiting.values()), before)

    def _enqueue(self, job: Job) -> None:
        queue, number = self._queues[job.cell], next(self._numbers)
        if not queue:
            heappush(self._heads, (number, job.cell))
        queue.append((number, job))

    def stop(self, reason: str) -> None:
        """Start nothing more; episodes in flight are finished and saved."""
        self.progress.stopping = self.progress.stopping or reason

    async def run(self) -> RunResult:
        """Play until everything is done or something calls `stop`."""
        updates = asyncio.create_task(self._update_regularly())
        try:
            with interrupts(self._interrupt), infrequent_gc():
                await self._executor.start(self._store)
                if self._probe:
                    await self._probe_models()
                async for job, outcome in run_many(self._play, self._jobs(), self._concurrency):
                    self._record(job, outcome)
        finally:
            updates.cancel()
            self._update()
            await self._executor.close()
        remaining = self.progress.total - self.progress.done
        reason = self.progress.stopping
        if remaining and not reason:
            episodes = plural(remaining, "episode")
            reason = f"{episodes} failed after all retries; last error: {self.progress.last_error}"
        errors = () if self.progress.stopping else tuple(dict.fromkeys(self._errors))
        return RunResult(not remaining, reason if remaining else "", self._interrupted, self.progress, errors)

    def _interrupt(self) -> None:
        self._interrupted = True
        self.stop("interrupted")
        self._update()
        self._executor.stop_waiting()

    async def _probe_models(self) -> None:
        """A permanent refusal raises a usage error; a model that gives no answer stops the run."""
        try:
            await self._executor.probe()
        except BudgetReached as error:
            self.stop(error.reason)
        except AgentFailure as error:
            self.stop(str(error).rstrip("."))

    def _jobs(self) -> Iterator[Job | None]:
        """The jobs to start; None when none can start before a job in flight has ended."""
        while True:
            job = None
            if not (self._heads or self._unrecorded or self.progress.stopping):
                self._refill()
            if self._heads and not self.progress.stopping:
                job, reason = self._take_job()
                if job is not None:
                    self.progress.in_flight += 1
                    self._unrecorded += 1
                    self._time_left.start(job, monotonic())
                    self._budget.start(job)
                elif not self.progress.in_flight:
                    self.stop(reason)
            yield job

    def _refill(self) -> None:
        for job in self._source() if self._source is not None else ():
            if job.key not in self._store.done and job.key not in self._failed:
                self._enqueue(job)
                self._time_left.add(job)
                self.progress.total += 1

    def _take_job(self) -> tuple[Job | None, str]:
        """Remove the first job that the budget covers from its queue, or say why it covers none.

        The budget treats all jobs of a cell alike, so that only the first of each is tried.
        """
        refused: dict[tuple[int, tuple[str, str]], str] = {}
        first: Job | None = None
        while self._heads and first is None:
            head = heappop(self._heads)
            queue = self._queues[head[1]]
            job = queue[0][1]
            spent, counts = self._executor.usage, self._executor.counts
            if reason := self._budget.exceeded_by(job, spent, counts, self.progress.seconds):
                refused[head] = reason
                continue
            queue.popleft()
            if queue:
                heappush(self._heads, (queue[0][0], job.cell))
            first = job
        for head in refused:
            heappush(self._heads, head)
        return first, next(iter(refused.values()), "")

    async def _play(self, job: Job) -> tuple[Job, Outcome]:
        try:
            outcome = await self._executor.play(job)
            if outcome.row.length:  # at once, because the index follows the order of the shards
                self._store.add(outcome)
            return job, outcome
        except WorkerDied as error:
            row = self._store.recovered(job)
            return job, Outcome(row) if row is not None else unplayed(job, str(error))
        finally:
            self.progress.in_flight -= 1
            self._time_left.end(job, monotonic())
            self._budget.end(job)

    def _record(self, job: Job, outcome: Outcome) -> None:
        row = outcome.row
        self._unrecorded -= 1
        if not row.length:
            self._store.add(outcome)
        self.progress.count(row)
        self._budget.learn(row)
        if row.over_budget:  # playing it again would not help before the limit is raised
            self.stop(row.error.removeprefix(BUDGET_REACHED).rstrip("."))
        elif row.void and self._store.voids[job.key] <= self._store.plan.void_retries:
            self._enqueue(job)
            self._time_left.add(job)
        elif row.void:
            self._failed.add(job.key)
            self._errors.append(row.error)

    async def _update_regularly(self) -> None:
        while True:
            self._update()
            await asyncio.sleep(_SECONDS_BETWEEN_UPDATES)

    def _update(self) -> None:
        self.progress.usage, self.progress.counts = self._executor.usage, self._executor.counts
        self.progress.seconds_left = self._time_left.seconds(monotonic())
        if self._on_progress is not None:
            self._on_progress(self.progress)


_NOTHING = Usage(calls=0)


class BudgetGuard:
    """Decides which jobs may start.

    What an episode will consume is the mean of the finished ones of its cell; before the first has finished,
    an estimate.
    """

    def __init__(
        self, budget: Budget, estimates: Mapping[tuple[str, str], Usage], retries: Mapping[str, int]
    ) -> None:
        self._budget, self._estimates, self._retries = budget, estimates, retries
        self._consumption: dict[tuple[str, str], tuple[Usage, int]] = {}
        self._reserved: dict[str, Usage] = {}
        """What each job in flight is expected to consume, by key."""
        self._reserved_total = _NOTHING

    def exceeded_by(self, job: Job, spent: Usage, counts: Counter[str], seconds: float) -> str:
        """Why a job may not start now; empty if it may. Calls that were sent again count as well."""
        in_flight = bool(self._reserved)
        if self._budget.cost is not None and in_flight and self._price_unknown(job):
            return "its price is unknown until another episode has finished"
        hours = self._budget.hours
        if hours is not None and seconds >= hours * 3600:
            return f"{seconds / 3600:.2f} hours have passed (--max-hours {hours:g})"
        expected = self._reservation(job) if in_flight else self._expected(job)
        with_retries = replace(spent, calls=spent.calls + counts["retries"])
        return self._budget.exceeded_by(expected + self._reserved_total, with_retries)

    def start(self, job: Job) -> None:
        self._reserved[job.key] = reserved = self._reservation(job)
        self._reserved_total += reserved

    def end(self, job: Job) -> None:
        """Release the reservation of a job: its calls are counted now."""
        self._reserved_total -= self._reserved.pop(job.key)

    def learn(self, row: EpisodeRow) -> None:
        if not row.void:
            total, number = self._consumption.get(row.job.cell, (_NOTHING, 0))
            self._consumption[row.job.cell] = (total + row.usage + row.other_usage, number + 1)

    def _expected(self, job: Job) -> Usage:
        if job.cell in self._consumption:
            total, number = self._consumption[job.cell]
            return total / number
        return self._estimates.get(job.cell, _NOTHING)

    def _reservation(self, job: Job) -> Usage:
        """With all retries until an episode of the cell has finished.

        An estimate does not foresee retries, and hundreds of episodes may start before the first one ends.
        """
        expected = self._expected(job)
        return expected if job.cell in self._consumption else expected * (1 + self._retries[job.task])

    def _price_unknown(self, job: Job) -> bool:
        """Whether the provider reports prices only with its answers, and none has come yet."""
        expected = self._estimates.get(job.cell, _NOTHING)
        return expected.calls > 0 and expected.cost is None and job.cell not in self._consumption
