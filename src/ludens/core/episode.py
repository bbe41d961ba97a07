"""The only thing stored: everything needed to play an episode again and prove that it is the same.

Pictures are not stored. Seed and actions re-render every frame, and the short hash of each picture shown
proves it. Episodes are written by orjson and validated when read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ludens.core.errors import BadFile, BadOption

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = 1

TryVerdict = Literal["ok", "illegal", "unreadable", "late"]
MoveVerdict = Literal["ok", "retried", "fallback", "void"]
Status = Literal["done", "horizon", "forfeit", "void"]


@dataclass(slots=True)
class Usage:
    """What a model call consumed."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    images: int = 0
    calls: int = 1
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None and other.cost is None else (self.cost or 0) + (other.cost or 0)
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.images + other.images,
            self.calls + other.calls,
            cost,
        )


@dataclass(slots=True)
class Try:
    """One reply to one ask."""

    text: str
    verdict: TryVerdict = "ok"
    reason: str = ""
    finish: str = ""
    usage: Usage | None = None
    ms: float = 0.0


@dataclass(slots=True)
class Move:
    """What one seat did in one step. Seats that move together share the step."""

    step: int
    seat: str
    action: str
    verdict: MoveVerdict = "ok"
    pictures: list[str] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    """Empty for a bot that gave its action at once: there is nothing to tell beside it."""
    ms: float = 0.0


@dataclass(slots=True)
class Episode:
    """One finished episode."""

    game: str
    version: int
    options: dict[str, Any]
    seed: int
    seats: dict[str, str]
    """Who sat where, as agent specs."""
    sample: int = 0
    """Tells apart several episodes of one seed and seating."""
    theme: str = "classic"
    size: int = 512
    config: dict[str, Any] = field(default_factory=dict)
    """The rules of the table: retries, fallback, horizon, limits."""
    moves: list[Move] = field(default_factory=list)
    unfinished: list[Move] = field(default_factory=list)
    """What was said in the step that an agent's failure cut short: no part of the game, but paid for."""
    returns: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    status: Status = "done"
    culprit: str = ""
    """The seat that forfeited, or whose agent failed."""
    error: str = ""
    remarks: list[str] = field(default_factory=list)
    """What a report must say about who played, beside their specs."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if not -(2**63) <= self.seed < 2**63:
            raise BadOption("a seed is a whole number between -2**63 and 2**63 - 1.")

    def to_json(self) -> bytes:
        """One line of JSON."""
        return orjson.dumps(self)

    @staticmethod
    def from_json(data: bytes | str) -> Episode:
        """Read and validate; a `BadFile` says in a sentence what is wrong."""
        return _validated(data)

    def verdicts(self) -> Counter[str]:
        """How often each verdict fell, moves (`ok`, `retried`, `fallback`) and failed tries alike."""
        counts: Counter[str] = Counter(move.verdict for move in self.moves)
        counts.update(t.verdict for move in self.moves for t in move.tries if t.verdict != "ok")
        return counts

    def usage(self, seat: str | None = None) -> Usage:
        """What all model calls of the episode, or of one seat, consumed; those of a void step too."""
        total = Usage(calls=0)
        for move in (*self.moves, *self.unfinished):
            if seat is None or move.seat == seat:
                for attempt in move.tries:
                    total = total + attempt.usage if attempt.usage else total
        return total

    def fingerprint(self) -> str:
        """A hash of what happened, clocks, bills and notes aside: equal episodes have equal fingerprints."""
        moves, unfinished = _timeless(self.moves), _timeless(self.unfinished)
        timeless = replace(self, moves=moves, unfinished=unfinished, remarks=[])
        data = orjson.dumps(asdict(timeless), option=orjson.OPT_SORT_KEYS)
        return blake2b(data, digest_size=12).hexdigest()


def _timeless(moves: list[Move]) -> list[Move]:
    return [replace(m, ms=0.0, tries=[replace(t, ms=0.0, usage=None) for t in m.tries]) for m in moves]


def _validated(data: bytes | str) -> Episode:
    from pydantic import ValidationError

    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadFile(f"this is not an episode: {error}.") from None
    if not isinstance(raw, dict) or "schema" not in raw:
        raise BadFile("this is not an episode: it has no schema number.")
    if raw["schema"] != SCHEMA:
        raise BadFile(f"this episode has schema {raw['schema']!r}; this Ludens reads schema {SCHEMA}.")
    try:
        return _adapter().validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadFile(f"this episode is not valid at {place}: {first['msg']}.") from None


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Episode]:
    from pydantic import ConfigDict, TypeAdapter, with_config

    for part in (Usage, Try, Move, Episode):
        with_config(ConfigDict(extra="forbid"))(part)
    return TypeAdapter(Episode)
