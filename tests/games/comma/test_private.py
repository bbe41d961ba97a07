"""What wire lacks: hidden keys, private briefings, stages and setbacks, on a puzzle made for it."""

from __future__ import annotations

import pytest

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Dialogue
from tests.games.comma.common import oracle_pair
from tests.games.comma.safe import Safe, SafePanel


def start(**options: object) -> tuple[Dialogue, str]:
    state = Safe(**options).start(6)  # type: ignore[arg-type]
    assert isinstance(state.puzzle, SafePanel)
    return state, "\n".join([*(f"press_{digit}" for digit in state.puzzle.code), "press_enter"])


def notes(state: Dialogue, seat: str) -> str:
    return view_of(state.game, RenderOptions(), 0).notes(state, seat)


def test_typed_digits_are_for_the_solver_alone() -> None:
    state, code = start()
    state.apply({"solver": f"I type it.\n{code}\n- press_7"})
    heard = notes(state, "expert")
    assert heard.count("(a private key)") == 6
    assert "I type it." in heard
    assert "press_enter" in heard
    assert "press_7" not in heard
    assert "- press_7" in notes(state, "solver")


def test_in_released_runs_the_expert_hears_them() -> None:
    state, code = start(variant="released")
    state.apply({"solver": code})
    assert code.splitlines()[0] in notes(state, "expert")


def test_the_briefing_is_for_the_solver_alone() -> None:
    state, _ = start()
    assert isinstance(state.puzzle, SafePanel)
    assert f"Code: {state.puzzle.code}" in notes(state, "solver")
    assert state.puzzle.code not in notes(state, "expert")
    assert state.facts["private"] == {"code": state.puzzle.code}


def test_another_code_sounds_the_same_to_the_expert() -> None:
    state, code = start()
    state.apply({"solver": f"Now.\n{code}\nknock"})
    twin = state.resample_hidden("expert", stream(1, "imagine"))
    assert twin.facts["private"] != state.facts["private"]
    assert twin.messages[0].events[5].outcome == "mistake"
    assert notes(twin, "expert") == notes(state, "expert")


@pytest.mark.parametrize(("variant", "partial"), [("paper", 0.5), ("released", 0.0)])
def test_a_setback_does_not_lower_our_partial_score(variant: str, partial: float) -> None:
    state, code = start(variant=variant)
    for said in (code, "Go on.", "press_enter"):
        state.apply({state.to_act[0]: said})
    assert state.mistakes == 1
    assert state.facts["partials"] == [0.5, partial]
    assert state.returns == {"solver": partial, "expert": partial}


def test_nothing_happened_is_said_and_counts_as_an_action() -> None:
    state, _ = start()
    state.apply({"solver": "knock"})
    assert "Panel: knock: nothing happened." in notes(state, "solver")
    assert (state.facts["actions"], state.mistakes, state.light) == (1, 0, "off")


def test_the_oracles_keep_the_secret() -> None:
    state = oracle_pair(start()[0])
    assert state.solved
    assert not any(state.facts["private"]["code"] in words for _, words in state.heard)
    assert state.facts["messages"] == {"solver": 2, "expert": 1}
