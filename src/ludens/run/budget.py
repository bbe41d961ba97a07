"""Which episodes may start: none that the budget is not expected to cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ludens.core.episode import Usage
from ludens.models.ledger import Budget
from ludens.run.plan import Job
from ludens.run.rows import EpisodeRow

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
        self._finished: dict[tuple[str, str], tuple[Usage, int]] = {}
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
        sent = replace(spent, calls=spent.calls + counts["retries"])
        return self._budget.exceeded_by(expected + self._reserved_total, sent)

    def start(self, job: Job) -> None:
        self._reserved[job.key] = reserved = self._reservation(job)
        self._reserved_total += reserved

    def end(self, job: Job) -> None:
        """Release the reservation of a job: its calls are counted now."""
        self._reserved_total -= self._reserved.pop(job.key)

    def learn(self, row: EpisodeRow) -> None:
        if not row.void:
            total, number = self._finished.get(row.job.cell, (_NOTHING, 0))
            self._finished[row.job.cell] = (total + row.usage + row.other_usage, number + 1)

    def _expected(self, job: Job) -> Usage:
        if job.cell in self._finished:
            total, number = self._finished[job.cell]
            return total / number
        return self._estimates.get(job.cell, _NOTHING)

    def _reservation(self, job: Job) -> Usage:
        """With all retries until an episode of the cell has finished.

        An estimate does not foresee retries, and hundreds of episodes may start before the first one ends.
        """
        expected = self._expected(job)
        return expected if job.cell in self._finished else expected * (1 + self._retries[job.task])

    def _price_unknown(self, job: Job) -> bool:
        """Whether the provider reports prices only with its answers, and none has come yet."""
        expected = self._estimates.get(job.cell, _NOTHING)
        return expected.calls > 0 and expected.cost is None and job.cell not in self._finished
