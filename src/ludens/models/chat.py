"""Requests and answers, the same for every provider.

request = Request((Message("user", (picture, "Where is the king?")),), Sampling(temperature=0.0))
answer = await model.answer(request)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, Self

import orjson

from ludens.core.ask import Ask
from ludens.core.episode import Usage
from ludens.core.options import option
from ludens.core.plain import storable
from ludens.core.tools import Tool
from ludens.core.view import Picture

if TYPE_CHECKING:
    from ludens.models.ledger import Ledger


CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filtered", "refused"]
"""Why an answer ended: by itself, cut off, blocked by a content filter, or refused by the model."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: texts and pictures in order."""

    role: Role
    parts: Sequence[str | Picture]

    @property
    def text(self) -> str:
        """Its texts, as paragraphs."""
        return "\n\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> list[Picture]:
        return [part for part in self.parts if not isinstance(part, str)]


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters. None leaves a parameter to the provider."""

    temperature: float | None = option(None, kind=float, low=0, high=2, help="sampling temperature")
    top_p: float | None = option(None, kind=float, low=0, high=1, help="nucleus sampling probability")
    max_tokens: int | None = option(None, kind=int, low=1, help="most tokens in an answer")
    reasoning_effort: str | None = option(None, kind=str, help="how much to reason: low, medium, high, ...")
    seed: int | None = option(None, kind=int, help="sampling seed, where the provider supports one")

    def over(self, other: Sampling) -> Sampling:
        """These parameters; those that are None are taken from `other`."""
        return _over(self, other)


@lru_cache(maxsize=256)
def _over(first: Sampling, second: Sampling) -> Sampling:
    values = {f.name: getattr(first, f.name) for f in fields(Sampling)}
    return replace(second, **{name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation to be continued. Sampling parameters in the model's spec override those given here."""

    messages: Sequence[Message]
    sampling: Sampling = Sampling()
    sample: int = 0
    """Distinguishes several answers to the same conversation: equal requests may share a cached answer."""
    ask: Ask | None = field(default=None, repr=False, compare=False)
    """The question that the messages put into words, for models that are not prompted in words."""
    game: str = ""
    tools: Sequence[Tool] = ()
    """Tools that may be called, for models with `calls_tools`."""
    want_tokens: bool = False
    """Whether `Answer.tokens` is needed; only models in this process can provide it."""

    @property
    def pictures(self) -> list[Picture]:
        return [picture for message in self.messages for picture in message.pictures]

    @property
    def estimated_input(self) -> int:
        characters = sum(len(part) for m in self.messages for part in m.parts if isinstance(part, str))
        pixels = sum(picture.width * picture.height for picture in self.pictures)
        return characters // CHARACTERS_PER_TOKEN + pixels // PIXELS_PER_TOKEN

    def digest(self, spec: str) -> str:
        """A hash of this request to this model; pictures count by their pixels, not by their encoding."""
        messages = [
            (m.role, [part if isinstance(part, str) else {"picture": part.hash} for part in m.parts])
            for m in self.messages
        ]
        content = [spec, messages, asdict(self.sampling), self.sample, *map(asdict, self.tools)]
        return blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=20).hexdigest()


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of an answer, as fed to the model and sampled from it. Kept in memory only."""

    prompt_ids: list[int]
    completion_ids: list[int]
    """With the end-of-sequence token, where one was sampled."""
    logprobs: list[float]
    """Log-probability of each completion token under the distribution it was sampled from: after temperature,
    top_p and suppressed tokens. At temperature 0, under the distribution at temperature 1."""
    temperature: float
    """By which the logits were divided."""
    suppressed: tuple[int, ...]
    """Ids whose probability was set to zero: placeholders of pictures."""
    pictures: Sequence[Picture] = ()
    """The pictures fed, in the order of their placeholders."""
    explored: bool = False
    """Whether the choice was drawn evenly, whatever the model prefers."""


@dataclass(slots=True)
class Answer:
    """The answer to a request."""

    text: str
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The model's name as reported by the provider; often more specific than the requested one."""
    ms: float = 0.0
    """Duration of the successful attempt, without queueing and retries."""
    reasoning: str = ""
    """The reasoning text before the answer, where the provider returns it."""
    cached: bool = False
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Tool calls: `name` and `arguments`, which are JSON, or the text that was not."""
    tokens: Tokens | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.text, self.reasoning = storable(self.text), storable(self.reasoning)
        self.model = storable(self.model)

    def to_dict(self) -> dict[str, Any]:
        values = asdict(replace(self, tokens=None))
        del values["tokens"]
        return values


class Model(ABC):
    """Answers requests. Bound to the event loop of its first request until it is closed."""

    spec: str
    """Makes this model again: name, address and every option that affects answers. Never contains a key."""

    calls_tools: bool = False
    """Whether it makes the tool calls that requests ask for."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.counts: Counter[str] = Counter()
        """Events so far: `calls`, `retries`, `cached`, `extended`, and each kind of transient error."""
        self.remarks: list[str] = []
        """Notes for reports, such as options that the model does not support."""
        self.trained_on: frozenset[str] = frozenset()
        """The games on which Ludens trained it, as its checkpoint says."""

    @abstractmethod
    async def answer(self, request: Request) -> Answer:
        """Answer a request.

        Raises:
            AgentFailure: No answer after all retries; a later call may succeed.
            UsageError: Key, model name or request are not accepted; retrying cannot help.
        """

    def share_limits(self, concurrency: int, processes: int) -> None:
        """Divide the model's rate limits among processes. To be called before the first request.

        Args:
            concurrency: Episodes in this process; none waits for another unless the spec limits concurrency.
            processes: Processes that use the same limits.
        """

    @property
    def paid(self) -> bool:
        """Whether calls cost money, as far as is known: they are sent with a key or have a price."""
        return False

    def limit_spending(self, ledger: Ledger) -> bool:
        """Reserve every request in a ledger before it is sent.

        Returns:
            Whether this model does so; if not, the caller must reserve every answer.
        """
        return False

    def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again, now and later; those in flight are finished."""

    async def close(self) -> None:
        """Close connections. The model can be used again afterwards, in any event loop."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<model {self.spec}>"


class ModelWrapper(Model):
    """A model that adds something to another one and passes everything else on to it."""

    def __init__(self, inner: Model) -> None:
        super().__init__(inner.spec)
        self.inner = inner
        self.counts, self.remarks, self.trained_on = inner.counts, inner.remarks, inner.trained_on
        self.calls_tools = inner.calls_tools

    async def answer(self, request: Request) -> Answer:
        return await self.inner.answer(request)

    def share_limits(self, concurrency: int, processes: int) -> None:
        self.inner.share_limits(concurrency, processes)

    @property
    def paid(self) -> bool:
        return self.inner.paid

    def limit_spending(self, ledger: Ledger) -> bool:
        return self.inner.limit_spending(ledger)

    def stop_waiting(self) -> None:
        self.inner.stop_waiting()

    async def close(self) -> None:
        await self.inner.close()
