"""Counts the coroutines of an event loop that may still produce model requests.

A local model needs large batches and no idle time. It can answer as soon as every episode waits for an
answer, because then no further request can arrive:

    activity = current_activity()
    with activity.running():                      # one episode
        ...
        with activity.waiting():                  # no request can come from here until this is done
            reply = await agent.act(ask)
        ...
        replies = await activity.gather(*coroutines)  # several seats at once: each counts as running
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Activity:
    """The counts of one event loop. Used only from that loop's thread."""

    def __init__(self) -> None:
        self.live = 0
        """Open `running()` scopes, waiting or not."""
        self.active = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._running, self._waiting = _Scope(self, 1, 1), _Scope(self, 0, -1)

    @property
    def idle(self) -> bool:
        """Whether all live coroutines wait. False when there are none: then nothing is known."""
        return self.live > 0 and self.active == 0

    def running(self) -> AbstractContextManager[None]:
        """A scope in which the calling coroutine may produce requests."""
        return self._running

    def waiting(self) -> AbstractContextManager[None]:
        """A scope, inside a `running` one, in which the coroutine only waits."""
        return self._waiting

    async def gather(self, *coroutines: Coroutine[Any, Any, T]) -> list[T | BaseException]:
        """`asyncio.gather(..., return_exceptions=True)` from inside a `running` scope.

        The caller counts as waiting and every coroutine as running until it is done. The last one hands its
        count back to the caller, so the loop is never idle in between.
        """
        if not coroutines:
            return []
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        running = len(tasks)

        def finish(_: asyncio.Future[T]) -> None:
            nonlocal running
            running -= 1
            if running:
                self.change(0, -1)

        self.change(0, running - 1)
        for task in tasks:
            task.add_done_callback(finish)
        return await asyncio.gather(*tasks, return_exceptions=True)

    async def wait_idle(self) -> None:
        """Return once all live coroutines wait."""
        await asyncio.sleep(0)  # coroutines whose result has just arrived run first
        while not self.idle:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)

    def change(self, live: int, active: int) -> None:
        self.live += live
        self.active += active
        if self._waiters and self.idle:
            # Not at once: coroutines that are ready to run still count as waiting.
            asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        if self.idle:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)


class _Scope(AbstractContextManager[None]):
    """Adds to the counts on entry and subtracts the same on exit. Holds no state, so it can be shared."""

    def __init__(self, activity: Activity, live: int, active: int) -> None:
        self._activity, self._live, self._active = activity, live, active

    def __enter__(self) -> None:
        self._activity.change(self._live, self._active)

    def __exit__(self, *_: object) -> None:
        self._activity.change(-self._live, -self._active)


_activities: WeakKeyDictionary[asyncio.AbstractEventLoop, Activity] = WeakKeyDictionary()


def current_activity() -> Activity:
    """The activity of the running event loop; a new one without an event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return Activity()
    activity = _activities.get(loop)
    if activity is None:
        activity = _activities[loop] = Activity()
    return activity
