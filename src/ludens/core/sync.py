"""Driving coroutines without an event loop: at once, in a thread, or from one question to the next."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_SYNC: ContextVar[bool] = ContextVar("run_sync", default=False)
"""Whether `run_sync` drives this code: nothing may then wait for a thread, even inside an event loop."""


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, such as an episode among bots; needs no event loop."""
    token = _SYNC.set(True)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        _SYNC.reset(token)
    coroutine.close()
    raise RuntimeError("run_sync was given a coroutine that waits")


class InterviewQuestion:
    """Awaited inside a coroutine that an `Interview` drives: hands a value out, and returns the answer."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Generator[InterviewQuestion, Any, Any]:
        return (yield self)


class Interview(Generic[T]):
    """A coroutine that waits for nothing but its `InterviewQuestion`s, driven from one to the next."""

    result: T

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self.over = False
        """Whether the coroutine has ended, with `result`."""

    def proceed(self, answer: Any = None) -> Any:
        """Answer the last question (none at the start); returns the value of the next, None at the end."""
        token = _SYNC.set(True)
        try:
            question = self._coroutine.send(answer)
        except StopIteration as stop:
            self.result, self.over = stop.value, True
            return None
        finally:
            _SYNC.reset(token)
        if not isinstance(question, InterviewQuestion):
            self.close()
            raise RuntimeError(
                "the coroutine of an Interview waits for something else than an InterviewQuestion"
            )
        return question.value

    def close(self) -> None:
        self.over = True
        self._coroutine.close()


async def in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, computed in a thread while the event loop goes on.

    Inside `run_sync` it is computed here.
    """
    if _SYNC.get():
        return await coroutine
    return await asyncio.to_thread(run_sync, coroutine)
