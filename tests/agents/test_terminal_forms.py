"""Forms at the terminal: what a person types becomes the action that the browser would send."""

from __future__ import annotations

import json
import re

import pytest

from ludens.agents.human import form_answer, form_hint
from ludens.core.errors import MoveError
from ludens.core.forms import Form
from ludens.core.registry import GAMES, make
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of


def form_of(spec: str, seed: int = 0) -> tuple[Form, State]:
    game = make(spec)
    state = game.start(seed)
    return view_of(game, RenderOptions(size=256), seed).form(state, state.to_act[0]), state


def test_names_are_chosen() -> None:
    form, _ = form_of("viki/activate")
    assert "fetch" in form_hint(form)
    assert json.loads(form_answer(form, "Stompy,  fetch")) == ["fetch", "stompy"]
    with pytest.raises(MoveError, match="Choose from the list"):
        form_answer(form, "fetch, nobody")


def test_steps_of_robots_are_planned() -> None:
    form, _ = form_of("viki/plan")
    assert "commands: Move target" in form_hint(form)
    steps = json.loads(form_answer(form, "r1 move kitchen island area, R2 reach bread; R1 handover bread r2"))
    assert steps[0]["actions"] == {"R1": ["Move", "kitchen island area"], "R2": ["Reach", "bread"]}
    assert steps[1]["actions"] == {"R1": ["Handover", "bread", "R2"]}
    for wrong, said in {
        "R1 fly table": "names no command",
        "R9 Move table": "no such robot",
        "R1 Move moon": "cannot move that",
        "R1 Move": "choose what R1 should move",
        "": "at least one robot",
    }.items():
        with pytest.raises(MoveError, match=said):
            form_answer(form, wrong)


def test_a_robot_says_something() -> None:
    form, _ = form_of("viki/team")
    robot = re.search(r"robots: (\w+)", form_hint(form))
    assert robot is not None
    assert "say MESSAGE" in form_hint(form)
    assert (
        json.loads(form_answer(form, f"{robot[1]} Move table, say I take the plate"))["message"]
        == "I take the plate"
    )


def test_paths_are_given_in_percent() -> None:
    form, _ = form_of("viki/trace")
    path = "0,0 25,25 50,50 75,75 100,100"
    ends = [(path[0], path[-1]) for path in json.loads(form_answer(form, f"{path}; {path}"))]
    assert ends[0] == ends[1]
    assert ends[0][0] == [0, 0]
    for wrong in ("0,0", f"{path}; {path} 1", f"{path}; {path.replace('100,100', '1.2.3,4')}"):
        with pytest.raises(MoveError):
            form_answer(form, wrong)


def test_cells_are_typed_as_the_marks_that_the_hint_names() -> None:
    form, state = form_of("perceive?board=tic_tac_toe")
    assert "3 rows of 3 cells" in form_hint(form)
    assert state.refusal(state.to_act[0], form_answer(form, ". . .; X . .; o . .")) is None
    with pytest.raises(MoveError, match="grid"):
        form_answer(form, ". .")


def test_fields_are_filled_in() -> None:
    form, state = form_of("comma/read")
    right = state.solution(state.to_act[0])  # type: ignore[attr-defined]
    assert form_answer(form, right.replace("\n", "; ")) == right


@pytest.mark.parametrize("name", GAMES.names())
def test_no_hint_shows_a_format_of_models(name: str) -> None:
    try:
        form, _ = form_of(name)
    except ImportError:
        pytest.skip("needs an extra")
    assert not re.search(r"[<{\[]|\\boxed|JSON", form_hint(form))
