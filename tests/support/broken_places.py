"""Deliberately broken games, continued: each has places or a form that breaks one rule of the contract."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from ludens.core.forms import Choose, Form, Place, Places
from tests.support.broken_games import BROKEN as BROKEN
from tests.support.broken_games import Other, breaks
from tests.support.pebbles import PebblesState, PebblesView


class Clicked(Other):
    """Pebbles with places: one for each legal action, from left to right."""

    class render(PebblesView):
        def places(self, state: PebblesState, seat: str) -> Places:
            return {
                action: (Place(number / 8, 0.5, 1 / 8, 0.5),)
                for number, action in enumerate(state.legal(seat))
            }


@breaks("places can be clicked")
class PlacesOfIllegalActions(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            return {**super().places(state, seat), "take 99": (Place(0, 0, 1, 0.5),)}


@breaks("places can be clicked")
class PlacesOffThePicture(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            places = super().places(state, seat)
            return {action: (place._replace(y=0.6),) for action, (place,) in places.items()}


@breaks("places can be clicked")
class PlacesThatOverlap(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            places = super().places(state, seat)
            return {action: (place._replace(width=0.2),) for action, (place,) in places.items()}


@breaks("places can be clicked")
class PlacesThatEndEarly(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            first = Place(0, 0, 0.1, 0.1)
            return {
                action: (first, place)[: 1 + bool(number)]
                for number, (action, (place,)) in enumerate(super().places(state, seat).items())
            }


@breaks("places can be clicked")
class PlacesWithoutRectangles(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            return dict.fromkeys(state.legal(seat), ())


@breaks("hidden information stays hidden")
class CardsInPlaces(Other):
    class render(Clicked.render):
        def places(self, state: PebblesState, seat: str) -> Places:
            places = super().places(state, seat)
            low = state.cards["left"] > state.cards["right"]
            return {action: (place._replace(y=0.25 * low),) for action, (place,) in places.items()}


@breaks("rendering has no side effects")
class PlacesByTheCall(Other):
    class render(Clicked.render):
        calls = count()

        def places(self, state: PebblesState, seat: str) -> Places:
            height = 1 / (2 + next(self.calls) % 5)
            return {
                action: (place._replace(height=height),)
                for action, (place,) in super().places(state, seat).items()
            }


class SharedForm(Other):
    """Pebbles with the usual form, whose class is known."""

    class render(PebblesView):
        def choose(self, state: PebblesState, seat: str) -> Choose:
            form = super().form(state, seat)
            assert isinstance(form, Choose)
            return form


@breaks("people can answer")
class FormThatCannotBeSent(Other):
    class render(SharedForm.render):
        def form(self, state: PebblesState, seat: str) -> Form:
            return SetForm(state.legal(seat))


class SetForm(Choose):
    def describe(self) -> dict[str, Any]:
        return super().describe() | {"names": set(self.legal)}


@breaks("people can answer")
class FormThatReadsOtherActions(Other):
    class render(SharedForm.render):
        def form(self, state: PebblesState, seat: str) -> Form:
            return FirstForm(state.legal(seat))


class FirstForm(Choose):
    def read(self, text: str) -> str:
        return self.legal[0] + "!"


@breaks("people can answer")
class FormWithoutLabels(Other):
    class render(SharedForm.render):
        def form(self, state: PebblesState, seat: str) -> Form:
            return replace(self.choose(state, seat), labels=dict.fromkeys(state.legal(seat), ""))


@breaks("hidden information stays hidden")
class CardsInForm(Other):
    class render(SharedForm.render):
        def form(self, state: PebblesState, seat: str) -> Form:
            return replace(self.choose(state, seat), prompt=str(sorted(state.cards.items())))
