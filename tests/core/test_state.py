"""What every state does for its game: checking actions and wording refusals. And the table and the view."""

from __future__ import annotations

from typing import Any

import pytest

from ludens.core.config import PlayConfig, check_seats
from ludens.core.errors import BadOption, Illegal, UnknownName
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from tests.support.pebbles import Pebbles, Talk


def test_apply_asks_for_exactly_the_seats_in_turn() -> None:
    state = Pebbles().start(1)
    for actions in ({}, {"right": "take 1"}, {"left": "take 1", "right": "take 1"}, {"nobody": "take 1"}):
        with pytest.raises(Illegal, match=r"due to act: left\."):
            state.apply(actions)
    with pytest.raises(Illegal, match="actions came from a; due to act: a and b"):
        Talk().start(1).apply({"a": "hello"})
    state.apply({"left": "take 1"})
    assert state.to_act == ("right",)


def test_nothing_applies_to_a_finished_game() -> None:
    state = Pebbles(heap=1).start(1)
    state.apply({"left": "take 1"})
    assert state.over
    for actions in ({}, {"right": "take 1"}):
        with pytest.raises(Illegal, match="nobody, the game is over"):
            state.apply(actions)


def test_refusals_say_what_is_legal() -> None:
    state = Pebbles().start(1)
    assert state.refusal("left", "take 2") is None
    told = state.refusal("left", "take 4")
    assert told == "'take 4' is not a legal action for left now; legal: take 1, take 2, take 3."
    assert state.refusal("right", "take 1") == "'take 1' is not a legal action for right now; legal: none."
    assert len(state.refusal("left", "x" * 10**6) or "") < 200


def test_words_have_a_limit() -> None:
    state = Talk().start(1)
    assert state.refusal("a", "") is None
    assert state.refusal("a", "x" * 300) is None
    assert state.refusal("a", "x" * 301) == "the text has 301 characters; at most 300 are allowed."


def test_a_state_without_secrets_reimagines_itself() -> None:
    state = Talk().start(1)
    other = state.resample_hidden("a", stream(1))
    assert other is not state
    assert other.returns == state.returns


def test_a_game_describes_itself() -> None:
    assert Pebbles(heap=4).options == {"heap": 4}
    assert Pebbles().summary.startswith("Take pebbles from a heap")
    assert Pebbles().evaluate(Pebbles().start(3), "left") == Pebbles().start(3).returns["left"]


@pytest.mark.parametrize(
    "rules",
    [
        {"retries": -1},
        {"horizon": 0},
        {"reply_limit": 0},
        {"seconds": 0},
        {"seconds": -1.0},
        {"seconds": float("nan")},
        {"fallback": "resign"},
        {"reasons": "some"},
    ],
)
def test_a_table_has_sensible_rules(rules: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        PlayConfig(**rules)


def test_every_seat_needs_somebody() -> None:
    check_seats(Pebbles(), {"left": 1, "right": 2})
    with pytest.raises(BadOption, match="test/pebbles has no agent for right"):
        check_seats(Pebbles(), {"left": 1})
    with pytest.raises(UnknownName, match="unknown seat of test/pebbles 'rihgt'; did you mean 'right'"):
        check_seats(Pebbles(), {"left": 1, "rihgt": 2})


def test_only_what_is_looked_at_is_rendered() -> None:
    view, state = view_of(Talk(), RenderOptions(), 1), Talk().start(1)
    state.apply({"a": "hi", "b": "ho"})
    shown = {
        sees: view.observe(state, "a", sees)
        for sees in ("offered", "image", "text", "both", "state", "nothing")
    }  # type: ignore[arg-type]
    assert {sees: (len(seen.images), bool(seen.text), bool(seen.notes)) for sees, seen in shown.items()} == {
        "offered": (1, False, True),
        "image": (1, False, True),
        "text": (0, True, True),
        "both": (1, True, True),
        "state": (0, False, False),
        "nothing": (0, False, False),
    }


@pytest.mark.parametrize("game", [Pebbles(), Talk()])
def test_views_are_made_once_and_random_ones_once_a_seed(game: Game) -> None:
    assert view_of(game, RenderOptions(), 1) is view_of(game, RenderOptions(), 2)
    assert view_of(game, RenderOptions("random"), 1) is not view_of(game, RenderOptions("random"), 2)
    assert view_of(game, RenderOptions("random"), 1) is view_of(game, RenderOptions("random"), 1)
