"""The conformance rule for places: people must be able to click on actions, and on nothing else."""

from __future__ import annotations

from ludens.core.places import Place, Places
from ludens.core.state import State
from ludens.core.view import view_of
from ludens.testing.trial import Trial, is_tuple, rule

_SLACK = 1e-9
"""Fractions of a picture below this are rounding errors."""


@rule
def places_can_be_clicked(trial: Trial) -> None:
    """Places belong to legal actions of a seat that must act, lie on the picture and do not overlap."""
    for render in trial.views[:2]:
        for state in trial.states(5):
            view = view_of(trial.game, render, trial.seed or 0)
            for seat in trial.game.seats:
                places = view.places(state, seat)
                _legal(trial, state, seat, places)
                _on_the_picture(trial, seat, places)
                _apart(trial, seat, places)
                _unambiguous(trial, seat, places)


def _legal(trial: Trial, state: State, seat: str, places: Places) -> None:
    trial.need(seat in state.to_act or not places, f"{seat} must not act but has places")
    legal = trial.legal(state, seat)
    for action in places:
        refusal = state.refusal(seat, action) if legal.is_text else None
        allowed = refusal is None if legal.is_text else action in legal
        trial.need(allowed, f"{seat} has a place for {action!r}, which is not legal")


def _on_the_picture(trial: Trial, seat: str, places: Places) -> None:
    for action, path in places.items():
        trial.need(is_tuple(path) and path, f"the places of {action!r} for {seat} are {path!r}")
        for place in path:
            trial.need(isinstance(place, Place), f"a place of {action!r} for {seat} is {place!r}")
            inside = place.x >= 0 and place.y >= 0 and place.width > 0 and place.height > 0
            ends = place.x + place.width, place.y + place.height
            trial.need(
                inside and max(ends) <= 1 + _SLACK, f"{action!r} for {seat} is off the picture: {place}"
            )


def _apart(trial: Trial, seat: str, places: Places) -> None:
    """Two places are the same or apart: from the left, each is compared with those that begin within it."""
    found = sorted({place for path in places.values() for place in path})
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            if other.x >= one.x + one.width - _SLACK:
                break
            below = other.y >= one.y + one.height - _SLACK or one.y >= other.y + other.height - _SLACK
            trial.need(below, f"two places of {seat} overlap: {one} and {other}")


def _unambiguous(trial: Trial, seat: str, places: Places) -> None:
    """No action is complete where another has further places."""
    complete = set(places.values())
    for action, path in places.items():
        for end in range(1, len(path)):
            trial.need(
                path[:end] not in complete, f"{seat} cannot click {action!r}: another action ends before"
            )
