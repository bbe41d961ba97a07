"""A sound question with twin worlds, and games whose twins break the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ludens.core.random import stream
from ludens.core.state import Legal, Question
from ludens.core.twins import TwinGame
from ludens.core.view import RenderOptions, View
from tests.support.broken_games import breaks
from tests.support.broken_places import BROKEN as BROKEN
from tests.support.pebbles import FlatPicture

COLOURS = ("red", "green", "blue")


class Lamp(Question):
    """A lamp, and the colour that was answered."""

    def __init__(self, colour: str, legal: Legal | None = None) -> None:
        super().__init__("viewer", legal or Legal(COLOURS))
        self.colour = colour

    def solution(self, seat: str) -> str | None:
        return self.colour

    @property
    def returns(self) -> dict[str, float]:
        return {"viewer": float(self.answer == self.colour)}


class LampView(View):
    """The colour is to be seen, not to be read."""

    templates_file = "lamps.md"

    def image(self, state: Lamp, seat: str) -> FlatPicture:
        return FlatPicture(f"a {state.colour} lamp", self.render.size)

    def text(self, state: Lamp, seat: str) -> str:
        return f"a {state.colour} lamp"


@dataclass(frozen=True)
class Lamps(TwinGame[Lamp]):
    """Name the colour of a lamp."""

    name = "test/lamps"
    seats = ("viewer",)
    question = True
    render: ClassVar[type[LampView]] = LampView

    def actions(self, seat: str) -> tuple[str, ...]:
        return COLOURS

    def world(self, seed: int) -> Lamp:
        return Lamp(stream(seed, "lamp").choice(COLOURS))

    def pair(self, seed: int) -> tuple[Lamp, Lamp]:
        first = self.world(seed)
        others = [colour for colour in COLOURS if colour != first.colour]
        return first, Lamp(stream(seed, "twin").choice(others))

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return self.render(self, render, seed)


class _Twins(Lamps):
    """Lamps in which the option is always on."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "twins", True)


@breaks("twins differ only in pictures")
class TwinsInWords(_Twins):
    class render(LampView):
        def notes(self, state: Lamp, seat: str) -> str:
            return f"It has {len(state.colour)} letters."


@breaks("twins differ only in pictures")
class TwinsInLegalActions(_Twins):
    def pair(self, seed: int) -> tuple[Lamp, Lamp]:
        first, second = super().pair(seed)
        return first, Lamp(second.colour, Legal((second.colour, first.colour)))


@breaks("twins differ only in pictures")
class TwinsInABrief(_Twins):
    class render(LampView):
        def brief(self, state: Lamp, seat: str) -> str:
            return state.colour


@breaks("twins differ only in pictures")
class TwinsThatLookTheSame(_Twins):
    class render(LampView):
        has_text = False

        def image(self, state: Lamp, seat: str) -> FlatPicture:
            return FlatPicture("a lamp", self.render.size)


class ForgivingLamp(Lamp):
    @property
    def returns(self) -> dict[str, float]:
        return {"viewer": float(self.answer in COLOURS)}


@breaks("twins differ only in pictures")
class TwinsWithOneAnswer(_Twins):
    def pair(self, seed: int) -> tuple[Lamp, Lamp]:
        first, second = super().pair(seed)
        return ForgivingLamp(first.colour), ForgivingLamp(second.colour)
