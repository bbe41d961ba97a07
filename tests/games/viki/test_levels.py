"""The three levels: answers that are read or refused, what they score, feedback, rewards, bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from math import hypot

import pytest

import ludens
from ludens.agents import agent
from ludens.core.agent import Reply
from ludens.core.config import PlayConfig
from ludens.core.errors import MoveError
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions, view_of
from ludens.games.viki.levels import (
    ActivateLevel,
    ActivateState,
    PlanLevel,
    PlanState,
    TraceLevel,
    TraceState,
    errands,
)
from ludens.games.viki.replies import read_types, write_plan
from ludens.games.viki.sources import SEAT, SceneSetup
from tests.games.viki.hand_kitchen import PLAN, SCENE, WALKING
from tests.support.players import Scripted

GIVEN = SceneSetup(5, SCENE)
PATHS = SceneSetup(5, WALKING)
RIGHT = write_plan(PLAN)
LONG = write_plan([{"R1": ("Move", "table")}, *PLAN])
IMPOSSIBLE = write_plan([{"R1": ("Grasp", "apple")}])
SHORT = write_plan(PLAN[:1])


def answered(state: State, *answers: str) -> State:
    for answer in answers:
        state.apply({SEAT: answer})
    return state


@pytest.mark.parametrize(
    "text",
    [
        '["fetch", "panda"]',
        "['panda', 'fetch']",
        "panda, fetch",
        '```json\n["fetch","panda",]\n```',
        "('Fetch', 'Panda')",
    ],
)
def test_types_are_read(text: str) -> None:
    assert read_types(text) == '["fetch", "panda"]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "empty"),
        ('["cat"]', "'cat'"),
        ("[1, 2]", "not a list of robot types"),
        ('{"fetch": 1}', "not a list of robot types"),
        ("all of them", "'all of them'"),
        ("[" * 1000 + "]" * 1000, "nested"),
        ("[__import__('os')]", "neither"),
    ],
)
def test_types_are_refused(text: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason):
        read_types(text)


@pytest.mark.parametrize(
    ("answer", "score"),
    [('["fetch"]', 1.0), ('["panda"]', 0.0), ('["fetch", "panda"]', 0.0), ("", 0.0)],
)
def test_the_right_team(answer: str, score: float) -> None:
    state = answered(ActivateState(ActivateLevel(), GIVEN), answer)
    assert state.over
    assert state.returns == {SEAT: score}
    assert state.facts["right"] is (score == 1.0)
    assert state.facts["readable"] is bool(answer)


@pytest.mark.parametrize(
    ("answer", "code", "feasible", "reached"),
    [
        (RIGHT, None, True, True),
        (LONG, "long", True, True),
        (SHORT, "goal", True, False),
        (IMPOSSIBLE, "infeasible", False, False),
        ("", "format", False, False),
    ],
)
def test_what_makes_a_plan_right(answer: str, code: str | None, feasible: bool, reached: bool) -> None:
    facts = answered(PlanState(PlanLevel(), GIVEN), answer).facts
    assert (facts["code"], facts["feasible"], facts["reached"]) == (code, feasible, reached)
    assert facts["right"] is (code is None)
    assert facts["above"] == ({None: 0, "long": 1}[code] if reached else None)


def test_feedback_tells_what_was_wrong() -> None:
    told, untold = PlanLevel(feedback=2), PlanLevel(feedback=2, told=False)
    for game in (told, untold):
        state = answered(PlanState(game, GIVEN), IMPOSSIBLE)
        notes = view_of(game, RenderOptions(), 0).notes(state, SEAT)
        assert IMPOSSIBLE in notes
        assert ("step 1, R1 Grasp apple: R1 has not reached apple" in notes) is game.told
        assert not state.over
    state = answered(PlanState(told, GIVEN), IMPOSSIBLE, "", RIGHT)
    assert state.over
    assert state.facts["rights"] == [False, False, True]
    assert answered(PlanState(told, GIVEN), IMPOSSIBLE, RIGHT).over
    assert answered(PlanState(told, GIVEN), IMPOSSIBLE, IMPOSSIBLE, LONG).facts["rights"] == [False] * 3


BAD_PLANS = {
    "ten megabytes": ("[" + '{"step": 1, "actions": {}},' * 400_000 + "]", "characters"),
    "10,000 steps": (json.dumps([{"actions": {"R1": ["Move", "x"]}}] * 4_000), "steps"),
    "two actions": ('[{"actions": {"R1": ["Move", "table"], "R1": ["Move", "rack"]}}]', "twice"),
    "r1 and R1": ('[{"actions": {"R1": ["Move", "table"], "r1": ["Move", "rack"]}}]', "two actions"),
    "nested": ("[" * 1000 + "]" * 1000, "nested"),
    "code": ("__import__('os').system('true')", "neither"),
    "prose": ("R1 goes to the table", "neither"),
}


@pytest.mark.parametrize("case", BAD_PLANS)
def test_bad_plans_get_one_sentence(case: str) -> None:
    text, reason = BAD_PLANS[case]
    state = PlanState(PlanLevel(), GIVEN)
    form = view_of(state.game, RenderOptions(), 0).format(state, SEAT)
    with pytest.raises(MoveError, match=reason) as refused:
        form.read(text, state.legal(SEAT))
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"R9": ["Move", "table"]}, "no robot R9"),
        ({"R1": ["Move", "moon"]}, "no moon"),
        ({"R1": ["Fly", "table"]}, "Fly"),
        ({"R2": ["Move", "rack"]}, "cannot Move"),
    ],
)
def test_unknown_names_are_named(action: dict[str, list[str]], reason: str) -> None:
    state = PlanState(PlanLevel(feedback=1), GIVEN)
    answered(state, state.canonical(json.dumps([{"actions": action}])))
    assert reason in view_of(state.game, RenderOptions(), 0).notes(state, SEAT)


def test_words_follow_the_step_penalty() -> None:
    """Where length does not count, neither rules nor feedback say that a longer plan is wrong."""
    rules, said = {}, {}
    for penalty in (True, False):
        game = PlanLevel(step_penalty=penalty, feedback=1)
        view, state = view_of(game, RenderOptions(), 0), PlanState(game, GIVEN)
        before = view.notes(state, SEAT)
        answered(state, LONG)
        rules[penalty], said[penalty] = view.rules(SEAT), view.notes(state, SEAT).removeprefix(before)
    assert "no shorter plan" in rules[True]
    assert "short" not in rules[False]
    assert "are enough" in said[True]
    assert not said[False]


def test_one_picture_is_one_camera() -> None:
    levels = {"viki/activate": True, "viki/plan": True, "viki/trace": False}
    for level, several in levels.items():
        game = ludens.make(f"{level}?look=camera")
        rules = view_of(game, RenderOptions(), 0).rules(SEAT)
        assert ("several cameras" in rules) == several


def test_errands_come_from_the_plan() -> None:
    """R1 moves to the apple, which it reaches for there; the fixed arm R2 reaches for the pear."""
    plan = (
        {"R1": ("Move", "kitchen island area"), "R2": ("Reach", "pear")},
        {"R1": ("Reach", "kiwi"), "R2": ("Grasp", "pear")},
    )
    words = {errand.robot: errand.words for errand in errands(SceneSetup(5, replace(SCENE, plan=plan))) or ()}
    assert words == {"R1": "Move to the kiwi", "R2": "Reach the pear"}
    away = ({"R1": ("Move", "ground")}, {"R1": ("Place", "ground"), "R3": ("Move", "rack")})
    pair = errands(SceneSetup(5, replace(SCENE, plan=away)))
    assert pair is not None
    assert {errand.words for errand in pair} == {"Move to the ground", "Move to the rack"}
    assert errands(GIVEN) is None


def test_the_path_itself_earns_everything() -> None:
    state = TraceState(TraceLevel(), PATHS)
    answered(state, state.solution(SEAT) or "")
    assert state.returns == {SEAT: 1.0}
    assert state.facts["average"] == 0.0


def test_an_unreadable_path_is_the_worst() -> None:
    state = TraceState(TraceLevel(), PATHS)
    corners = json.dumps([[[0.0, 0.0]] * 5, [[512.0, 512.0]] * 5], separators=(",", ":"))
    far = answered(state.clone(), state.canonical(corners))
    nothing = answered(state.clone(), "")
    assert nothing.returns == {SEAT: 0.0}
    assert nothing.facts["average"] == pytest.approx(hypot(512, 512), abs=0.01)
    assert nothing.facts["average"] > far.facts["average"]
    assert not nothing.facts["readable"]


@pytest.mark.parametrize("spec", ["viki/activate", "viki/plan?feedback=1", "viki/trace"])
def test_rewards_are_for_form_and_answer(spec: str) -> None:
    game = ludens.make(spec)
    answer = game.start(3).solution(SEAT)
    view = view_of(game, RenderOptions(), 0)
    good = f"<think>x</think><answer>{answer}</answer>"
    for text, earned in (
        (good, 1.0),
        (f"<answer>{answer}</answer>", 0.9),
        ("<think>x</think><answer>?</answer>", 0.1),
    ):
        episode = ludens.play_sync(
            game, {SEAT: Scripted([Reply(text)])}, seed=3, config=PlayConfig(retries=0)
        )
        state = game.start(3)
        for move in episode.moves:
            state.apply({SEAT: move.action})
        assert game.rewards(state, episode.moves)[0] == pytest.approx(earned)
    assert view.format(game.start(3), SEAT).read(good, Legal.text(100_000)) == answer


@pytest.mark.parametrize("spec", ["viki/activate", "viki/plan", "viki/trace"])
def test_bots(spec: str) -> None:
    game = ludens.make(spec)
    scores = {}
    for bot in ("bot/random", "bot/greedy", "bot/best"):
        played = [ludens.play_sync(game, {SEAT: agent(bot, game)}, seed=seed) for seed in range(4)]
        scores[bot] = sum(episode.returns[SEAT] for episode in played) / 4
    assert scores["bot/best"] == 1.0
    assert scores["bot/random"] < 0.8
