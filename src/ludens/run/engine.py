"""Plays a whole run: many episodes at once, saved as they end, within budgets, stoppable and resumable."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from ludens.run.budget import Budget, Forecast, Spend
from ludens.run.collector import rare_collections
from ludens.run.executor import Executor, WorkerDied
from ludens.run.interrupts import interrupts
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job
from ludens.run.remaining import Remaining
from ludens.run.store import Store

_SECONDS_BETWEEN_LOOKS = 0.25


@dataclass
class Tally:
    """What a run has done so far in this go."""

    total: int
    """Episodes of the whole run, earlier ones included."""
    before: int = 0
    """Episodes that were finished before this go began."""
    episodes: int = 0
    voids: int = 0
    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    in_flight: int = 0
    meter: Meter = field(default_factory=Meter)
    last_error: str = ""
    stopping: str = ""
    """Why nothing more is started; empty while all goes on."""
    left: float | None = None
    """Seconds until the end, as far as can be said."""
    started: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """Time since this go began."""
        return monotonic() - self.started

    @property
    def done(self) -> int:
        """Finished episodes of the whole run."""
        return self.before + self.episodes

    def count(self, outcome: Outcome) -> None:
        """Add one outcome."""
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
    """How a run ended: `complete`, or why not, and what was done."""

    complete: bool
    reason: str
    interrupted: bool
    tally: Tally


class Engine:
    """One go of a run.

    Args:
        store: The run's folder, open.
        executor: Where episodes are played.
        concurrency: Episodes in flight.
        budget: When to start nothing more.
        estimated: What an episode of an entrant in a task is expected to consume, before one was played.
        watch: Called with the tally a few times a second and once at the end.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        *,
        concurrency: int = 16,
        budget: Budget | None = None,
        estimated: Mapping[tuple[str, str], Spend] | None = None,
        watch: Callable[[Tally], None] | None = None,
    ) -> None:
        self._store, self._executor = store, executor
        self._concurrency, self._budget, self._watch = concurrency, budget or Budget(), watch
        self._queue: deque[Job] = deque(store.pending())
        self._forecast = Forecast(estimated)
        self._ahead = Spend()
        self._remaining = Remaining(
            Counter((job.entrant, job.task) for job in self._queue),
            {kind: spend.calls for kind, spend in (estimated or {}).items()},
        )
        self._started = False
        self._settled = asyncio.Event()
        self._interrupted = False
        self.tally = Tally(store.plan.total(), store.plan.total() - len(self._queue))

    def stop(self, reason: str) -> None:
        """Start nothing more; what is in flight is finished and saved."""
        self.tally.stopping = self.tally.stopping or reason
        self._settled.set()

    async def run(self) -> Ending:
        """Play until everything is done or something says stop."""
        pulls: list[asyncio.Task[None]] = []
        watching = asyncio.create_task(self._look())
        try:
            with interrupts(self._interrupt), rare_collections():
                await self._executor.start()
                self._remaining.started = monotonic()
                count = min(self._concurrency, len(self._queue))
                pulls = [asyncio.create_task(self._pull()) for _ in range(count)]
                await asyncio.gather(*pulls)
        finally:
            for task in (*pulls, watching):
                task.cancel()
            await asyncio.gather(*pulls, watching, return_exceptions=True)
            self._show()
            await self._executor.close()
        left = self.tally.total - self.tally.done
        if left and not self.tally.stopping:
            stay = "1 episode stays" if left == 1 else f"{left} episodes stay"
            self.tally.stopping = f"{stay} void; the last reason: {self.tally.last_error}"
        return Ending(not left, self.tally.stopping if left else "", self._interrupted, self.tally)

    def _interrupt(self) -> None:
        self._interrupted = True
        self.stop("interrupted")

    async def _pull(self) -> None:
        while self._queue and not self.tally.stopping:
            place, refusal = self._next()
            if refusal and self.tally.in_flight:
                # Those in flight may turn out cheaper than expected.
                self._settled.clear()
                await self._settled.wait()
                continue
            if refusal:
                return self.stop(refusal)
            job = self._queue[place]
            del self._queue[place]
            await self._play(job, self._at_most(job))
            # Bots never wait: without a breath no signal is heard and no progress shown.
            await asyncio.sleep(0)

    def _next(self) -> tuple[int, str]:
        """The place of the first job that the budget covers, or why it covers none."""
        refusals: dict[tuple[str, str], str] = {}
        for place, job in enumerate(self._queue):
            kind = (job.entrant, job.task)
            if kind not in refusals:
                refusals[kind] = self._refusal(job)
                if not refusals[kind]:
                    return place, ""
        return 0, refusals[self._queue[0].entrant, self._queue[0].task]

    def _refusal(self, job: Job) -> str:
        if self._budget.cost is not None and self.tally.in_flight and self._forecast.unpriced(job):
            return "what it costs is not known yet"
        # The first episode always starts: an estimate alone must not keep a run from beginning.
        ahead = Spend()
        if self._started:
            ahead = self._ahead + (self._at_most(job) if self.tally.in_flight else self._forecast.of(job))
        return self._budget.refuses(self._executor.meter, self.tally.seconds, ahead)

    def _at_most(self, job: Job) -> Spend:
        """What is set aside for an episode in flight: an estimate does not foresee that replies are refused.

        Hundreds may begin before the first of them ends and tells better.
        """
        expected = self._forecast.of(job)
        tries = 1 + self._store.plan.chosen[job.task].config.retries
        return expected if self._forecast.knows(job) else expected * tries

    async def _play(self, job: Job, expected: Spend) -> None:
        self._started = True
        self.tally.in_flight += 1
        self._remaining.begin(job, monotonic())
        self._ahead += expected
        try:
            outcome = await self._executor.play(job)
        except WorkerDied as death:
            outcome = Outcome(job, b"", True, error=str(death))
        finally:
            self.tally.in_flight -= 1
            self._remaining.end(job, monotonic())
            self._ahead -= expected
            self._settled.set()
        self._settle(outcome)

    def _settle(self, outcome: Outcome) -> None:
        job = outcome.job
        if outcome.data:
            self._store.add(job, outcome.data, outcome.void)
        else:
            self._store.voids[job.key] += 1
        self.tally.count(outcome)
        self._forecast.learn(outcome)
        if outcome.void and self._store.voids[job.key] <= self._store.plan.void_retries:
            self._queue.append(job)
            self._remaining.again(job)

    async def _look(self) -> None:
        while True:
            self._show()
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    def _show(self) -> None:
        self.tally.meter = self._executor.meter
        self.tally.left = self._remaining.seconds(monotonic())
        if self._watch is not None:
            self._watch(self.tally)
