"""How a run is getting on: a live line at a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich.live import Live

    from ludens.run.engine import Tally

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Shows tallies while it is entered; called with each."""

    def __init__(self, out: TextIO | None = None, every: float = SECONDS_BETWEEN_LINES) -> None:
        self._out = out or sys.stderr
        self._every = every
        self._live: Live | None = None
        self._shown = monotonic()
        self._stopping = False
        self._last: Tally | None = None

    def __enter__(self) -> Self:
        if self._out.isatty():
            from rich.console import Console
            from rich.live import Live

            # What models are reached with may warn while the line is there: rich keeps both apart.
            screen = Console(file=self._out, markup=False, highlight=False, emoji=False)
            self._live = Live(console=screen, refresh_per_second=4, transient=True)
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)
            self._live = None
        if self._last is not None:
            self._print(line(self._last))

    def __call__(self, tally: Tally) -> None:
        self._last = tally
        if tally.stopping and not self._stopping:
            self._stopping = True
            self._told(tally)
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(line(tally), overflow="ellipsis", no_wrap=True))
        elif monotonic() - self._shown >= self._every:
            self._shown = monotonic()
            self._print(line(tally))

    def _told(self, tally: Tally) -> None:
        """Say at once that the end has begun, and what is still waited for."""
        if not tally.in_flight:
            return
        again = " Ctrl-C again stops now." if tally.stopping == "interrupted" else ""
        self._print(f"{tally.stopping}: starting nothing more, finishing {tally.in_flight} in flight.{again}")

    def _print(self, text: str) -> None:
        if self._live is not None:
            self._live.console.print(text)
        else:
            print(text, file=self._out, flush=True)


def line(tally: Tally) -> str:
    """The state of a run in one line."""
    meter, parts = tally.meter, [f"{tally.done}/{tally.total} episodes"]
    if meter.calls or meter.cached:
        speed = meter.calls / tally.seconds if tally.seconds > 0 else 0.0
        parts.append(f"{meter.calls:,} calls ({speed:.1f}/s)")
        parts.append(f"{_short(meter.tokens)} tokens")
    if meter.cost is not None:
        parts.append(f"${meter.cost:,.2f}" if meter.cost >= 1 else f"${meter.cost:.4f}")
    for number, name in (
        (meter.cached, "from the cache"),
        (meter.retries, "retries"),
        (tally.fallbacks, "fallbacks"),
        (tally.voids, "void"),
    ):
        if number:
            parts.append(f"{number:,} {name}")
    if tally.done < tally.total and tally.left is not None and not tally.stopping:
        parts.append(f"{clock(tally.left)} left")
    else:
        parts.append(clock(tally.seconds))
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """A duration as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
