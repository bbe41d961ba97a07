"""The progress of a run: counts, time left, and how both are shown."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TextIO

from ludens.core.episode import Usage
from ludens.core.plain import plural
from ludens.run.plan import Job
from ludens.run.rows import EpisodeRow

if TYPE_CHECKING:
    from rich.live import Live

SECONDS_BETWEEN_LINES = 10.0


@dataclass
class RunProgress:
    """What a run has done since it was started or resumed."""

    total: int
    """Episodes of the whole run, earlier ones included."""
    before: int = 0
    """Episodes that were finished before this start."""
    episodes: int = 0
    voids: int = 0
    fallbacks: int = 0
    in_flight: int = 0
    usage: Usage = field(default_factory=lambda: Usage(calls=0))
    counts: Counter[str] = field(default_factory=Counter)
    """Events of models: `retries`, `cached`, ..."""
    last_error: str = ""
    stopping: str = ""
    """Why nothing more is started; empty while the run continues."""
    seconds_left: float | None = None
    start_time: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        return monotonic() - self.start_time

    @property
    def done(self) -> int:
        return self.before + self.episodes

    def count(self, row: EpisodeRow) -> None:
        self.fallbacks += row.fallbacks + row.other_fallbacks
        if row.void:
            self.voids += 1
            self.last_error = row.error
        else:
            self.episodes += 1


class TimeLeft:
    """Estimates the time until all jobs have finished from the mean duration of the episodes of each cell.

    The share of finished episodes would mislead: where tasks are mixed, short ones finish first.
    """

    def __init__(
        self, waiting: Mapping[tuple[str, str], int], calls: Mapping[tuple[str, str], float]
    ) -> None:
        self._waiting = Counter(waiting)
        self._calls, self._first_start = calls, inf
        self._running: dict[str, tuple[Job, float]] = {}
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._episodes: Counter[tuple[str, str]] = Counter()

    def start(self, job: Job, now: float) -> None:
        self._first_start = min(self._first_start, now)
        self._waiting[job.cell] -= 1
        self._running[job.key] = job, now

    def end(self, job: Job, now: float) -> None:
        _, start = self._running.pop(job.key)
        self._seconds[job.cell] += now - start
        self._episodes[job.cell] += 1

    def add(self, job: Job) -> None:
        self._waiting[job.cell] += 1

    def seconds(self, now: float) -> float | None:
        """Time until the last job finishes; None before the first one has."""
        if not self._episodes:
            return None
        waiting = {cell: number for cell, number in self._waiting.items() if number > 0}
        ages: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for job, start in self._running.values():
            ages[job.cell].append(now - start)
        duration = {cell: self._duration(cell, ages[cell]) for cell in {*waiting, *ages}}
        running = [max(duration[cell] - age, 0.0) for cell, some in ages.items() for age in some]
        work = sum(duration[cell] * number for cell, number in waiting.items()) + sum(running)
        busy = sum(self._seconds.values()) + sum(sum(some) for some in ages.values())
        concurrency = busy / max(now - self._first_start, 1e-9)
        # However many are played at once, the end is not before that of the longest.
        return max(
            [work / concurrency if concurrency else 0.0, *(duration[cell] for cell in waiting), *running]
        )

    def _duration(self, cell: tuple[str, str], ages: Sequence[float]) -> float:
        """Mean duration of an episode. Short ones finish first, so those that are running count too."""
        guess = self._guess(cell)
        total = self._seconds[cell] + sum(max(guess, age) for age in ages)
        number = self._episodes[cell] + len(ages)
        return total / number if number else guess

    def _guess(self, cell: tuple[str, str]) -> float:
        """By the number of calls if estimated, else by the finished episodes of the cell, else by all."""
        priced = [each for each in self._episodes if self._calls.get(each)]
        if priced and self._calls.get(cell):
            calls = sum(self._calls[each] * self._episodes[each] for each in priced)
            return self._calls[cell] * sum(self._seconds[each] for each in priced) / calls
        if self._episodes[cell]:
            return self._seconds[cell] / self._episodes[cell]
        return sum(self._seconds.values()) / self._episodes.total()


class ProgressDisplay:
    """Shows progress: a live line on a terminal, otherwise a plain line every few seconds."""

    def __init__(self, out: TextIO | None = None, every: float = SECONDS_BETWEEN_LINES) -> None:
        self._out = out or sys.stderr
        self._every = every
        self._live: Live | None = None
        self._last_print = monotonic()
        self._stop_shown = False
        self._last: RunProgress | None = None

    def __enter__(self) -> Self:
        if self._out.isatty():
            from rich.console import Console
            from rich.live import Live

            # Model clients may print warnings meanwhile: rich keeps them apart from the live line.
            screen = Console(file=self._out, markup=False, highlight=False, emoji=False)
            self._live = Live(console=screen, refresh_per_second=4, transient=True)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*error)
            self._live = None
        if self._last is not None:
            self._print(progress_line(self._last))

    def __call__(self, progress: RunProgress) -> None:
        self._last = progress
        if progress.stopping and not self._stop_shown:
            self._stop_shown = True
            if progress.in_flight:
                self._print(_stop_line(progress))
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(progress_line(progress), overflow="ellipsis", no_wrap=True))
        elif monotonic() - self._last_print >= self._every:
            self._last_print = monotonic()
            self._print(progress_line(progress))

    def _print(self, text: str) -> None:
        if self._live is not None:
            self._live.console.print(text)
        else:
            print(text, file=self._out, flush=True)


def _stop_line(progress: RunProgress) -> str:
    again = "; press Ctrl-C again to stop now" if progress.stopping == "interrupted" else ""
    episodes = plural(progress.in_flight, "episode")
    return f"stopping ({progress.stopping}): waiting for {episodes} in flight{again}."


def progress_line(progress: RunProgress) -> str:
    usage, counts, parts = progress.usage, progress.counts, [f"{progress.done}/{progress.total} episodes"]
    if usage.calls or counts["cached"]:
        speed = usage.calls / progress.seconds if progress.seconds > 0 else 0.0
        parts.append(f"{usage.calls:,} calls ({speed:.1f}/s)")
        parts.append(f"{_short(usage.tokens)} tokens")
    if usage.cost is not None:
        parts.append(f"${usage.cost:,.2f}" if usage.cost >= 1 else f"${usage.cost:.4f}")
    for number, name in (
        (counts["cached"], "cached"),
        (counts["retries"], "retries"),
        (progress.fallbacks, "fallbacks"),
        (progress.voids, "void"),
    ):
        if number:
            parts.append(f"{number:,} {name}")
    if progress.done < progress.total and progress.seconds_left is not None and not progress.stopping:
        parts.append(f"{duration(progress.seconds_left)} left")
    else:
        parts.append(duration(progress.seconds))
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as `59 s`, `1 min 1 s` or `1 h 1 min`."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
