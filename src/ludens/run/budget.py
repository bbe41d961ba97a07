"""Budgets: no episode is started that the budget is not expected to cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from ludens.core.errors import BadOption
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job


@dataclass(frozen=True, slots=True)
class Spend:
    """What budgets limit."""

    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spend) -> Spend:
        return self + other * -1

    def __mul__(self, number: float) -> Spend:
        return Spend(self.calls * number, self.tokens * number, self.cost * number)

    def __truediv__(self, number: float) -> Spend:
        return Spend(self.calls / number, self.tokens / number, self.cost / number)


@dataclass(frozen=True)
class Budget:
    """Limits of one `eval` or `resume`; episodes in flight when a limit is reached are finished and saved."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isfinite(value) and value > 0):
                raise BadOption(f"--max-{name} must be above 0, not {value:g}.")

    def exceeded_by(self, expected: Spend, spent: Meter, seconds: float) -> str:
        """Why no further episode may be started; empty if one may.

        Args:
            expected: What the episodes in flight and the next one are expected to consume.
            spent: What models have consumed.
            seconds: Time since the start.
        """
        if self.hours is not None and seconds >= self.hours * 3600:
            return f"{seconds / 3600:.2f} hours have passed (--max-hours {self.hours:g})"
        for limit, used, more, flag, words in (
            (self.calls, spent.calls, expected.calls, "calls", f"{spent.calls:,} calls used"),
            (self.tokens, spent.tokens, expected.tokens, "tokens", f"{spent.tokens:,} tokens used"),
            (self.cost, spent.cost or 0.0, expected.cost, "cost", f"${spent.cost or 0.0:.4f} spent"),
        ):
            if limit is not None and (used >= limit or used + more > limit):
                then = "" if used >= limit else ", and one more episode is expected to exceed the limit"
                return f"{words}{then} (--max-{flag} {limit:g})"
        return ""


class BudgetGuard:
    """Decides which jobs may start.

    What an episode will consume is the mean of the finished ones of its cell; before the first has finished,
    an estimate.

    Args:
        budget: The limits.
        estimates: Cell (entrant and task) to what one episode is estimated to consume.
        retries: Task to the number of retries after a reply that is not a legal action.
    """

    def __init__(
        self, budget: Budget, estimates: Mapping[tuple[str, str], Spend], retries: Mapping[str, int]
    ) -> None:
        self._budget, self._estimates, self._retries = budget, estimates, retries
        self._finished: dict[tuple[str, str], tuple[Spend, int]] = {}
        self._reserved: dict[str, Spend] = {}
        """What each job in flight is expected to consume, by key."""
        self._reserved_total = Spend()
        self._started = False

    def exceeded_by(self, job: Job, spent: Meter, seconds: float) -> str:
        """Why a job may not start now; empty if it may."""
        in_flight = bool(self._reserved)
        if self._budget.cost is not None and in_flight and self._price_unknown(job):
            return "its price is unknown until another episode has finished"
        # The first episode always starts: an estimate alone must not prevent a run.
        expected = Spend()
        if self._started:
            expected = self._reservation(job) if in_flight else self._expected(job)
            expected += self._reserved_total
        return self._budget.exceeded_by(expected, spent, seconds)

    def start(self, job: Job) -> None:
        """Reserve what a job is expected to consume."""
        self._reserved[job.key] = reserved = self._reservation(job)
        self._reserved_total += reserved
        self._started = True

    def end(self, job: Job) -> None:
        """Release the reservation of a job: its calls are in the meter now."""
        self._reserved_total -= self._reserved.pop(job.key)

    def learn(self, outcome: Outcome) -> None:
        """Take a finished episode into account."""
        if not outcome.void:
            total, number = self._finished.get(outcome.job.cell, (Spend(), 0))
            spend = Spend(outcome.calls, outcome.tokens, outcome.cost)
            self._finished[outcome.job.cell] = (total + spend, number + 1)

    def _expected(self, job: Job) -> Spend:
        if job.cell in self._finished:
            total, number = self._finished[job.cell]
            return total / number
        return self._estimates.get(job.cell, Spend())

    def _reservation(self, job: Job) -> Spend:
        """With all retries until an episode of the cell has finished.

        An estimate does not foresee retries, and hundreds of episodes may start before the first one ends.
        """
        expected = self._expected(job)
        return expected if job.cell in self._finished else expected * (1 + self._retries[job.task])

    def _price_unknown(self, job: Job) -> bool:
        """Whether the provider reports prices only with its answers, and none has come yet."""
        expected = self._estimates.get(job.cell, Spend())
        return expected.calls > 0 and not expected.cost and job.cell not in self._finished
