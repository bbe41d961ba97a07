"""What budgets limit, and the ledger in which requests are reserved before they are sent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spend:
    """What budgets limit."""

    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spend) -> Spend:
        return self + other * -1

    def __mul__(self, number: float) -> Spend:
        return Spend(self.calls * number, self.tokens * number, self.cost * number)

    def __truediv__(self, number: float) -> Spend:
        return Spend(self.calls / number, self.tokens / number, self.cost / number)


class Ledger(ABC):
    """Records what all models of a run have consumed and what requests in flight may consume."""

    @abstractmethod
    async def reserve(self, expected: Spend, alone: bool) -> str:
        """Wait until the budget covers a request and reserve it; returns why it never will, else ''.

        Args:
            expected: What the request will consume at most, as far as is known.
            alone: Whether to wait until no other request is in flight, because the price is unknown.
        """

    @abstractmethod
    def settle(self, expected: Spend, actual: Spend) -> None:
        """Replace a reservation by what was consumed."""
