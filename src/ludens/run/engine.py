"""Plays a whole run: many episodes at once, saved as they end, within budgets, stoppable and resumable."""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from ludens.core.episode import Usage
from ludens.core.errors import BadOption
from ludens.run.plan import Job
from ludens.run.player import Outcome
from ludens.run.store import Store
from ludens.run.workers import Executor, Here, OnRay, Processes, WorkerDied


@dataclass(frozen=True)
class Budget:
    """When to start nothing more. What is in flight then is finished and saved."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise BadOption(f"--max-{name} must be above 0, not {value:g}.")

    def spent(self, tally: Tally) -> str:
        """Which budget is spent, in words; empty while none is."""
        usage = tally.usage
        if self.calls is not None and usage.calls >= self.calls:
            return f"{usage.calls:,} calls were made (--max-calls {self.calls})"
        tokens = usage.input_tokens + usage.output_tokens
        if self.tokens is not None and tokens >= self.tokens:
            return f"{tokens:,} tokens were used (--max-tokens {self.tokens})"
        if self.cost is not None and (usage.cost or 0) >= self.cost:
            return f"{usage.cost:.2f} was spent (--max-cost {self.cost:g})"
        if self.hours is not None and tally.seconds >= self.hours * 3600:
            return f"{tally.seconds / 3600:.2f} hours have passed (--max-hours {self.hours:g})"
        return ""


@dataclass
class Tally:
    """What a run has done so far in this process."""

    total: int
    """Episodes of the whole run, earlier ones included."""
    before: int = 0
    """Episodes that were finished before this process began."""
    episodes: int = 0
    voids: int = 0
    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    in_flight: int = 0
    usage: Usage = field(default_factory=lambda: Usage(calls=0))
    last_error: str = ""
    started: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """Time since this process began."""
        return monotonic() - self.started

    def count(self, outcome: Outcome) -> None:
        """Add one outcome."""
        self.usage = self.usage + outcome.usage
        self.moves += outcome.moves
        self.fallbacks += outcome.fallbacks
        self.retried += outcome.retried
        if outcome.void:
            self.voids += 1
            self.last_error = outcome.error
        else:
            self.episodes += 1


@dataclass(frozen=True)
class Ending:
    """How a run ended: `complete`, or why not, and what it did."""

    complete: bool
    reason: str
    tally: Tally


class Engine:
    """One process's share of a run."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        *,
        concurrency: int = 16,
        budget: Budget | None = None,
        watch: Callable[[Tally], None] | None = None,
    ) -> None:
        self._store, self._executor = store, executor
        self._concurrency, self._budget, self._watch = concurrency, budget or Budget(), watch
        self._queue: deque[Job] = deque(store.pending())
        self.tally = Tally(store.plan.total(), len(store.done))
        self._stopping = ""

    def stop(self, reason: str) -> None:
        """Start nothing more; what is in flight is finished and saved."""
        self._stopping = self._stopping or reason

    async def run(self) -> Ending:
        """Play until everything is done or something says stop."""
        await self._executor.start()
        tasks = [
            asyncio.create_task(self._pull()) for _ in range(min(self._concurrency, max(1, len(self._queue))))
        ]
        try:
            with _interrupts(self, tasks):
                await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            self.stop("interrupted")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._executor.close()
        left = sum(1 for _ in self._store.pending())
        if left and not self._stopping:
            self._stopping = f"{left} episodes stayed void; the last reason: {self.tally.last_error}"
        return Ending(not left, self._stopping if left else "", self.tally)

    async def _pull(self) -> None:
        while self._queue and not self._stopping:
            spent = self._budget.spent(self.tally)
            if spent:
                self.stop(spent)
                return
            job = self._queue.popleft()
            self.tally.in_flight += 1
            try:
                outcome = await self._executor.play(job)
            except WorkerDied as death:
                outcome = Outcome(job, b"", True, Usage(calls=0), error=str(death))
            finally:
                self.tally.in_flight -= 1
            self._settle(outcome)

    def _settle(self, outcome: Outcome) -> None:
        job = outcome.job
        if outcome.data:
            self._store.add(job, outcome.data, outcome.void)
        else:
            self._store.voids[job.key] += 1
        self.tally.count(outcome)
        if outcome.void and self._store.voids[job.key] <= self._store.plan.void_retries:
            self._queue.append(job)
        if self._watch is not None:
            self._watch(self.tally)


class _interrupts:
    """Ctrl-C once: start nothing more. Twice: stop now."""

    def __init__(self, engine: Engine, tasks: list[asyncio.Task[None]]) -> None:
        self._engine, self._tasks = engine, tasks
        self._times = 0

    def __enter__(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._hit)

    def __exit__(self, *_: object) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _hit(self) -> None:
        self._times += 1
        self._engine.stop("interrupted")
        if self._times > 1:
            for task in self._tasks:
                task.cancel()


def executor(
    plan_store: Store, *, workers: int = 0, ray: str | None = None, concurrency: int = 16
) -> Executor:
    """Where the episodes of a run are played."""
    if ray is not None:
        return OnRay(plan_store.plan, ray, workers, concurrency)
    if workers > 0:
        return Processes(plan_store.plan, workers)
    return Here(plan_store.plan)
