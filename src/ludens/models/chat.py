"""What a model is asked and what it answers, whoever provides it.

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
from typing import Literal, Self

import orjson

from ludens.core.episode import Usage
from ludens.core.options import option
from ludens.core.view import Picture

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filtered", "refused"]
"""Why an answer ended: by itself, cut off, held back by a content filter, or declined by the model."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation: texts and pictures in the order they are shown."""

    role: Role
    parts: Sequence[str | Picture]


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn. What is None is left to the provider."""

    temperature: float | None = option(None, kind=float, low=0, high=2, help="how freely answers are drawn")
    top_p: float | None = option(None, kind=float, low=0, high=1, help="share of likely words drawn from")
    max_tokens: int | None = option(None, kind=int, low=1, help="longest answer; doubled once when cut off")
    reasoning_effort: str | None = option(None, kind=str, help="how long to think: low, medium, high ...")
    seed: int | None = option(None, kind=int, help="asks the provider for repeatable draws")

    def over(self, other: Sampling) -> Sampling:
        """These choices, and the other's where these leave something open."""
        return _over(self, other)


@lru_cache(maxsize=256)
def _over(first: Sampling, second: Sampling) -> Sampling:
    given = {f.name: getattr(first, f.name) for f in fields(Sampling)}
    return replace(second, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that wants its next turn. What the model's own spec says about sampling goes before."""

    messages: Sequence[Message]
    sampling: Sampling = Sampling()

    @property
    def pictures(self) -> list[Picture]:
        """Every picture shown, in order."""
        return [part for message in self.messages for part in message.parts if not isinstance(part, str)]

    def digest(self, spec: str) -> str:
        """A name for this request put to this model: pictures count by their pixels, not their encoding."""
        words = [
            (m.role, [part if isinstance(part, str) else {"picture": part.hash} for part in m.parts])
            for m in self.messages
        ]
        whole = orjson.dumps([spec, words, asdict(self.sampling)], option=orjson.OPT_SORT_KEYS)
        return blake2b(whole, digest_size=20).hexdigest()


@dataclass(slots=True)
class Answer:
    """What came back."""

    text: str
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """What the provider says answered; more exact than the name that was asked for."""
    ms: float = 0.0
    """From sending to the last byte of the attempt that worked; waiting for a turn is not counted."""
    reasoning: str = ""
    """What the model thought aloud before answering, where the provider shows it."""
    cached: bool = False

    def __post_init__(self) -> None:
        # Halves of characters fit into no file and no request.
        self.text = self.text.encode(errors="replace").decode()
        self.reasoning = self.reasoning.encode(errors="replace").decode()


class Model(ABC):
    """Something that answers. Belongs to the event loop it is first asked in, until it is closed."""

    spec: str
    """Makes this model again: name, address and every option that shapes answers. Never a key."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.tally: Counter[str] = Counter()
        """What happened so far: `calls`, `retries`, `cached`, `extended`, and each kind of fault."""
        self.remarks: list[str] = []
        """What a report must say about this model, such as options it does not take."""

    @abstractmethod
    async def answer(self, request: Request) -> Answer:
        """Answer.

        Raises:
            AgentFailure: No answer could be had, though another time might be better.
            UsageError: Asking again cannot help: key, name or request are refused.
        """

    async def close(self) -> None:
        """Let go of connections. The model may be asked again afterwards, in any event loop."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<model {self.spec}>"
