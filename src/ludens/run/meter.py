"""What the models of a run consume, counted with every answer, those of void episodes included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from ludens.core.episode import Usage
from ludens.core.spec import parse_spec
from ludens.models.chat import Answer, Model, Request
from ludens.models.ledger import Account
from ludens.models.prices import price_of
from ludens.models.spend import Ledger


@dataclass(slots=True)
class Meter:
    """Sums over answers."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    cached: int = 0
    """Answers that came from the answer cache."""
    retries: int = 0
    """Calls that were sent again."""
    cost: float | None = None
    """None while no price is known."""

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def add(self, usage: Usage) -> None:
        """Count one answer."""
        self.calls += usage.calls
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.images += usage.images
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost

    @staticmethod
    def sum(meters: Iterable[Meter]) -> Meter:
        """All meters together."""
        total = Meter()
        for meter in meters:
            for f in fields(Meter):
                value = getattr(meter, f.name)
                if value:
                    setattr(total, f.name, (getattr(total, f.name) or 0) + value)
        return total


class Metered(Model):
    """A model that counts its answers in a meter and reserves its calls in a ledger, if there is one."""

    def __init__(self, inner: Model, meter: Meter, ledger: Ledger | None = None) -> None:
        super().__init__(inner.spec)
        self.inner, self.meter = inner, meter
        self.counts, self.remarks, self.trained_on = inner.counts, inner.remarks, inner.trained_on
        self._account: Account | None = None
        if ledger is not None and not inner.limit_spending(ledger):
            self._account = Account(ledger, price_of(parse_spec(inner.spec).name))

    async def answer(self, request: Request) -> Answer:
        if self._account is None:
            answer = await self.inner.answer(request)
        else:
            async with self._account.reserve(request, request.sampling.max_tokens) as reservation:
                answer = await self.inner.answer(request)
                reservation.answered(answer.usage)
        self.meter.add(answer.usage)
        self.meter.cached += answer.cached
        return answer

    @property
    def paid(self) -> bool:
        return self.inner.paid

    def stop_waiting(self) -> None:
        self.inner.stop_waiting()

    async def close(self) -> None:
        await self.inner.close()
