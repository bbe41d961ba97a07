"""Bots that are imitated, notes in short, and what replies earn in training."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import ludens
from ludens.agents import agent
from ludens.core.agent import Reply
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Move, Try
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.viki.bots import random_plan
from ludens.games.viki.checker import check
from ludens.games.viki.levels import (
    ActivateLevel,
    ActivateState,
    AnswerState,
    Level,
    PlanLevel,
    PlanState,
    TraceLevel,
    TraceState,
)
from ludens.games.viki.replies import points_of, well_formed, write_plan
from ludens.games.viki.sources import SEAT, SceneSetup
from ludens.games.viki.world import PRIMITIVES, Condition
from tests.games.viki.hand_kitchen import PLAN, SCENE, WALKING

GIVEN = SceneSetup(5, SCENE)
SHORT_PLAN = (
    '[{"actions":{"R1":["Reach","apple"]}},{"actions":{"R1":["Grasp","apple"]}},'
    '{"actions":{"R1":["Place","plate"]}}]'
)
SEEN = (
    "apple 74: table; plate 84: table; "
    "R1 77: fetch table; R2 97: panda table; R3 42: stompy room; R4 07: anymal_c ground; "
)


async def said(bot: str, state: AnswerState) -> Reply:
    view = view_of(state.game, RenderOptions(), 0)
    ask = build_ask(view, state, SEAT, "state", PlayConfig())
    return (
        await agent(bot, state.game).sit(state.game, SEAT, stream(0, "test")).act(replace(ask, state=state))
    )


@pytest.mark.parametrize(
    ("bot", "team", "plan"),
    [
        ("bot/best", '<answer>["fetch"]</answer>', f"<answer>{write_plan(PLAN)}</answer>"),
        ("bot/oracle?short=true", '<answer>["fetch"]</answer>', f"<answer>{SHORT_PLAN}</answer>"),
        (
            "bot/oracle?short=true&reason=true",
            f'<think>{SEEN}R1</think><answer>["fetch"]</answer>',
            f"<think>{SEEN}R1</think><answer>{SHORT_PLAN}</answer>",
        ),
    ],
)
async def test_replies_of_the_oracle(bot: str, team: str, plan: str) -> None:
    assert await said(bot, ActivateState(ActivateLevel(), GIVEN)) == Reply(team, '["fetch"]')
    assert await said(bot, PlanState(PlanLevel(), GIVEN)) == Reply(plan, write_plan(PLAN))


async def test_things_in_furniture_are_told_with_it() -> None:
    goals = (Condition("bread", "plate"), Condition("sink", active=True))
    scene = replace(SCENE, task=replace(SCENE.task, goals=goals))
    text = (await said("bot/describe", ActivateState(ActivateLevel(), SceneSetup(5, scene)))).text
    things = "bread cabinet; cabinet 00: kitchen work area closed; plate 84: table; sink 40: room; R1 77: "
    assert text.startswith(f"<think>{things}")


@pytest.mark.parametrize("bot", ["bot/oracle?reason=true", "bot/oracle?reason=true&short=true"])
async def test_reasoning_is_well_formed(bot: str) -> None:
    for state in (
        ActivateState(ActivateLevel(), GIVEN),
        PlanState(PlanLevel(), GIVEN),
        TraceState(TraceLevel(), SceneSetup(5, WALKING)),
    ):
        reply = await said(bot, state)
        form = view_of(state.game, RenderOptions(), 0).format(state, SEAT)
        assert well_formed(reply.text)
        assert form.read(reply.text, state.legal(SEAT)) == reply.action


async def test_short_paths_have_whole_coordinates() -> None:
    state = TraceState(TraceLevel(), SceneSetup(5, WALKING))
    reply = await said("bot/oracle?short=true&reason=true", state)
    mine, partner = state.errands
    begins = [f"{one.robot} {one.points[0][0]:.0f} {one.points[0][1]:.0f} " for one in (mine, partner)]
    assert reply.text.startswith(f"<think>{begins[0]}")
    assert f"; {begins[1]}" in reply.text
    assert "." not in reply.text
    for path, truth in zip(points_of(reply.action or ""), state.truth, strict=True):
        assert all(
            abs(a - b) <= 0.5 for p, q in zip(path, truth, strict=True) for a, b in zip(p, q, strict=True)
        )


async def test_describing_is_no_help_to_the_answer() -> None:
    """The guess does not depend on what is seen."""
    replies = [
        await said("bot/describe", ActivateState(ActivateLevel(), SceneSetup(5, scene)))
        for scene in (SCENE, _moved())
    ]
    assert replies[0].text != replies[1].text
    assert replies[0].action == replies[1].action


def test_random_plans_name_everything() -> None:
    plans = [random_plan(SCENE, stream(seed, "test")) for seed in range(200)]
    words = {word for plan in plans for step in plan for action in step.values() for word in action}
    names = {*PRIMITIVES, *(asset.name for asset in SCENE.assets), *(area.name for area in SCENE.areas)}
    assert words == names | {robot.id for robot in SCENE.robots}
    assert {robot for plan in plans for step in plan for robot in step} == {"R1", "R2", "R3", "R4"}
    assert {len(plan) for plan in plans} == {3, 4, 5, 6}
    assert all(check(SCENE, plan).code != "format" for plan in plans)


def _moved() -> object:
    return replace(SCENE, robots=tuple(replace(robot, place="rack") for robot in SCENE.robots))


def test_notes_in_short() -> None:
    toast = (Condition("bread", "sink"),), (Condition("sink", active=True),)
    task = replace(SCENE.task, text="Toast.", goals=(Condition("plate", "table"),), orders=(toast,))
    setup = SceneSetup(5, replace(SCENE, task=task))
    brief = view_of(ActivateLevel(), RenderOptions(), 0).brief(ActivateState(ActivateLevel(), setup), SEAT)
    assert brief == "Toast.\nbread at sink, then sink activated; plate at table"

    game = PlanLevel(feedback=1)
    state = PlanState(game, GIVEN)
    state.answers = (write_plan([{"R1": ("Grasp", "apple")}]),)
    words, goal, plan, reason = view_of(game, RenderOptions(), 0).brief(state, SEAT).splitlines()
    assert (words, goal) == ("Put the apple on the plate.", "apple at plate")
    assert plan == '[{"step":1,"actions":{"R1":["Grasp","apple"]}}]'
    assert reason == "step 1, R1 Grasp apple: R1 has not reached apple"

    path = TraceState(TraceLevel(), SceneSetup(5, WALKING))
    lines = view_of(TraceLevel(), RenderOptions(), 0).brief(path, SEAT).splitlines()
    assert lines == [f"{one.robot} {one.words}" for one in path.errands]


def earned(game: Level, state: AnswerState, text: str) -> float:
    """What a reply earns."""
    form = view_of(game, RenderOptions(), 0).format(state, SEAT)
    action = form.read(text, state.legal(SEAT))
    state.apply({SEAT: action})
    move = Move(step=0, seat=SEAT, action=action, tries=[Try(text)])
    return game.rewards(state, [move])[0]


LONG = [{"R1": ("Move", "table")}, *PLAN]
WRONG = [{"R1": ("Reach", "apple")}]


@pytest.mark.parametrize(
    ("plan", "penalty", "tags", "reward"),
    [
        (PLAN, True, True, 1.0),
        (PLAN, False, True, 1.0),
        (PLAN, True, False, 0.9),
        (LONG, True, True, 0.1),
        (LONG, False, True, 1.0),
        (LONG, False, False, 0.9),
        (WRONG, True, True, 0.1),
        (WRONG, False, True, 0.1),
        (WRONG, False, False, 0.0),
    ],
)
def test_plans_earn_with_and_without_the_step_penalty(
    plan: list[dict[str, tuple[str, ...]]], penalty: bool, tags: bool, reward: float
) -> None:
    game = PlanLevel(step_penalty=penalty)
    state = PlanState(game, GIVEN)
    text = f"{'<think>so</think>' if tags else ''}<answer>{write_plan(plan)}</answer>"
    assert earned(game, state, text) == pytest.approx(reward)
    assert state.facts["right"] is (plan is PLAN)


def test_a_long_plan_needs_no_further_attempt_without_the_step_penalty() -> None:
    for penalty in (True, False):
        state = PlanState(PlanLevel(feedback=1, step_penalty=penalty), GIVEN)
        state.apply({SEAT: write_plan(LONG)})
        assert state.over is not penalty


def test_paths_earn_by_distance() -> None:
    """All points are (3, 4) off: 5 pixels; the RMSE per coordinate is sqrt((9 + 16) / 2) = 3.5355.

    (1 - 3.5355/360 + 1 - 5/360 + 1 - 5/400) / 3 = 0.98793, and 0.1 + 0.9 * 0.98793 = 0.98914.
    """
    state = TraceState(TraceLevel(), SceneSetup(5, WALKING))
    moved = json.dumps([[[x - 3, y - 4] for x, y in path] for path in state.truth])
    assert earned(TraceLevel(), state, f"<think>so</think><answer>{moved}</answer>") == pytest.approx(
        0.98914, abs=1e-5
    )


def test_the_best_bot_is_still_the_planner() -> None:
    game = ludens.make("viki/plan?split=ood")
    episode = ludens.play_sync(game, {SEAT: agent("bot/best", game)}, seed=1)
    assert episode.returns == {SEAT: 1.0}
    assert episode.moves[0].action == write_plan(game.start(1).scene.plan)  # type: ignore[attr-defined]
