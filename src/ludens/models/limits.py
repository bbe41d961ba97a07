"""How much may be asked: calls in flight, requests and tokens a minute, and the rests a provider asks for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from weakref import WeakKeyDictionary, WeakValueDictionary

from ludens.models.chat import Request

WINDOW = 60.0
_LETTERS_A_TOKEN = 4
_PIXELS_A_TOKEN = 750
_UNKNOWN_OUTPUT = 512


class Window:
    """Lets no more than `limit` through within any stretch of `seconds`; first come, first served.

    What a call will consume is not known before: it enters with an estimate that `settle` corrects.
    """

    def __init__(self, limit: int, seconds: float = WINDOW, clock: Callable[[], float] = monotonic) -> None:
        self.limit, self.seconds, self._clock = limit, seconds, clock
        self._entries: deque[list[float]] = deque()
        self._inside = 0.0
        self._queue = asyncio.Lock()

    async def enter(self, amount: float = 1) -> list[float]:
        """Wait for room; one call larger than the limit enters when nobody else is inside."""
        async with self._queue:
            while (pause := self._pause(amount)) > 0:
                await asyncio.sleep(pause)
            entry = [self._clock(), amount]
            self._entries.append(entry)
            self._inside += amount
            return entry

    def settle(self, entry: list[float], amount: float) -> None:
        """Say what a call really consumed."""
        if entry[0] > self._clock() - self.seconds:
            self._inside += amount - entry[1]
            entry[1] = amount

    def _pause(self, amount: float) -> float:
        now = self._clock()
        while self._entries and self._entries[0][0] <= now - self.seconds:
            self._inside -= self._entries.popleft()[1]
        if not self._entries or self._inside + amount <= self.limit:
            return 0.0
        return max(self._entries[0][0] + self.seconds - now, 0.001)


class Gate:
    """Everything a call passes before it is sent."""

    def __init__(self, concurrency: int, rpm: int = 0, tpm: int = 0) -> None:
        self.slots = asyncio.Semaphore(concurrency)
        self._requests = Window(rpm) if rpm else None
        self._tokens = Window(tpm) if tpm else None
        self._rest_until = 0.0

    async def enter(self, tokens: Callable[[], int]) -> Callable[[float], None]:
        """Wait for a turn. The function given back takes the number of tokens that were consumed."""
        settle: Callable[[float], None] = _ignore
        if self._requests:
            await self._requests.enter()
        if self._tokens:
            settle = partial(self._tokens.settle, await self._tokens.enter(tokens()))
        while (rest := self._rest_until - monotonic()) > 0:
            await asyncio.sleep(rest)
        return settle

    def rest(self, seconds: float) -> None:
        """Send nothing for a while: the provider asked for it, and it meant every call."""
        self._rest_until = max(self._rest_until, monotonic() + seconds)


_Limits = tuple[str, int, int, int]
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[_Limits, Gate]] = WeakKeyDictionary()


def shared_gate(model: str, concurrency: int, rpm: int, tpm: int) -> Gate:
    """The gate of a model in the running event loop; specs that set other limits have one of their own.

    A provider counts what its model is asked, not which temperature it is asked with.
    """
    here = _gates.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    limits = (model, concurrency, rpm, tpm)
    gate = here.get(limits)
    if gate is None:
        gate = here[limits] = Gate(concurrency, rpm, tpm)
    return gate


def _ignore(consumed: float) -> None:
    """Nobody counts tokens."""


def estimate(request: Request, max_tokens: int | None) -> int:
    """Roughly what a request will consume: enough to keep a limit before the bill is known."""
    letters = sum(len(part) for m in request.messages for part in m.parts if isinstance(part, str))
    pixels = sum(picture.width * picture.height for picture in request.pictures)
    return letters // _LETTERS_A_TOKEN + pixels // _PIXELS_A_TOKEN + (max_tokens or _UNKNOWN_OUTPUT)
