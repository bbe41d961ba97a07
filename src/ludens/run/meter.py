"""What the models of a run have consumed, counted answer by answer: live, and voids included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from ludens.core.episode import Usage
from ludens.models.cache import Cached
from ludens.models.chat import Answer, Model, Request
from ludens.models.client import Client


@dataclass(slots=True)
class Meter:
    """Sums over answers. `cost` is None while no price is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    cached: int = 0
    retries: int = 0
    """Calls that had to be sent again."""
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """Read and written."""
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
        """All of them together."""
        total = Meter()
        for meter in meters:
            for f in fields(Meter):
                value = getattr(meter, f.name)
                if value:
                    setattr(total, f.name, (getattr(total, f.name) or 0) + value)
        return total


class Metered(Model):
    """A model whose every answer is counted."""

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


def paced(made: Model, given: Iterable[str], concurrency: int, processes: int) -> Model:
    """The model with its limits shared out.

    Args:
        made: The model, not asked yet.
        given: The options its spec sets.
        concurrency: Episodes played here at once; none waits for another unless the spec says so.
        processes: Those that share what a provider allows.
    """
    client = made.inner if isinstance(made, Cached) else made
    if isinstance(client, Client):
        settings = client.settings
        own = "concurrency" in given
        flying = settings.concurrency // processes if own else max(settings.concurrency, concurrency)
        client.settings = replace(
            settings,
            concurrency=max(1, flying),
            rpm=_shared(settings.rpm, processes),
            tpm=_shared(settings.tpm, processes),
        )
    return made


def _shared(limit: int, processes: int) -> int:
    """A part of a limit; 0 is no limit and stays so."""
    return max(1, limit // processes) if limit else 0
