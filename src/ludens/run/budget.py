"""How much a run may spend: nothing is started that the budget is not expected to cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from ludens.core.errors import BadOption
from ludens.run.jobs import Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job


@dataclass(frozen=True, slots=True)
class Spend:
    """What budgets count."""

    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)

    def __mul__(self, number: float) -> Spend:
        return Spend(self.calls * number, self.tokens * number, self.cost * number)

    def __truediv__(self, number: float) -> Spend:
        return Spend(self.calls / number, self.tokens / number, self.cost / number)


@dataclass(frozen=True)
class Budget:
    """Limits for one go of a run; what is in flight when one is reached is finished and saved."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isfinite(value) and value > 0):
                raise BadOption(f"--max-{name} must be above 0, not {value:g}.")

    def refuses(self, spent: Meter, seconds: float, ahead: Spend) -> str:
        """Why no other episode may be started, in words; empty while it may.

        Args:
            spent: What models have consumed.
            seconds: Since this go began.
            ahead: What the episodes in flight and the next one are expected to consume.
        """
        if self.hours is not None and seconds >= self.hours * 3600:
            return f"{seconds / 3600:.2f} hours have passed (--max-hours {self.hours:g})"
        for limit, used, more, flag, words in (
            (self.calls, spent.calls, ahead.calls, "calls", f"{spent.calls:,} calls were made"),
            (self.tokens, spent.tokens, ahead.tokens, "tokens", f"{spent.tokens:,} tokens were used"),
            (self.cost, spent.cost or 0.0, ahead.cost, "cost", f"{spent.cost or 0.0:.4f} was spent"),
        ):
            if limit is not None and (used >= limit or used + more > limit):
                then = "" if used >= limit else ", and one more episode is expected to take it beyond"
                return f"{words}{then} (--max-{flag} {limit:g})"
        return ""


class Forecast:
    """What an episode is expected to consume: the mean of its like so far, before that an estimate."""

    def __init__(self, estimated: Mapping[tuple[str, str], Spend] | None = None) -> None:
        self._estimated = dict(estimated or {})
        self._seen: dict[tuple[str, str], tuple[Spend, int]] = defaultdict(lambda: (Spend(), 0))

    def of(self, job: Job) -> Spend:
        """For this job."""
        kind = (job.entrant, job.task)
        total, number = self._seen[kind]
        return total / number if number else self._estimated.get(kind, Spend())

    def knows(self, job: Job) -> bool:
        """Whether one of its like has ended."""
        return self._seen[job.entrant, job.task][1] > 0

    def unpriced(self, job: Job) -> bool:
        """Whether nobody can say yet what it costs: its provider tells prices only with its answers."""
        expected = self._estimated.get((job.entrant, job.task), Spend())
        return expected.calls > 0 and not expected.cost and not self.knows(job)

    def learn(self, outcome: Outcome) -> None:
        """Take a finished episode into account."""
        if not outcome.void:
            kind = (outcome.job.entrant, outcome.job.task)
            total, number = self._seen[kind]
            self._seen[kind] = (total + Spend(outcome.calls, outcome.tokens, outcome.cost), number + 1)
