"""What the models of a run consume, counted with every answer, those of void episodes included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from ludens.core.episode import Usage
from ludens.models.chat import Answer, Model, Request


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
    """A model that counts its answers in a meter."""

    def __init__(self, inner: Model, meter: Meter) -> None:
        super().__init__(inner.spec)
        self.inner, self.meter = inner, meter
        self.counts, self.remarks = inner.counts, inner.remarks

    async def answer(self, request: Request) -> Answer:
        answer = await self.inner.answer(request)
        self.meter.add(answer.usage)
        self.meter.cached += answer.cached
        return answer

    async def close(self) -> None:
        await self.inner.close()
