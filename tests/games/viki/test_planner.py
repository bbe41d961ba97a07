"""The planner finds plans that are as short as those of brute force, and proves that none exists."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ludens.games.viki.bound import Bound
from ludens.games.viki.checker import check
from ludens.games.viki.generate import TEMPLATES, generate
from ludens.games.viki.rules import World
from ludens.games.viki.search import SearchLimit, shortest_plan
from ludens.games.viki.teams import best_team, solve
from ludens.games.viki.world import Condition, Scene
from tests.games.viki.kitchens import cached, kitchen
from tests.games.viki.small import compare


def test_plans_are_as_short_as_those_of_brute_force() -> None:
    assert compare(1, 15, 80) == 15


@pytest.mark.slow
def test_many_plans_are_as_short_as_those_of_brute_force() -> None:
    assert compare(2, 600, 2_000) == 600


@pytest.mark.parametrize(
    ("things", "robots", "goal", "order", "steps"),
    [
        # The box is handed over while one robot goes to the rack: it follows areas and is never put down.
        (
            {"sink": "ground", "cardboardbox": "rack"},
            [("unitree_h1", "ground"), ("unitree_h1", "ground")],
            Condition("cardboardbox", place="rack", along=True),
            (
                Condition("cardboardbox", active=True),
                Condition("cardboardbox", place="kitchen work area", along=True),
            ),
            6,
        ),
        # The bread is used in a hand at the rack, and then only carried and put down.
        (
            {"apple": "kitchen work area", "bread": "table"},
            [("stompy", "table"), ("fetch", "rack")],
            Condition("bread", place="table"),
            (Condition("bread", place="rack", along=True), Condition("bread", active=True)),
            6,
        ),
        # The plate stays in the tray, which is on the table.
        (
            {"tray": "table", "plate": "tray"},
            [("unitree_go2", "kitchen work area")],
            Condition("plate", place="table", along=True),
            (Condition("plate", place="tray"), Condition("plate", active=True)),
            2,
        ),
    ],
)
def test_the_bound_allows_for_things_that_follow_an_area(
    things: dict[str, str],
    robots: list[tuple[str, str]],
    goal: Condition,
    order: tuple[Condition, Condition],
    steps: int,
) -> None:
    scene = kitchen(things, robots, [goal], [[(order[0],), (order[1],)]])
    plan = shortest_plan(scene).plan
    assert plan is not None
    assert len(plan) == steps
    world = World(scene)
    state = world.start()
    for number, actions in enumerate(plan):
        assert Bound(world)(state) <= steps - number
        state = world.step(state, actions)
    assert world.reached(state)


def test_a_plan_worked_out_by_hand() -> None:
    scene = kitchen(
        {"cabinet": "kitchen work area", "apple": "cabinet", "plate": "table"},
        [("fetch", "table"), ("stompy", "kitchen work area")],
        [Condition("apple", place="plate")],
        closed=("cabinet",),
    )
    both = shortest_plan(scene).plan
    assert both is not None
    # Stompy, at the cabinet: reach, open, reach, grasp; meanwhile fetch brings the plate; stompy places: 5.
    # Fetch alone: move, reach, open, reach, grasp, move, place: 7.
    assert len(both) == 5
    alone = shortest_plan(replace(scene, robots=scene.robots[:1])).plan
    assert alone is not None
    assert len(alone) == 7


@pytest.mark.parametrize(
    "scene",
    [
        kitchen({"cup": "rack"}, [("fetch", "table")], [Condition("cup", place="table")]),
        kitchen({"cup": "rack"}, [("panda", "table")], [Condition("cup", active=True)]),
        kitchen({"apple": "table"}, [("unitree_go2", "table")], [Condition("apple", place="rack")]),
        kitchen(
            {"sink": "table", "apple": "table"},
            [("fetch", "table")],
            [Condition("apple", place="sink"), Condition("apple", place="table")],
        ),
    ],
)
def test_no_plan_is_proven(scene: Scene) -> None:
    assert shortest_plan(scene).plan is None


def test_plans_of_scenes_have_no_needless_action() -> None:
    for seed in range(10):
        scene = cached(seed)
        for number, step in enumerate(scene.plan):
            for robot in step:
                fewer = {other: action for other, action in step.items() if other != robot}
                changed = [*scene.plan[:number], fewer, *scene.plan[number + 1 :]]
                assert not fewer or not check(scene, changed).right


def test_the_search_can_be_given_up() -> None:
    scene = generate(3)
    with pytest.raises(SearchLimit):
        shortest_plan(scene, max_states=0)


def test_renamed_scenes_have_the_same_plans() -> None:
    for seed in range(8):
        scene = generate(seed)
        direct = shortest_plan(scene)
        cached = solve(scene)
        assert direct.plan is not None
        assert cached.plan is not None
        assert len(direct.plan) == len(cached.plan) == scene.limit
        assert check(scene, cached.plan).right


def test_the_best_team_is_the_smallest_with_the_shortest_plan() -> None:
    goals = [Condition("apple", place="table"), Condition("cup", place="table")]
    scene = kitchen({"apple": "rack", "cup": "rack"}, [("stompy", "rack"), ("unitree_h1", "rack")], goals)
    best = best_team(scene)
    assert best is not None
    assert (len(best.plan), len(best.robots)) == (4, 2)
    far = kitchen({"apple": "rack"}, [("stompy", "rack"), ("unitree_h1", "table")], goals[:1])
    best = best_team(far)
    assert best is not None
    assert (best.robots, best.types) == (("R1",), frozenset({("stompy",)}))


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_has_plans_that_the_checker_accepts(template: str) -> None:
    scene = generate(1, "ood" if template.startswith("11") else "id", template)
    assert check(scene, scene.plan).right
    needed = tuple(robot for robot in scene.robots if robot.needed)
    assert check(replace(scene, robots=needed), scene.plan).right


def cutting(knife: str) -> Scene:
    """Two things and a knife to bring to the cutting board, where the knife is used last."""
    board = "cutting board"
    things = {board: "kitchen work area", "apple": "table", "tomato": "table", "knife": knife}
    goals = [
        Condition("apple", place=board),
        Condition("tomato", place=board),
        Condition("knife", active=True),
    ]
    near = Condition("knife", place="kitchen work area", along=True)
    robots = [("unitree_h1", "table"), ("unitree_h1", "table"), ("stompy", "kitchen work area")]
    return kitchen(things, robots, goals, [[(goals[0], goals[1], near), (goals[2],)]])


def test_no_plan_is_proven_at_once_where_nobody_can_pick_up_what_has_to_be_near() -> None:
    """A knife on the ground, and humanoids that do not reach it: thousands of states without this proof."""
    result = shortest_plan(cutting(knife="ground"), limit=11, max_states=10)
    assert result.plan is None


@pytest.mark.parametrize(("robot", "things"), [("unitree_h1", {}), ("panda", {"tomato": "ground"})])
def test_an_order_that_holds_at_the_start_is_satisfied_by_any_step(
    robot: str, things: dict[str, str]
) -> None:
    """The bread lies where it should, out of reach. One robot can move away, the other inspect the tomato."""
    there = Condition("bread", place="cutting board")
    bread = {"cutting board": "ground", "bread": "cutting board"}
    scene = kitchen(bread | things, [(robot, "ground")], [there], [[(there,), (there,)]])
    plan = shortest_plan(scene).plan
    assert plan is not None
    assert len(plan) == 1
    assert check(scene, plan).reached
