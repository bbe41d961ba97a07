"""Two tiny games with which the contract and the loop are tested: a secret one of turns, one of talk.

Their pictures are flat, and named by what a drawing of the same text would show.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.reply import MessageFormat, ReplyFormat
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions, View


@dataclass(frozen=True)
class FlatPicture:
    """A picture of one grey whose hash stands for its content."""

    content: str
    size: int

    @property
    def hash(self) -> str:
        return blake2b(f"{self.size} {self.content}".encode(), digest_size=8).hexdigest()

    @property
    def width(self) -> int:
        return self.size

    @property
    def height(self) -> int:
        return self.size

    def matches(self, recorded: str) -> bool:
        return recorded == self.hash

    def png(self) -> bytes:
        def chunk(kind: bytes, body: bytes) -> bytes:
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        head = struct.pack(">IIBBBBB", self.size, self.size, 8, 0, 0, 0, 0)
        rows = zlib.compress((b"\0" + b"\x80" * self.size) * self.size)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")

    def rgb(self) -> np.ndarray:
        return np.full((self.size, self.size, 3), 128, np.uint8)

    def encoded(self) -> tuple[bytes, str]:
        return self.png(), "image/png"

    def data_uri(self) -> str:
        return "data:image/png;base64," + b64encode(self.png()).decode()

    def blank(self) -> FlatPicture:
        return FlatPicture("", self.size)


class PebblesState(State):
    """A heap, what each seat took, the card each seat holds, and the wind."""

    def __init__(self, game: Pebbles, cards: dict[str, int], wind: Stream) -> None:
        self.game, self.cards, self.wind = game, cards, wind
        self.heap = game.heap
        self.taken = dict.fromkeys(game.seats, 0)
        self.mover = 0

    @property
    def to_act(self) -> tuple[str, ...]:
        return (self.game.seats[self.mover],) if self.heap > 0 else ()

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        return Legal(f"take {count}" for count in range(1, min(3, self.heap) + 1))

    def _advance(self, actions: Mapping[str, str]) -> None:
        [(seat, action)] = actions.items()
        count = int(action.removeprefix("take "))
        self.taken[seat] += count
        self.heap -= count
        if self.heap and self.wind.below(3) == 0:
            self.heap -= 1
        self.mover = 1 - self.mover

    @property
    def returns(self) -> dict[str, float]:
        return {seat: float(self.taken[seat] + self.cards[seat]) for seat in self.game.seats}

    @property
    def facts(self) -> dict[str, Any]:
        return {"taken": dict(self.taken), "heap": self.heap}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {**self.returns, seat: -1.0}

    def clone(self) -> Self:
        copy = type(self)(self.game, dict(self.cards), self.wind.clone())
        copy.heap, copy.taken, copy.mover = self.heap, dict(self.taken), self.mover
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        other = self.clone()
        other.wind = random.fork("wind")
        other.cards = {
            each: self.cards[each] if each == seat else random.between(1, 9) for each in self.cards
        }
        return other


class PebblesView(View):
    """The heap, both hauls and one's own card, in words and as a flat picture named after them."""

    templates_file = "pebbles.md"

    def shown(self, state: PebblesState, seat: str) -> str:
        hauls = ", ".join(f"{each} has taken {count}" for each, count in state.taken.items())
        return f"{state.heap} pebbles; {hauls}; your card is {state.cards[seat]}; to move: {state.to_act}"

    def image(self, state: PebblesState, seat: str) -> FlatPicture:
        return FlatPicture(self.render.theme + self.shown(state, seat), self.render.size)

    def text(self, state: PebblesState, seat: str) -> str:
        return self.shown(state, seat)


@dataclass(frozen=True)
class Pebbles(Game):
    """Take pebbles from a heap in turns while the wind blows some away; a hidden card is added in the end."""

    name = "test/pebbles"
    imperfect_information = True
    heap: int = option(9, low=1, high=100, help="pebbles at the start")

    @property
    def seats(self) -> tuple[str, ...]:
        return ("left", "right")

    def actions(self, seat: str) -> tuple[str, ...]:
        return ("take 1", "take 2", "take 3")

    def start(self, seed: int) -> State:
        deal = stream(seed, "cards")
        return PebblesState(self, {seat: deal.between(1, 9) for seat in self.seats}, stream(seed, "wind"))

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return PebblesView(self, render, seed)


class TalkState(State):
    """Who said what."""

    def __init__(self, game: Talk, said: list[list[str]]) -> None:
        self.game, self.said = game, said

    @property
    def to_act(self) -> tuple[str, ...]:
        return self.game.seats if len(self.said) < self.game.rounds else ()

    def legal(self, seat: str) -> Legal:
        return Legal.text(300) if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.said.append([actions[seat] for seat in self.game.seats])

    @property
    def returns(self) -> dict[str, float]:
        return {seat: float(sum(len(r[i]) for r in self.said)) for i, seat in enumerate(self.game.seats)}

    def clone(self) -> Self:
        return type(self)(self.game, [list(said) for said in self.said])


class TalkView(View):
    """A picture of the round; what was said stands in the notes."""

    templates_file = "pebbles.md"

    def image(self, state: TalkState, seat: str) -> FlatPicture:
        return FlatPicture(self.render.theme + self.text(state, seat), self.render.size)

    def text(self, state: TalkState, seat: str) -> str:
        return f"round {len(state.said)} of {state.game.rounds}"

    def notes(self, state: TalkState, seat: str) -> str:
        return "\n".join(
            f"{who}: {what}" for said in state.said for who, what in zip("ab", said, strict=True)
        )

    def format(self, state: TalkState, seat: str) -> ReplyFormat:
        return MessageFormat()


@dataclass(frozen=True)
class Talk(Game):
    """Two seats speak at the same time, a few rounds long."""

    name = "test/talk"
    rounds: int = option(3, low=1, high=50, help="rounds of talk")

    @property
    def seats(self) -> tuple[str, ...]:
        return ("a", "b")

    def start(self, seed: int) -> State:
        return TalkState(self, [])

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return TalkView(self, render, seed)
