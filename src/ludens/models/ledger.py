"""What models may spend: requests and tokens per minute, token prices, budgets, and the ledger in which
requests are reserved before they are sent."""

from __future__ import annotations

import asyncio
import os
import tomllib
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, isfinite
from pathlib import Path
from time import monotonic
from weakref import WeakKeyDictionary, WeakValueDictionary

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadFile, BadOption
from ludens.models.errors import not_billed

WINDOW = 60.0
DEFAULT_OUTPUT = 512
"""Tokens of an answer where neither a limit nor another answer is known."""
_ROUNDING = 1e-9


class SlidingWindow:
    """At most `limit` units in any period of `WINDOW` seconds; first come, first served.

    What a call consumes is known only afterwards: it enters with an estimate that `adjust` corrects.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = monotonic) -> None:
        self.limit, self._clock = limit, clock
        self._entries: deque[list[float]] = deque()
        self._total = 0.0
        self._lock = asyncio.Lock()

    async def acquire(self, amount: float = 1) -> list[float]:
        async with self._lock:
            while (delay := self._delay(amount)) > 0:
                await asyncio.sleep(delay)
            entry = [self._clock(), amount]
            self._entries.append(entry)
            self._total += amount
            return entry

    def adjust(self, entry: list[float], amount: float) -> None:
        if entry[0] > self._clock() - WINDOW:
            self._total += amount - entry[1]
            entry[1] = amount

    def _delay(self, amount: float) -> float:
        now = self._clock()
        while self._entries and self._entries[0][0] <= now - WINDOW:
            self._total -= self._entries.popleft()[1]
        if not self._entries or self._total + amount <= self.limit:
            return 0.0
        return max(self._entries[0][0] + WINDOW - now, 0.001)


class RateLimiter:
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
        if self._requests:
            await self._requests.acquire()
        window = self._tokens
        entry = await window.acquire(tokens()) if window else []
        while (pause := self._paused_until - monotonic()) > 0:
            await sleep(pause)
        return partial(window.adjust, entry) if window else lambda consumed: None

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


VARIABLE = "LUDENS_PRICES"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens. Reasoning counts as output."""

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _MILLION


def price_of(name: str) -> Price | None:
    """The price of a model, by full name (`openai/gpt-4.1`) or without its kind."""
    prices = load_prices(_prices_file())
    return prices.get(name) or prices.get(name.partition("/")[2])


def load_prices(path: Path | None) -> dict[str, Price]:
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read prices from {str(path)!r}: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{str(path)!r} is not TOML: {error}.") from None
    return {name: _price(path, name, table) for name, table in tables.items()}


def _price(path: Path, name: str, table: object) -> Price:
    if not isinstance(table, dict) or set(table) != {"input", "output"}:
        hint = "" if '"' in name or not isinstance(table, dict) else " (names with dots need quotes)"
        raise BadFile(f"{str(path)!r}: {name!r} must have two entries, input and output{hint}.")
    for word, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MILLION:
            entry = f"{word} of {name!r}"
            raise BadFile(f"{str(path)!r}: {entry} must be dollars per million tokens, not {value!r}.")
    return Price(float(table["input"]), float(table["output"]))


def _prices_file() -> Path | None:
    if path := os.environ.get(VARIABLE):
        return Path(path).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    default = Path(home).expanduser() / "ludens" / "prices.toml"
    return default if default.is_file() else None


BUDGET_REACHED = "the budget does not cover another call: "


class BudgetReached(AgentFailure):
    """A request was not sent because the budget does not cover it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{BUDGET_REACHED}{reason}.")
        self.reason = reason


@dataclass(frozen=True)
class Budget:
    """Limits of one `eval` or `resume`, or of a server."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isfinite(value) and value > 0):
                raise BadOption(f"--max-{name} must be above 0, not {value:g}.")

    @property
    def limits_spending(self) -> bool:
        """Whether calls, tokens or cost are limited."""
        return (self.calls or self.tokens or self.cost) is not None

    def exceeded_by(self, more: Usage, spent: Usage, unit: str = "episode") -> str:
        """Why the budget does not cover this in addition to what is spent; empty if it does."""
        cost, more_cost = spent.cost or 0.0, more.cost or 0.0
        for limit, total, amount, flag, words in (
            (self.calls, spent.calls, more.calls, "calls", f"{spent.calls:,} calls used"),
            (self.tokens, spent.tokens, more.tokens, "tokens", f"{spent.tokens:,} tokens used"),
            (self.cost, cost, more_cost, "cost", f"${cost:.4f} spent"),
        ):
            if limit is not None and (total >= limit or total + amount > limit * (1 + _ROUNDING)):
                note = "" if total >= limit else f", and one more {unit} is expected to exceed the limit"
                return f"{words}{note} (--max-{flag} {limit:g})"
        return ""


