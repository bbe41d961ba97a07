"""Every precondition is broken by some plan, and the refusal names step, robot, primitive and reason."""

from __future__ import annotations

import pytest

from ludens.games.viki.checker import check
from ludens.games.viki.world import PRECONDITIONS, PRIMITIVES, ROBOTS, Condition, Plan, Scene
from tests.games.viki.kitchens import kitchen

THINGS = {
    "cabinet": "kitchen work area",
    "sink": "table",
    "apple": "table",
    "pear": "table",
    "plate": "table",
    "cup": "rack",
    "fork": "ground",
    "spoon": "cabinet",
    "cardboardbox": "ground",
    "bread": "plate",
}
ROBOTS_HERE = (("unitree_h1", "table"), ("fetch", "table"), ("panda", "table"), ("unitree_go2", "ground"))


def room(**changes: object) -> Scene:
    return kitchen(THINGS, ROBOTS_HERE, closed=("cabinet",), **changes)  # type: ignore[arg-type]


def plan(*steps: str) -> Plan:
    """Steps as text: `R1 Move apple; R2 Reach plate`; names with blanks are joined with `_`."""
    return [
        {
            words[0]: tuple(word.replace("_", " ") for word in words[1:])
            for words in (action.split() for action in step.split(";"))
        }
        for step in steps
    ]


TAKE_APPLE = ("R2 Reach apple", "R2 Grasp apple")
BROKEN: dict[str, tuple[str, ...]] = {
    "capable": ("R4 Reach apple",),
    "exists": ("R1 Move castle",),
    "second_exists": ("R4 Push cardboardbox castle",),
    "asset": ("R1 Reach table",),
    "second_robot": (*TAKE_APPLE, "R2 Handover apple plate"),
    "unheld": (*TAKE_APPLE, "R1 Reach apple"),
    "free": ("R1 Reach apple;R2 Reach apple", "R2 Grasp apple", "R1 Grasp apple"),
    "set_down": ("R1 Reach plate;R2 Reach apple", "R1 Grasp plate;R2 Grasp apple", "R2 Place plate"),
    "uncovered": ("R1 Move cabinet", "R1 Reach spoon"),
    "in_radius": ("R1 Reach cabinet",),
    "in_height": ("R2 Move cup", "R2 Reach cup"),
    "surface_in_height": (*TAKE_APPLE, "R2 Move rack", "R2 Place rack"),
    "free_hand": (*TAKE_APPLE, "R2 Reach pear"),
    "reached": ("R1 Grasp apple",),
    "graspable": ("R1 Reach sink", "R1 Grasp sink"),
    "together": ("R1 Interact cup",),
    "carrying": ("R1 Place plate",),
    "carries_target": ("R2 Handover apple R1",),
    "receptacle": (*TAKE_APPLE, "R2 Place pear"),
    "not_closed": (*TAKE_APPLE, "R2 Move cabinet", "R2 Place cabinet"),
    "openable": ("R1 Reach sink", "R1 Open sink"),
    "is_closed": ("R1 Move cabinet", "R1 Reach cabinet", "R1 Open cabinet", "R1 Open cabinet"),
    "is_open": ("R1 Move cabinet", "R1 Reach cabinet", "R1 Close cabinet"),
    "not_active": ("R1 Interact sink", "R2 Interact sink"),
    "hand_or_holding": (*TAKE_APPLE, "R2 Interact sink"),
    "pushable": ("R4 Move apple", "R4 Push apple table"),
    "second_free_hand": (
        "R2 Reach apple;R3 Reach pear",
        "R2 Grasp apple;R3 Grasp pear",
        "R2 Handover apple R3",
    ),
    "second_together": (*TAKE_APPLE, "R1 Move cup", "R2 Handover apple R1"),
}


def test_every_precondition_is_broken_by_a_plan() -> None:
    assert set(BROKEN) == set(PRECONDITIONS)
    assert {need for primitive in PRIMITIVES.values() for need in primitive.needs} == set(PRECONDITIONS)


@pytest.mark.parametrize("name", BROKEN)
def test_refusal_names_step_robot_primitive_and_reason(name: str) -> None:
    steps = BROKEN[name]
    scene = room()
    good = check(scene, plan(*steps[:-1]))
    assert good.feasible or len(steps) == 1
    said = check(scene, plan(*steps))
    assert said.code == ("entity" if "exists" in name else "infeasible")
    robot, primitive, target, *rest = [word.replace("_", " ") for word in steps[-1].split()]
    reason = PRECONDITIONS[name].broken.format(
        r=robot, x=target, y=rest[0] if rest else "", primitive=primitive, type=dict_of_types(scene)[robot]
    )
    assert said.message == f"step {len(steps)}, {' '.join([robot, primitive, target, *rest])}: {reason}"
    assert said.step == len(steps)


def dict_of_types(scene: Scene) -> dict[str, str]:
    return {robot.id: robot.type for robot in scene.robots}


def test_a_robot_stays_where_it_went_when_the_target_moves() -> None:
    steps = ["R2 Reach apple", "R2 Grasp apple;R1 Move apple", "R2 Move cabinet", "R1 Interact apple"]
    assert check(room(), plan(*steps)).message.endswith("R1 is not where apple is")
    released = check(
        room(), plan("R2 Move apple", "R1 Move R2", *TAKE_APPLE, "R2 Move rack", "R1 Reach apple"), "released"
    )
    assert released.feasible


