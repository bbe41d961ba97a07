"""Rules about what seats see: rules, pictures, text twins, and what stays hidden."""

from __future__ import annotations

import re
import struct
from itertools import islice

from ludens.core.random import stream
from ludens.core.state import State
from ludens.core.view import Picture, RenderOptions, View, view_of
from ludens.testing.trial import Trial, is_text, is_tuple, rule, sight, snapshot

_UNFILLED = re.compile(r"\$\{?[A-Za-z_]\w*")


@rule
def rules_are_told(trial: Trial) -> None:
    """Every seat is told the rules, with nothing left to fill in, and is offered something to look at."""
    for seat in trial.game.seats:
        rules = trial.view.rules(seat)
        trial.need(is_text(rules), f"{seat} is told no rules")
        left = _UNFILLED.search(rules)
        trial.need(left is None, f"the rules told to {seat} hold an unfilled {left and left.group()!r}")
        offers = trial.view.offers(seat)
        trial.need(offers in ("image", "text", "both"), f"{seat} is offered {offers!r}")


@rule
def every_seat_sees_at_every_turn(trial: Trial) -> None:
    """Every seat, in turn or not, has a picture and its text twin in every state, the last one included."""
    for state in trial.states():
        for seat in trial.game.seats:
            notes = trial.view.notes(state, seat)
            if trial.view.has_text:
                trial.need(is_text(trial.view.text(state, seat)), f"{seat} has no text twin")
            trial.need(isinstance(notes, str), f"the notes for {seat} are {type(notes).__name__}, not text")
    for state in trial.states(12):
        for seat in trial.game.seats:
            pictures = trial.view.images(state, seat)
            trial.need(is_tuple(pictures) and pictures, f"{seat} has no picture")


@rule
def pictures_have_the_asked_size(trial: Trial) -> None:
    """In every look, the longer side of a picture is as long as asked, and its files and blank agree."""
    for render in trial.views:
        for state in trial.states(3, trial.seeds[:2]):
            view = view_of(trial.game, render, trial.seed or 0)
            for seat in trial.game.seats:
                for picture in view.images(state, seat):
                    _sized(trial, render, picture)
        first = trial.game.start(trial.seeds[0])
        for seat in trial.game.seats:
            for picture in view_of(trial.game, render, trial.seeds[0]).images(first, seat):
                _encoded(trial, picture)


def _sized(trial: Trial, render: RenderOptions, picture: Picture) -> None:
    size = picture.width, picture.height
    trial.need(
        max(size) == render.size, f"a picture in {render.theme} is {size}; {render.size} was asked for"
    )
    trial.need(is_text(picture.hash), f"the hash of a picture is {picture.hash!r}")


def _encoded(trial: Trial, picture: Picture) -> None:
    size = picture.width, picture.height
    png, blank = picture.png(), picture.blank()
    trial.need(png[:8] == b"\x89PNG\r\n\x1a\n", "png() does not give a PNG file")
    trial.need(struct.unpack(">II", png[16:24]) == size, "the PNG file has another size than its picture")
    trial.need(picture.data_uri().startswith("data:image/"), "data_uri() does not give a data URI")
    trial.need((blank.width, blank.height) == size, "blank() has another size than its picture")


@rule
def showing_changes_nothing(trial: Trial) -> None:
    """Looking does not change a state, and a picture depends on state, seat and look alone."""
    for render in trial.views[:2]:
        for state in trial.states(4, trial.seeds[:2]):
            before = snapshot(trial, state)
            fresh: View = trial.game.view(render, trial.seed or 0)
            used = view_of(trial.game, render, trial.seed or 0)
            for seat in trial.game.seats:
                once = sight(used, state, seat)
                trial.need(
                    sight(used, state, seat) == once, f"{seat} sees a state differently the second time"
                )
                trial.need(
                    sight(fresh, state, seat) == once, f"a new view shows {seat} the same state differently"
                )
            trial.need(snapshot(trial, state) == before, "a state changed by being shown")


@rule
def picture_and_text_tell_the_same(trial: Trial) -> None:
    """States with the same picture have the same text twin, and the other way round."""
    if not trial.view.has_text:
        return
    render = next((render for render in trial.views if render.theme != "random"), trial.views[0])
    for seat in trial.game.seats:
        texts: dict[tuple[str, ...], str] = {}
        pictures: dict[str, tuple[str, ...]] = {}
        for state in trial.states(12):
            view = view_of(trial.game, render, 0)
            shown = tuple(picture.hash for picture in view.images(state, seat))
            text = view.text(state, seat)
            more = texts.setdefault(shown, text) == text
            trial.need(more, f"the text twin tells {seat} what the picture does not show")
            less = pictures.setdefault(text, shown) == shown
            trial.need(less, f"the picture shows {seat} what the text twin does not tell")


@rule
def secrets_stay_hidden(trial: Trial) -> None:
    """What a seat may not know, drawn anew, changes nothing that the seat is shown, told or allowed."""
    changed = not trial.game.imperfect_information
    for state in trial.states(6):
        for seat in trial.game.seats:
            before, seen = snapshot(trial, state), sight(trial.view, state, seat)
            for number in range(2):
                dice = stream(trial.seed or 0, "reimagined", trial.step or 0, seat, number)
                other = state.resample_hidden(seat, dice)
                trial.need(
                    snapshot(trial, state) == before, "reimagined() changed the state it was called on"
                )
                for what, shown in sight(trial.view, other, seat).items():
                    trial.need(shown == seen[what], f"the {what} of {seat} depend on what it may not know")
                changed = changed or _differ(trial, state, other, seat)
    trial.need(changed, "the game is secret, but reimagined() changes nothing that another seat could notice")


def _differ(trial: Trial, state: State, other: State, seat: str) -> bool:
    """Whether somebody else notices the difference; alone at the table, whether the same course shows it."""
    rest = [each for each in trial.game.seats if each != seat]
    if rest:
        return any(sight(trial.view, state, each) != sight(trial.view, other, each) for each in rest)
    ours, theirs = state.clone(), other.clone()
    course = trial.course(trial.seed or 0)[trial.step or 0 :]
    for actions in islice(course, 25):
        if snapshot(trial, ours) != snapshot(trial, theirs):
            return True
        ours.apply(actions)
        theirs.apply(actions)
    return snapshot(trial, ours) != snapshot(trial, theirs)
