"""Options of level 2 for a curriculum: tasks of few steps, partial rewards, and sub-goals before a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ludens
from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.errors import BadOption
from ludens.games.viki import generate
from ludens.games.viki.checker import check, partial_credit
from ludens.games.viki.floor import FloorPlan
from ludens.games.viki.levels import PlanLevel, PlanState
from ludens.games.viki.replies import well_formed, write_plan
from ludens.games.viki.sources import SEAT, short_setup
from ludens.games.viki.subgoals import told
from ludens.games.viki.world import Condition
from tests.games.viki.hand_kitchen import PLAN, SCENE

SET = ("3-1", "4-1")
"""Templates of the training split in which a plate is brought to the table."""


def level(**options: object) -> PlanLevel:
    game = ludens.make("viki/plan", **options)
    assert isinstance(game, PlanLevel)
    return game


@pytest.mark.parametrize("steps", [3, 5])
def test_tasks_of_few_steps(steps: int) -> None:
    game = level(split="train", steps=steps)
    scenes = [game.setup(seed).scene for seed in range(8)]
    assert all(0 < len(scene.plan) <= steps for scene in scenes)
    assert all(check(scene, scene.plan).right for scene in scenes)
    assert all(scene.task.family != generate.HELD_OUT_FAMILY for scene in scenes)
    assert len({scene.task.name for scene in scenes}) > 2
    assert scenes[0] == generate.generate_short(0, "train", steps)


def test_mixed_tasks_move_dishes_but_set_no_table() -> None:
    """Nothing that the family held out asks for is asked for."""
    game = level(split="train", steps=5, mixed=True)
    tasks = [game.setup(seed).scene.task for seed in range(60)]
    moved = {(goal.thing, goal.place) for task in tasks for goal in task.goals if task.template not in SET}
    dishes = {(thing, place) for thing, place in moved if thing in ("plate", "bowl", "tray")}
    assert dishes
    assert "table" not in {place for _, place in dishes}


def test_tasks_of_few_steps_are_stored_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    monkeypatch.setattr(generate, "BLOCK", 2)
    level(split="train", steps=3).prepare(range(2, 4))
    (file,) = tmp_path.rglob("*.json.z")
    assert "steps-3" in str(file)
    made = generate.generate_short(3, "train", 3)
    monkeypatch.setattr("ludens.games.viki.sources.generate_short", None)
    short_setup.cache_clear()
    assert level(split="train", steps=3).setup(3).scene == made


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 3, "twins": True}, "no twins"),
        ({"steps": 3, "look": "camera"}, "look=map"),
        ({"partial": True, "data": "folder"}, "released"),
        ({"steps": 12}, "steps"),
        ({"mixed": True}, "needs steps"),
    ],
)
def test_options_that_exclude_each_other(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        level(**options)


def test_wrong_plans_earn_for_steps_and_conditions() -> None:
    """The plan of this kitchen has one goal, which its last step fulfils."""
    length = len(PLAN)
    assert SCENE.limit == length
    earned = [partial_credit(SCENE, PLAN[:n]) for n in range(length + 1)]
    assert earned == pytest.approx([0.2 * n / length for n in range(length)] + [1.0])
    refused = [{"R1": ("Reach", "nothing")}]
    assert partial_credit(SCENE, [*refused, *PLAN]) == 0.0
    assert partial_credit(SCENE, [*PLAN, *refused]) == pytest.approx(0.4 + 0.2 * length / (length + 1))


def test_partial_rewards_are_for_training_alone() -> None:
    """A cut plan is wrong in any case; its steps count with `partial` only."""
    for partial in (False, True):
        game = level(split="train", steps=5, partial=partial)
        state = next(state for state in map(game.start, range(9)) if len(state.scene.plan) > 2)
        assert isinstance(state, PlanState)
        cut = write_plan(state.scene.plan[:-1])
        state.apply({SEAT: cut})
        assert (state.accuracies, state.returns[SEAT]) == ([0.0], 0.0)
        assert (state.credits[0] > 0) is partial


def test_an_unreadable_reply_earns_nothing() -> None:
    state = level(split="train", steps=3, partial=True).start(0)
    state.apply({SEAT: ""})
    assert state.credits == [0.0]


def test_sub_goals_come_before_the_plan() -> None:
    game = level(split="train", steps=5)
    teacher = agent("bot/oracle?reason=true&short=true&goals=true", game)
    for seed in range(3):
        episode = play_sync(game, {SEAT: teacher}, seed)
        text = episode.moves[0].tries[-1].text
        assert well_formed(text)
        assert episode.returns[SEAT] == 1.0
        scene = game.setup(seed).scene
        words = text.partition("</think>")[0].removeprefix("<think>").split("; ")
        assert words[-1] == str(scene.limit)
        acting = {robot for step in scene.plan for robot in step}
        assert {word.split(" ")[0] for word in words[-1 - len(acting) : -1]} == acting
        heights = {area.name: f"{100 * area.height:.0f}" for area in scene.areas}
        said = {word.split(" ")[-1] for word in words[: len(heights)]}
        assert said == set(heights.values())


def test_what_each_arm_reaches_is_told() -> None:
    """The rack is too high for R1, a fetch, and R2 cannot leave the table; R4 has no arm."""
    scene = replace(SCENE, task=replace(SCENE.task, goals=(Condition("apple", "bowl"),)))
    assert told(scene, FloorPlan(scene)).endswith(
        "; R1 apple; R2 apple; R3 apple bowl; R1 Grasp apple Place plate; 3"
    )