def test_the_oldest_reached_thing_drops_out() -> None:
    steps = ("R1 Reach apple", "R1 Reach pear", "R1 Reach plate", "R1 Grasp apple")
    assert check(room(), plan(*steps)).message.endswith("R1 has not reached apple")
    assert check(room(), plan(*steps[:3], "R1 Grasp pear", "R1 Grasp plate")).feasible


def test_closing_takes_away_what_was_reached_inside() -> None:
    steps = ["R1 Move cabinet;R2 Move cabinet", "R1 Reach cabinet;R2 Reach cabinet", "R1 Open cabinet"]
    steps += ["R1 Reach spoon", "R2 Close cabinet", "R1 Grasp spoon"]
    assert check(room(), plan(*steps)).message == "step 6, R1 Grasp spoon: R1 has not reached spoon"


def test_grasp_takes_one_thing_by_default_and_all_reached_things_in_the_released_rules() -> None:
    goals = (Condition("apple", place="plate"), Condition("pear", place="plate"))
    steps = plan("R1 Move plate", "R1 Reach apple", "R1 Reach pear", "R1 Grasp apple", "R1 Place plate")
    assert check(room(goals=goals), steps).code == "goal"
    assert check(room(goals=goals), steps, "released").right


def test_two_actions_on_one_thing_are_incompatible_except_moves_and_reach_with_place() -> None:
    both = ("R1 Reach apple;R2 Reach apple",)
    assert check(room(), plan(*both)).feasible
    said = check(room(), plan(*both, "R1 Grasp apple;R2 Grasp apple"))
    assert (said.code, said.step) == ("incompatible", 2)
    assert "apple" in said.message
    released = ("R1 Move apple;R2 Move apple", *both, "R1 Grasp apple;R2 Grasp apple")
    assert check(room(), plan(*released), "released").code == "incompatible"
    assert check(room(), plan(*TAKE_APPLE, "R2 Place plate;R1 Reach plate")).feasible


def test_nobody_is_given_more_than_it_has_hands() -> None:
    steps = [
        "R1 Reach apple;R3 Reach pear",
        "R1 Grasp apple;R3 Grasp pear",
        "R1 Handover apple R2;R3 Handover pear R2",
    ]
    said = check(room(), plan(*steps))
    assert (said.code, said.step) == ("incompatible", 3)


def test_pushing_moves_box_contents_and_robot() -> None:
    scene = room(goals=(Condition("cardboardbox", place="table"),))
    assert check(scene, plan("R4 Push cardboardbox table", "R4 Interact sink")).right
    assert check(scene, plan("R4 Push cardboardbox apple")).right
    assert (
        check(scene, plan("R4 Move cardboardbox", "R4 Push cardboardbox table"), "released").code == "entity"
    )


def test_the_direct_place_counts() -> None:
    scene = room(goals=(Condition("bread", place="table"),))
    assert check(scene, plan("R1 Reach bread")).code == "goal"
    assert check(room(goals=(Condition("bread", place="plate"),)), plan("R1 Reach bread")).right
    along = room(goals=(Condition("bread", place="table", along=True),))
    assert check(along, plan("R1 Reach bread")).right


ORDER = (((Condition("apple", place="sink"),), (Condition("sink", active=True),)),)


def test_the_earlier_stage_holds_a_step_before_the_later_one() -> None:
    scene = room(orders=ORDER)
    take = ("R2 Reach apple", "R2 Grasp apple")
    right = plan(*take, "R2 Place sink", "R1 Interact sink")
    assert check(scene, right).right
    early = check(scene, plan(*take, "R1 Interact sink", "R2 Place sink"))
    assert (early.code, early.step) == ("order", 3)
    together = plan("R1 Move sink;R2 Move sink", *take, "R2 Place sink;R1 Interact sink")
    assert check(scene, together).code == "incompatible"
    unfinished = check(scene, plan(*take, "R2 Place sink"))
    assert (unfinished.code, unfinished.step) == ("order", None)


def test_stages_that_come_true_together_are_an_order_failure_by_default_only() -> None:
    orders = (((Condition("apple", place="plate"),), (Condition("pear", place="plate"),)),)
    steps = plan(
        "R1 Move plate",
        "R1 Reach apple",
        "R1 Grasp apple",
        "R1 Reach pear",
        "R1 Grasp pear",
        "R1 Place plate",
    )
    assert check(room(orders=orders), steps).code == "order"
    assert check(room(orders=orders), steps, "released").right


def test_longer_than_the_limit() -> None:
    scene = room(goals=(Condition("sink", active=True),), limit=1)
    assert check(scene, plan("R1 Interact sink")).right
    said = check(scene, [{}, *plan("R1 Reach apple", "R1 Interact sink"), {}])
    assert (said.code, said.length, said.reached) == ("long", 2, True)


def test_every_robot_type_has_the_primitives_of_its_body() -> None:
    for robot in ROBOTS.values():
        assert ("Grasp" in robot.primitives) == (robot.arms > 0)
        assert ("Move" in robot.primitives) == robot.mobile
        assert ("Push" in robot.primitives) == robot.pushes


def test_bad_format_anywhere_comes_first() -> None:
    for variant, broken in (("default", "R1 Fly apple"), ("default", "R1 Move"), ("released", "R1 Move <x>")):
        said = check(room(), plan("R1 Grasp castle", broken), variant)  # type: ignore[arg-type]
        assert (said.code, said.step) == ("format", 2)
