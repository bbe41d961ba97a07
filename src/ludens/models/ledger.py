"""Hard limits on consumption: each request to a model is reserved in a ledger before it is sent."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure
from ludens.models.chat import Request
from ludens.models.errors import not_billed
from ludens.models.limits import DEFAULT_OUTPUT, estimate_input
from ludens.models.prices import Price
from ludens.models.spend import Ledger, Spend

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
