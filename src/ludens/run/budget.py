"""Budgets: no call is sent, and no episode started, that the budget is not expected to cover."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from ludens.core.errors import BadOption
from ludens.models.chat import Ledger, Spend
from ludens.run.jobs import Meter
from ludens.run.plan import Job
from ludens.run.rows import EpisodeRow

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Budget:
    """Limits of one `eval` or `resume`. No call is sent that calls, tokens or cost do not cover."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isfinite(value) and value > 0):
                raise BadOption(f"--max-{name} must be above 0, not {value:g}.")

    @property
    def limits_spending(self) -> bool:
        """Whether calls, tokens or cost are limited."""
        return (self.calls or self.tokens or self.cost) is not None

    def exceeded_by(self, more: Spend, spent: Spend, unit: str = "episode") -> str:
        """Why the budget does not cover this in addition to what is spent; empty if it does."""
        for limit, used, added, flag, words in (
            (self.calls, spent.calls, more.calls, "calls", f"{spent.calls:,.0f} calls used"),
            (self.tokens, spent.tokens, more.tokens, "tokens", f"{spent.tokens:,.0f} tokens used"),
            (self.cost, spent.cost, more.cost, "cost", f"${spent.cost:.4f} spent"),
        ):
            if limit is not None and (used >= limit or used + added > limit * (1 + _ROUNDING)):
                then = "" if used >= limit else f", and one more {unit} is expected to exceed the limit"
                return f"{words}{then} (--max-{flag} {limit:g})"
        return ""


class BudgetLedger(Ledger):
    """Covers a request only if what is spent and reserved stays within the budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.spent, self._reserved, self._in_flight = Spend(), Spend(), 0
        self._settled = asyncio.Event()

    async def reserve(self, expected: Spend, alone: bool) -> str:
        alone = alone and self._budget.cost is not None
        while True:
            if reason := self._budget.exceeded_by(expected, self.spent, "call"):
                return reason
            if not self._in_flight:
                break
            covered = not self._budget.exceeded_by(expected, self.spent + self._reserved)
            if covered and not alone:
                break
            await self._settled.wait()
        self._reserved += expected
        self._in_flight += 1
        return ""

    def settle(self, expected: Spend, actual: Spend) -> None:
        self._in_flight -= 1
        self._reserved = self._reserved - expected if self._in_flight else Spend()
        self.spent += actual
        settled, self._settled = self._settled, asyncio.Event()
        settled.set()


def make_ledger(budget: Budget | None) -> BudgetLedger | None:
    """The ledger of a budget; None when calls, tokens and cost are not limited."""
    return BudgetLedger(budget) if budget is not None and budget.limits_spending else None


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

    def exceeded_by(self, job: Job, spent: Meter, seconds: float) -> str:
        """Why a job may not start now; empty if it may."""
        in_flight = bool(self._reserved)
        if self._budget.cost is not None and in_flight and self._price_unknown(job):
            return "its price is unknown until another episode has finished"
        hours = self._budget.hours
        if hours is not None and seconds >= hours * 3600:
            return f"{seconds / 3600:.2f} hours have passed (--max-hours {hours:g})"
        expected = self._reservation(job) if in_flight else self._expected(job)
        used = Spend(spent.calls + spent.retries, spent.tokens, spent.cost or 0.0)
        return self._budget.exceeded_by(expected + self._reserved_total, used)

    def start(self, job: Job) -> None:
        """Reserve what a job is expected to consume."""
        self._reserved[job.key] = reserved = self._reservation(job)
        self._reserved_total += reserved

    def end(self, job: Job) -> None:
        """Release the reservation of a job: its calls are in the meter now."""
        self._reserved_total -= self._reserved.pop(job.key)

    def learn(self, row: EpisodeRow) -> None:
        """Take a finished episode into account."""
        if not row.void:
            total, number = self._finished.get(row.job.cell, (Spend(), 0))
            usage = row.usage + row.other_usage
            spend = Spend(usage.calls, usage.tokens, usage.cost or 0.0)
            self._finished[row.job.cell] = (total + spend, number + 1)

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
