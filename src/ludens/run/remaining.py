"""How long the rest of a run will take: what each kind of episode has lasted, and how many last at once.

Tasks differ: of questions and long games played in turns, the questions are over first, and a count of
episodes alone would promise an end that does not come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ludens.run.plan import Job

Kind = tuple[str, str]
"""Entrant and task."""


@dataclass
class Remaining:
    """Told when episodes begin and end, by any clock; says how many seconds are left."""

    waiting: Counter[Kind]
    """Episodes that have not begun."""
    calls: Mapping[Kind, float] = field(default_factory=dict)
    """What an episode is expected to ask of models: how kinds compare of which none has ended yet."""
    started: float = 0.0
    _begun: dict[str, tuple[Kind, float]] = field(default_factory=dict)
    _seconds: defaultdict[Kind, float] = field(default_factory=lambda: defaultdict(float))
    _ended: Counter[Kind] = field(default_factory=Counter)

    def begin(self, job: Job, now: float) -> None:
        """An episode was begun."""
        kind = (job.entrant, job.task)
        self.waiting[kind] -= 1
        self._begun[job.key] = kind, now

    def end(self, job: Job, now: float) -> None:
        """An episode has ended, well or void."""
        kind, began = self._begun.pop(job.key)
        self._seconds[kind] += now - began
        self._ended[kind] += 1

    def again(self, job: Job) -> None:
        """An episode will be played again."""
        self.waiting[job.entrant, job.task] += 1

    def seconds(self, now: float) -> float | None:
        """Until the last episode ends, if all goes on as it did; None before the first has ended."""
        if not self._ended:
            return None
        waiting = {kind: number for kind, number in self.waiting.items() if number > 0}
        ages: defaultdict[Kind, list[float]] = defaultdict(list)
        for kind, began in self._begun.values():
            ages[kind].append(now - began)
        lasts = {kind: self._lasts(kind, ages[kind]) for kind in {*waiting, *ages}}
        flying = [max(lasts[kind] - age, 0.0) for kind, some in ages.items() for age in some]
        work = sum(lasts[kind] * number for kind, number in waiting.items()) + sum(flying)
        busy = sum(self._seconds.values()) + sum(sum(some) for some in ages.values())
        at_once = busy / max(now - self.started, 1e-9)
        # However many could be played at once, the end is not before the longest of them ends.
        return max([work / at_once if at_once else 0.0, *(lasts[kind] for kind in waiting), *flying])

    def _lasts(self, kind: Kind, ages: Sequence[float]) -> float:
        """What an episode lasts on average; the first to end are the short ones, so those in flight count."""
        guess = self._guess(kind)
        whole = self._seconds[kind] + sum(max(guess, age) for age in ages)
        number = self._ended[kind] + len(ages)
        return whole / number if number else guess

    def _guess(self, kind: Kind) -> float:
        """By its calls, where they are known; else by those of its kind that have ended; else by all."""
        alike = [other for other in self._ended if self.calls.get(other)]
        if alike and self.calls.get(kind):
            called = sum(self.calls[other] * self._ended[other] for other in alike)
            return self.calls[kind] * sum(self._seconds[other] for other in alike) / called
        if self._ended[kind]:
            return self._seconds[kind] / self._ended[kind]
        return sum(self._seconds.values()) / self._ended.total()
