"""What a seat may not know changes nothing in what it is shown, for every puzzle and any conversation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Dialogue
from tests.games.comma.common import MANUALS, PUZZLES, SEEDS, dialogue, make

MESSAGES = st.integers(0, 12)

pytestmark = pytest.mark.parametrize("name", PUZZLES)


def shown(state: Dialogue, seat: str) -> tuple[object, ...]:
    view = view_of(state.game, RenderOptions(size=256), 0)
    pictures = tuple(picture.hash for picture in view.images(state, seat))
    return pictures, view.text(state, seat), view.notes(state, seat), view.rules(seat), state.to_act


@pytest.mark.parametrize("manual", MANUALS)
@given(seed=SEEDS, messages=MESSAGES, other=SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_expert_knows_nothing_of_the_panel(
    name: str, manual: str, seed: int, messages: int, other: int
) -> None:
    state = dialogue(name, seed, messages, manual=manual)
    twin = state.resample_hidden("expert", stream(other, "imagine"))
    assert shown(twin, "expert") == shown(state, "expert")


def test_an_imagined_panel_is_not_used_after_it_was_solved(name: str) -> None:
    state = dialogue(name, 287951598, 5)
    twin = state.resample_hidden("expert", stream(145, "imagine"))
    assert shown(twin, "expert") == shown(state, "expert")


def test_the_imagined_panel_is_another_one(name: str) -> None:
    states = [dialogue(name, seed, 3) for seed in range(20)]
    twins = [state.resample_hidden("expert", stream(seed, "imagine")) for seed, state in enumerate(states)]
    pairs = zip(states, twins, strict=True)
    changed = sum(
        a.puzzle.describe() + a.puzzle.serial != b.puzzle.describe() + b.puzzle.serial for a, b in pairs
    )
    assert changed == len(states)


@given(seed=SEEDS, messages=MESSAGES, other=SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_solver_knows_nothing_of_the_manual(name: str, seed: int, messages: int, other: int) -> None:
    state = dialogue(name, seed, messages, manual="random")
    twin = state.resample_hidden("solver", stream(other, "imagine"))
    assert shown(twin, "solver") == shown(state, "solver")
    assert twin.manual != state.manual


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_typed_keys_briefing_and_feedback_do_not_reach_the_expert(name: str, seed: int) -> None:
    """Every action typed on a line of its own, with nothing else said: the Expert hears no private fact."""
    game = make(name, mistakes=100)
    state = game.start(seed)
    view = view_of(game, RenderOptions(), 0)
    random = stream(seed, "typing")
    while not state.over:
        typed = (
            "\n".join(random.choice(state.puzzle.actions) for _ in range(5))
            if state.to_act == ("solver",)
            else "go on"
        )
        state.apply({state.to_act[0]: typed})
        heard = view.notes(state, "expert")
        assert "Panel:" not in heard
        assert not any(action in heard.split() for action in state.puzzle.hidden)
        assert not any(f"{key}: {value}" in heard for key, value in state.puzzle.briefing.items())
        assert not any(value in heard for value in state.puzzle.private.values())
