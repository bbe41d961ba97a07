"""Episodes: the only thing stored, with everything needed to replay and verify them.

Pictures are not stored: seed and actions re-render every frame, and the hash of each picture shown verifies
it. Prompts are not stored either: `ludens.samples` rebuilds them. Episodes are validated when read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from math import ceil
from typing import Any, Literal

import orjson

from ludens.core.errors import BadFile, BadOption
from ludens.core.validation import Invalid, read_value

SCHEMA = 2

TryVerdict = Literal["ok", "illegal", "unreadable", "late"]
MoveVerdict = Literal["ok", "retried", "fallback", "void"]
Status = Literal["done", "horizon", "forfeit", "void"]


@dataclass(slots=True)
class Usage:
    """Tokens, pictures, calls and cost of model calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    images: int = 0
    calls: int = 1
    cost: float | None = None

    @property
    def tokens(self) -> int:
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

    def __sub__(self, other: Usage) -> Usage:
        return self + other * -1

    def __mul__(self, factor: int) -> Usage:
        return self._map(lambda count: count * factor, factor)

    def __truediv__(self, number: int) -> Usage:
        """The mean of so many; counts are rounded up, because budgets must cover them."""
        return self._map(lambda count: ceil(count / number), 1 / number)

    def _map(self, change: Callable[[int], int], cost_factor: float) -> Usage:
        return Usage(
            change(self.input_tokens),
            change(self.output_tokens),
            change(self.reasoning_tokens),
            change(self.images),
            change(self.calls),
            None if self.cost is None else self.cost * cost_factor,
        )


@dataclass(slots=True)
class Try:
    """One reply to one ask, and how it was judged."""

    text: str
    verdict: TryVerdict = "ok"
    reason: str = ""
    finish: str = ""
    usage: Usage | None = None
    ms: float = 0.0
    reasoning: str = ""
    """What the model thought before this reply, where the provider shows it."""
    direct: bool = False
    """Whether the agent gave the action itself, so that the text was not read."""

    @property
    def said(self) -> str:
        """The player's own text: nothing where a content filter replaced it."""
        return "" if self.finish == "filtered" else self.text


@dataclass(slots=True)
class Move:
    """The action of one seat in one step, with every reply that led to it."""

    step: int
    seat: str
    action: str
    verdict: MoveVerdict = "ok"
    pictures: list[str] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    """Empty where the reply was the action itself."""
    ms: float = 0.0

    @property
    def said(self) -> str:
        """The last reply of the seat in this move."""
        return self.tries[-1].said if self.tries else self.action


@dataclass(slots=True)
class Episode:
    """One episode, finished or void."""

    game: str
    version: int
    options: dict[str, Any]
    seed: int
    seats: dict[str, str]
    """Seat to agent spec."""
    sample: int = 0
    """Distinguishes several episodes of one seed and seating."""
    theme: str = "classic"
    size: int = 512
    config: dict[str, Any] = field(default_factory=dict)
    """The `PlayConfig`."""
    templates: dict[str, dict[str, str]] = field(default_factory=dict)
    """The user's own game templates: file name to sections."""
    prompt_templates: dict[str, dict[str, str]] = field(default_factory=dict)
    """The user's own prompt templates: seat to sections."""
    opening: list[dict[str, str]] = field(default_factory=list)
    """Joint actions that led from the start to the state in which the episode began."""
    branched: bool = False
    """Whether it began in a given state for which no opening was recorded: replaying needs that state."""
    sees: dict[str, str] = field(default_factory=dict)
    """Seat to what its agent looks at (`Agent.sees`); empty in episodes of older versions."""
    unlimited_retries: list[str] | None = None
    """The seats of agents with `unlimited_retries`; None in episodes of older versions."""
    moves: list[Move] = field(default_factory=list)
    unfinished: list[Move] = field(default_factory=list)
    """Moves of the step in which the episode was voided: not part of the game, but paid for."""
    returns: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    status: Status = "done"
    culprit: str = ""
    """The seat that forfeited or whose agent failed; empty where the game itself failed."""
    error: str = ""
    remarks: list[str] = field(default_factory=list)
    """What a report must say about the players, such as model options that were not accepted."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if not -(2**63) <= self.seed < 2**63:
            raise BadOption("a seed is a whole number between -2**63 and 2**63 - 1.")

    def to_json(self) -> bytes:
        return orjson.dumps(self)

    @staticmethod
    def from_json(data: bytes | str) -> Episode:
        return _validated(data)

    def verdicts(self) -> Counter[str]:
        """Number of moves (`ok`, `retried`, `fallback`) and failed tries by verdict."""
        counts: Counter[str] = Counter(move.verdict for move in self.moves)
        counts.update(t.verdict for move in self.moves for t in move.tries if t.verdict != "ok")
        return counts

    def usage(self, seat: str | None = None) -> Usage:
        """Sum over all model calls of the episode, or of one seat, unfinished moves included."""
        total = Usage(calls=0)
        for move in (*self.moves, *self.unfinished):
            if seat is None or move.seat == seat:
                for attempt in move.tries:
                    total = total + attempt.usage if attempt.usage else total
        return total

    def fingerprint(self) -> str:
        """A hash of what happened: times, usage, remarks, `Try.direct` and what specs of agents imply do not
        count."""
        moves, unfinished = _comparable(self.moves), _comparable(self.unfinished)
        hashed = asdict(replace(self, moves=moves, unfinished=unfinished, remarks=[]))
        del hashed["sees"], hashed["unlimited_retries"]
        return blake2b(orjson.dumps(hashed, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()


def _comparable(moves: list[Move]) -> list[Move]:
    return [
        replace(m, ms=0.0, tries=[replace(t, ms=0.0, usage=None, direct=False) for t in m.tries])
        for m in moves
    ]


def _validated(data: bytes | str) -> Episode:
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadFile(f"this is not an episode: {error}.") from None
    if not isinstance(raw, dict) or "schema" not in raw:
        raise BadFile("this is not an episode: it has no schema number.")
    if raw["schema"] != SCHEMA:
        raise BadFile(f"this episode has schema {raw['schema']!r}; this Ludens reads schema {SCHEMA}.")
    try:
        return read_value(Episode, raw)
    except Invalid as error:
        raise BadFile(f"this episode is not valid {error}.") from None