@dataclass(slots=True)
class _Rates:
    """The largest figures in the answers of a model so far."""

    input_ratio: float | None = None
    """Of actual to estimated input."""
    output: int = 0
    cost_per_token: float | None = None


class Ledger:
    """What models have spent, and what requests in flight may spend.

    A request is sent only if the budget covers it in addition to both. Its input is estimated from texts and
    pictures, its output is `max_tokens`; estimates improve with each answer of the same model.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.spent, self._reserved, self._in_flight = Usage(calls=0), Usage(calls=0), 0
        self._settled = asyncio.Event()
        self._rates: defaultdict[str, _Rates] = defaultdict(_Rates)

    @staticmethod
    def of(budget: Budget | None) -> Ledger | None:
        """The ledger of a budget; None when calls, tokens and cost are not limited."""
        return Ledger(budget) if budget is not None and budget.limits_spending else None

    async def reserve(self, expected: Usage) -> str:
        """Wait until the budget covers a request and reserve it; returns why it never will, else ''.

        Where cost is limited, a request of unknown cost waits until no other is in flight.
        """
        alone = expected.cost is None and self._budget.cost is not None
        while True:
            if reason := self._budget.exceeded_by(expected, self.spent, "call"):
                return reason
            if not self._in_flight:
                break
            if not alone and not self._budget.exceeded_by(expected, self.spent + self._reserved):
                break
            await self._settled.wait()
        self._reserved += expected
        self._in_flight += 1
        return ""

    def settle(self, expected: Usage, actual: Usage) -> None:
        self._in_flight -= 1
        self._reserved = self._reserved - expected if self._in_flight else Usage(calls=0)
        self.spent += actual
        settled, self._settled = self._settled, asyncio.Event()
        settled.set()

    def expected(self, model: str, price: Price | None, input_tokens: int, max_tokens: int | None) -> Usage:
        """What a request will spend at most, as far as is known; its cost is None if the price is unknown."""
        rates = self._rates[model]
        read = ceil(input_tokens * (1.0 if rates.input_ratio is None else rates.input_ratio))
        usage = Usage(read, max_tokens or rates.output or DEFAULT_OUTPUT)
        if price is not None:
            usage.cost = price.cost(usage)
        elif rates.cost_per_token is not None:
            usage.cost = rates.cost_per_token * usage.tokens
        return usage

    @asynccontextmanager
    async def request(
        self, model: str, price: Price | None, input_tokens: int, max_tokens: int | None
    ) -> AsyncIterator[Callable[[Usage], None]]:
        """Reserve a request of a model on entry and settle it on exit; yields what takes its actual usage.

        Requests that fail count as one call; those that may have been processed nevertheless (timeout,
        cancellation, broken answer) also as the expected tokens and cost.

        Raises:
            BudgetReached: The budget does not cover it.
        """
        expected = self.expected(model, price, input_tokens, max_tokens)
        if reason := await self.reserve(expected):
            raise BudgetReached(reason)
        actual = expected

        def answered(usage: Usage) -> None:
            nonlocal actual
            if usage.tokens or not usage.calls:  # some servers report no usage: the estimate stays
                cost = price.cost(usage) if price and usage.tokens else usage.cost
                actual = replace(usage, cost=cost)
                self._learn(model, actual, input_tokens)

        try:
            yield answered
        except BaseException as error:
            if actual is expected and not_billed(error):
                actual = Usage()
            raise
        finally:
            self.settle(expected, actual)

    def _learn(self, model: str, usage: Usage, estimated_input: int) -> None:
        if not usage.tokens:
            return
        rates = self._rates[model]
        rates.input_ratio = max(rates.input_ratio or 0.0, usage.input_tokens / max(1, estimated_input))
        rates.output = max(rates.output, usage.output_tokens)
        if usage.cost is not None:
            rates.cost_per_token = max(rates.cost_per_token or 0.0, usage.cost / usage.tokens)


class RemoteLedger(Ledger, ABC):
    """A ledger in another process. Subclasses send reservations (`ask`) and settlements (`settle`)."""

    def __init__(self) -> None:
        super().__init__(Budget())

    @abstractmethod
    def ask(self, expected: Usage) -> asyncio.Future[str]:
        """Call `reserve` in the other process."""

    async def reserve(self, expected: Usage) -> str:
        reply = self.ask(expected)
        try:
            return await asyncio.shield(reply)
        except asyncio.CancelledError:
            reply.add_done_callback(lambda granted: self._release(granted, expected))
            raise

    def _release(self, granted: asyncio.Future[str], expected: Usage) -> None:
        if not granted.cancelled() and granted.exception() is None and not granted.result():
            self.settle(expected, Usage(calls=0))
