"""Rate limits of a model: concurrent calls, requests and tokens per minute, pauses a provider asks for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from weakref import WeakKeyDictionary, WeakValueDictionary

from ludens.models.chat import Request

WINDOW = 60.0
_CHARACTERS_PER_TOKEN = 4
_PIXELS_PER_TOKEN = 750
DEFAULT_OUTPUT = 512


class SlidingWindow:
    """At most `limit` units in any period of `seconds`; first come, first served.

    What a call consumes is known only afterwards: it enters with an estimate that `adjust` corrects.
    """

    def __init__(self, limit: int, seconds: float = WINDOW, clock: Callable[[], float] = monotonic) -> None:
        self.limit, self.seconds, self._clock = limit, seconds, clock
        self._entries: deque[list[float]] = deque()
        self._total = 0.0
        self._lock = asyncio.Lock()

    async def acquire(self, amount: float = 1) -> list[float]:
        """Wait until the amount fits. One that is larger than the limit waits for an empty window."""
        async with self._lock:
            while (delay := self._delay(amount)) > 0:
                await asyncio.sleep(delay)
            entry = [self._clock(), amount]
            self._entries.append(entry)
            self._total += amount
            return entry

    def adjust(self, entry: list[float], amount: float) -> None:
        """Replace an estimate by the actual amount."""
        if entry[0] > self._clock() - self.seconds:
            self._total += amount - entry[1]
            entry[1] = amount

    def _delay(self, amount: float) -> float:
        now = self._clock()
        while self._entries and self._entries[0][0] <= now - self.seconds:
            self._total -= self._entries.popleft()[1]
        if not self._entries or self._total + amount <= self.limit:
            return 0.0
        return max(self._entries[0][0] + self.seconds - now, 0.001)


class RateLimiter:
    """All limits of one model."""

    def __init__(self, concurrency: int, rpm: int = 0, tpm: int = 0) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self._requests = SlidingWindow(rpm) if rpm else None
        self._tokens = SlidingWindow(tpm) if tpm else None
        self._paused_until = 0.0

    async def acquire(
        self, tokens: Callable[[], int], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> Callable[[float], None]:
        """Wait until a request may be sent.

        Args:
            tokens: Estimates the tokens of the request; called only when tokens are limited.
            sleep: Waits while the model is paused; may raise to give up.

        Returns:
            A function that takes the number of tokens actually consumed.
        """
        adjust: Callable[[float], None] = _ignore
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            adjust = partial(self._tokens.adjust, await self._tokens.acquire(tokens()))
        while (pause := self._paused_until - monotonic()) > 0:
            await sleep(pause)
        return adjust

    def pause(self, seconds: float) -> None:
        """Send no request for some seconds, because the provider asked for it."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)


_Key = tuple[str, int, int, int]
_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[_Key, RateLimiter]] = (
    WeakKeyDictionary()
)


def shared_limiter(model: str, concurrency: int, rpm: int, tpm: int) -> RateLimiter:
    """The rate limiter of a model in the running event loop, shared by all specs with the same limits.

    Providers count requests per model, whatever the sampling parameters.
    """
    limiters = _limiters.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    key = (model, concurrency, rpm, tpm)
    limiter = limiters.get(key)
    if limiter is None:
        limiter = limiters[key] = RateLimiter(concurrency, rpm, tpm)
    return limiter


def _ignore(consumed: float) -> None:
    """Tokens are not limited."""


def estimate_tokens(request: Request, max_tokens: int | None) -> int:
    """Rough number of tokens that a request will consume, input and output."""
    return estimate_input(request) + (max_tokens or DEFAULT_OUTPUT)


def estimate_input(request: Request) -> int:
    """Rough number of input tokens of a request."""
    characters = sum(len(part) for m in request.messages for part in m.parts if isinstance(part, str))
    pixels = sum(picture.width * picture.height for picture in request.pictures)
    return characters // _CHARACTERS_PER_TOKEN + pixels // _PIXELS_PER_TOKEN
