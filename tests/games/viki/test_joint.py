"""Actions of one step: whatever the rules allow has the same result in every order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from ludens.games.viki.checker import check
from ludens.games.viki.rules import JointAction, World
from ludens.games.viki.search import shortest_plan
from ludens.games.viki.world import Condition, Plan, WorldState
from tests.games.viki.brute import every_action
from tests.games.viki.joint_steps import audit
from tests.games.viki.kitchens import kitchen
from tests.games.viki.test_rules import TAKE_APPLE, plan, room

BUSY = {
    "cabinet": "table",
    "tray": "table",
    "plate": "tray",
    "apple": "plate",
    "knife": "table",
    "spoon": "cabinet",
    "cardboardbox": "table",
    "bread": "cardboardbox",
}
TEAM = [("unitree_h1", "table"), ("stompy", "table"), ("fetch", "table"), ("unitree_go2", "table")]
WALKS, STEPS = 60, 14


def in_order(world: World, state: WorldState, actions: Sequence[JointAction]) -> WorldState | None:
    """The state after the actions one by one, Move and Push to where targets were; None if one is refused."""
    start = state
    for robot, primitive, args in actions:
        if primitive == "Move":
            args = (world.area(start, args[0]),)
        elif primitive == "Push":
            args = (args[0], world.area(start, args[1]))
        if world.broken(state, robot, primitive, args) is not None:
            return None
        state = world.apply(state, [(robot, primitive, args)])
    return state


def idle_travel(world: World, state: WorldState, actions: Sequence[JointAction]) -> bool:
    """Whether a robot moves or pushes to where it is: such an action takes nothing away."""
    return any(
        primitive in ("Move", "Push") and state.at[robot] == world.area(state, args[-1])
        for robot, primitive, args in actions
    )


def test_a_step_has_the_same_result_in_every_order() -> None:
    """Over random walks: a step is allowed exactly if the order of its actions does not matter."""
    rng = random.Random(4)
    seen = Counter[tuple[bool, bool]]()
    for _ in range(WALKS):
        team = rng.sample(TEAM, rng.choice([2, 2, 3]))
        world = World(kitchen(BUSY, team, closed=("cabinet",) if rng.random() < 0.3 else ()))
        state = world.start()
        for _ in range(STEPS):
            chosen: list[JointAction] = []
            for robot in range(len(team)):
                options = every_action(world, state, robot)
                kinds = sorted({name for _, name, _ in options})
                name = rng.choice(kinds)
                chosen.append(rng.choice([option for option in options if option[1] == name]))
            joint = world.apply(state, chosen)
            results = [in_order(world, state, order) for order in permutations(chosen)]
            same = all(result == joint for result in results)
            shared = _share_a_name(world, chosen)
            allowed = world.clash(state, chosen) is None
            seen[allowed, same] += 1
            if allowed:
                assert same, [
                    (world.robots[r], name, [world.names[c] for c in args]) for r, name, args in chosen
                ]
                state = joint
            else:
                assert not same or shared or idle_travel(world, state, chosen)
    assert seen[True, True] > 300
    assert seen[False, False] > 30


def _share_a_name(world: World, chosen: Sequence[JointAction]) -> bool:
    named = [code for _, _, args in chosen for code in args if world.first_asset <= code < world.first_robot]
    return len(set(named)) < len(named)


REFUSED = {
    "a receiver that moves": (*TAKE_APPLE, "R2 Handover apple R1;R1 Move rack"),
    "a receiver that puts something down": (
        "R1 Reach pear;R2 Reach apple",
        "R1 Grasp pear;R2 Grasp apple",
        "R2 Handover apple R1;R1 Place plate",
    ),
    "a receiver that needs the hand": (
        "R1 Reach pear;R2 Reach apple",
        "R1 Grasp pear;R2 Grasp apple",
        "R2 Handover apple R1;R1 Reach plate",
    ),
    "a thing used in a hand that moves away": (*TAKE_APPLE, "R1 Interact apple;R2 Move rack"),
    "a plate lifted while the bread on it is reached for": (
        "R1 Reach plate",
        "R1 Grasp plate;R2 Reach bread",
    ),
    "a plate lifted while the bread on it is grasped": (
        "R1 Reach plate;R2 Reach bread",
        "R1 Grasp plate;R2 Grasp bread",
    ),
}
ALLOWED = {
    "a receiver with two free hands that reaches": (*TAKE_APPLE, "R2 Handover apple R1;R1 Reach pear"),
    "a receiver that uses what it holds": (
        "R1 Reach pear;R2 Reach apple",
        "R1 Grasp pear;R2 Grasp apple",
        "R2 Handover apple R1;R1 Interact pear",
    ),
    "a giver is free to go in the next step": (
        *TAKE_APPLE,
        "R2 Handover apple R1",
        "R1 Move rack;R2 Move rack",
    ),
    "a plate lifted while the bread on it is used": ("R1 Reach plate", "R1 Grasp plate;R2 Interact bread"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_actions_that_exclude_each_other(case: str) -> None:
    steps: Plan = plan(*REFUSED[case])
    assert check(room(), steps[:-1]).feasible
    said = check(room(), steps)
    assert (said.code, said.step) == ("incompatible", len(steps)), said.message


@pytest.mark.parametrize("case", ALLOWED)
def test_actions_that_go_together(case: str) -> None:
    assert check(room(), plan(*ALLOWED[case])).feasible


def test_the_audit_notices_a_plan_that_depends_on_one_step() -> None:
    """Two robots put things on a plate in one step; one after the other they would need a step more."""
    goals = [Condition("apple", place="plate"), Condition("pear", place="plate")]
    things = dict.fromkeys(["apple", "pear", "plate"], "table")
    scene = kitchen(things, [("fetch", "table"), ("panda", "table")], goals)
    plan = shortest_plan(scene).plan
    assert plan is not None
    assert len(plan) == 3
    having, needing, unknown = audit([replace(scene, plan=tuple(plan))])
    assert having == needing == Counter({"Place and Place of one thing": 1})
    assert not unknown


def test_no_shortest_plan_depends_on_a_receiver_that_moves() -> None:
    """The handover takes a step of its own: reach, grasp, hand over, move, place."""
    things = {"apple": "table"}
    team = [("panda", "table"), ("fetch", "table")]
    scene = kitchen(things, team, [Condition("apple", place="ground")])
    plan = shortest_plan(scene).plan
    assert plan is not None
    assert len(plan) == 4  # the fetch does it alone: with the handover it would take five
    given = [{"R1": ("Reach", "apple")}, {"R1": ("Grasp", "apple")}]
    given += [{"R1": ("Handover", "apple", "R2"), "R2": ("Move", "ground")}, {"R2": ("Place", "ground")}]
    assert check(scene, given).code == "incompatible"
