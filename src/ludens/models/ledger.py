"""Limits of models: requests and tokens per minute, token prices, and the ledger in which requests are
reserved before they are sent."""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary, WeakValueDictionary

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadFile
from ludens.models.chat import Ledger, Request, Spend
from ludens.models.errors import not_billed

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


VARIABLE = "LUDENS_PRICES"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens. Reasoning counts as output."""

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        """Dollars for this usage."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _MILLION


def price_of(name: str) -> Price | None:
    """The price of a model, by full name (`openai/gpt-4.1`) or without its kind."""
    prices = load_prices(_prices_file())
    return prices.get(name) or prices.get(name.partition("/")[2])


def load_prices(path: Path | None) -> dict[str, Price]:
    """Every price in a file."""
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read prices from {path}: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{path} is not TOML: {error}.") from None
    return {name: _price(path, name, table) for name, table in tables.items()}


def _price(path: Path, name: str, table: object) -> Price:
    if not isinstance(table, dict) or set(table) != {"input", "output"}:
        hint = "" if '"' in name or not isinstance(table, dict) else " (names with dots need quotes)"
        raise BadFile(f"{path}: {name!r} must have two entries, input and output{hint}.")
    for word, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MILLION:
            raise BadFile(f"{path}: {word} of {name!r} must be dollars per million tokens, not {value!r}.")
    return Price(float(table["input"]), float(table["output"]))


def _prices_file() -> Path | None:
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    default = Path(home).expanduser() / "ludens" / "prices.toml"
    return default if default.is_file() else None


BUDGET_REACHED = "the budget does not cover another call: "
"""How the message of every `BudgetReached` begins."""


class BudgetReached(AgentFailure):
    """A request was not sent because the budget does not cover it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{BUDGET_REACHED}{reason}.")
        self.reason = reason


class Account:
    """Reserves the requests of one model, with estimates that improve with each answer.

    The input is estimated from the length of texts and the size of pictures, times the largest ratio of
    actual to estimated input so far. The output is `max_tokens`, or else the longest output so far.
    """

    def __init__(self, ledger: Ledger, price: Price | None) -> None:
        self.ledger, self._price = ledger, price
        self._input_ratio: float | None = None
        self._longest_output = 0
        self._cost_per_token: float | None = None

    def reserve(self, request: Request, max_tokens: int | None) -> Reservation:
        """The reservation of one request, to be used in `async with`."""
        return Reservation(self, request, max_tokens)

    def expected(self, request: Request, max_tokens: int | None) -> tuple[Spend, bool]:
        """What a request will consume, and whether its price is unknown."""
        read = estimate_input(request) * (1.0 if self._input_ratio is None else self._input_ratio)
        written = max_tokens or self._longest_output or DEFAULT_OUTPUT
        if self._price is not None:
            cost = self._price.cost(Usage(input_tokens=round(read), output_tokens=written))
            return Spend(1, read + written, cost), False
        return Spend(1, read + written, (self._cost_per_token or 0.0) * (read + written)), (
            self._cost_per_token is None
        )

    def actual(self, request: Request, usage: Usage) -> Spend:
        """What an answer consumed; later estimates take it into account."""
        cost = self._price.cost(usage) if self._price and usage.tokens else usage.cost
        if usage.tokens:
            ratio = usage.input_tokens / max(1, estimate_input(request))
            self._input_ratio = max(self._input_ratio or 0.0, ratio)
            self._longest_output = max(self._longest_output, usage.output_tokens)
            if cost is not None:
                self._cost_per_token = max(self._cost_per_token or 0.0, cost / usage.tokens)
        return Spend(usage.calls, usage.tokens, cost or 0.0)


class Reservation:
    """Reserves a request on entry and settles it on exit.

    Requests that fail count as one call; those that may have been processed nevertheless (timeout,
    cancellation, broken answer) also as the expected tokens and cost.
    """

    def __init__(self, account: Account, request: Request, max_tokens: int | None) -> None:
        self._account, self._request = account, request
        self._expected, self._alone = account.expected(request, max_tokens)
        self._actual: Spend | None = None

    async def __aenter__(self) -> Self:
        reason = await self._account.ledger.reserve(self._expected, self._alone)
        if reason:
            raise BudgetReached(reason)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        actual = self._actual
        if actual is None:
            actual = Spend(1) if error is not None and not_billed(error) else self._expected
        self._account.ledger.settle(self._expected, actual)

    def answered(self, usage: Usage) -> None:
        """Settle with the usage of the answer instead of the estimate."""
        if usage.tokens or not usage.calls:  # some servers report no usage: the estimate stays
            self._actual = self._account.actual(self._request, usage)
