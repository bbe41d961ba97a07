"""Games in real time: a step ends when its time is over, and whoever has not acted stays.

A game says how long a step lasts (`Game.step_seconds`). Among bots alone there is no clock: nobody waits for
them. Replays have none either, because the episode records who was late.
"""

from __future__ import annotations

import asyncio
import re

from ludens.core.errors import BadOption

SHORTEST, LONGEST = 0.02, 60.0
_INTERVAL = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?(ms|s)")

REALTIME_HELP = "how long a step lasts, such as 250ms: who has not acted by then stays; empty: no clock"


def read_interval(text: str, owner: str) -> float | None:
    """Seconds, from `250ms` or `1.5s`; None for the empty text."""
    if not text:
        return None
    match = _INTERVAL.fullmatch(text.strip().lower())
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else 0.0
    if not SHORTEST <= seconds <= LONGEST:
        raise BadOption(f"option 'realtime' of {owner} is a time from 20ms to 60s, not {text!r}.")
    return seconds


def realtime_rule(seconds: float | None, action: str) -> str:
    """What the rules of a game say about its clock; nothing without one."""
    if seconds is None:
        return ""
    lasts = f"{seconds:g} seconds" if seconds >= 1 else f"{seconds * 1000:g} milliseconds"
    return f"\n\nThe game has a clock: a step lasts {lasts}. Whoever has not acted by then does {action}."


class Clock:
    """Ends the steps of one game at regular intervals; a step that begins late has its whole time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def start_step(self) -> asyncio.Future[None] | None:
        """A future that is done when the step is over; None where the step waits for everybody."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = now if self._end is None else self._end
        self._end = (due if due + self._seconds > now else now) + self._seconds
        over: asyncio.Future[None] = loop.create_future()
        loop.call_at(self._end, lambda: None if over.done() else over.set_result(None))
        return over
