"""The planner finds plans that are as short as those of brute force, and proves that none exists."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ludens.games.viki.bound import Bound
from ludens.games.viki.checker import check
from ludens.games.viki.generate import TEMPLATES, cached, generate
from ludens.games.viki.planner import SearchLimit, _Search, relevant, shortest_plan
from ludens.games.viki.rules import World
from ludens.games.viki.scene import Condition, Scene
from ludens.games.viki.teams import best_team, solve
from tests.games.viki.brute import shortest_length
from tests.games.viki.kitchens import AREAS, kitchen

KINDS = ("apple", "plate", "cabinet", "knife", "sink", "cardboardbox", "bread", "cutting board")
FIXED = ("cabinet", "sink", "cutting board")
HOLDERS = (*FIXED, "plate", "cardboardbox")


def small_scene(rng: random.Random) -> Scene:
    """One or two robots, two to four things, one or two goals, sometimes an order."""
    areas = rng.sample(list(AREAS), rng.choice([2, 2, 3]))
    things: dict[str, str] = {}
    for kind in rng.sample(KINDS, rng.choice([2, 3, 3, 4])):
        inside = [name for name in things if name in HOLDERS]
        place = rng.choice(inside if inside and kind not in FIXED and rng.random() < 0.5 else areas)
        things[kind] = place
    types = ["panda", "fetch", "unitree_h1", "stompy", "unitree_go2"]
    robots = [(rng.choice(types), rng.choice(areas)) for _ in range(rng.choice([1, 2]))]

    def condition() -> Condition:
        movable = [name for name in things if name not in FIXED]
        if movable and rng.random() < 0.7:
            thing = rng.choice(movable)
            places = [
                name for name in (*areas, *things) if name != thing and (name in areas or name in HOLDERS)
            ]
            return Condition(thing, place=rng.choice(places))
        return Condition(rng.choice(list(things)), active=True)

    goals = {one.thing: one for one in (condition() for _ in range(rng.choice([1, 1, 2])))}
    orders = [[(condition(),), (condition(),)]] if rng.random() < 0.3 else []
    closed = ("cabinet",) if rng.random() < 0.7 else ()
    return kitchen(things, robots, tuple(goals.values()), orders, closed)


def compare(seed: int, count: int, most_states: int) -> int:
    rng = random.Random(seed)
    compared = 0
    while compared < count:
        scene = small_scene(rng)
        plan = shortest_plan(scene, limit=8).plan
        most = 5 if plan is None else len(plan)
        try:
            expected = shortest_length(scene, most, most_states)
        except OverflowError:
            continue
        assert expected == (None if plan is None else len(plan)), scene.to_json()
        if plan is not None:
            assert check(scene, plan).reached
            assert Bound(World(scene))(World(scene).start()) <= len(plan)
        compared += 1
    return compared


def test_plans_are_as_short_as_those_of_brute_force() -> None:
    assert compare(1, 15, 80) == 15


@pytest.mark.slow
def test_many_plans_are_as_short_as_those_of_brute_force() -> None:
    assert compare(2, 600, 2_000) == 600


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
    assert check(scene.active(), scene.plan).right


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


@pytest.mark.slow
def test_trays_that_no_goal_names_make_no_plan_shorter() -> None:
    """The search with every thing in it finds nothing shorter than the search without them."""
    rng = random.Random(4)
    compared = 0
    while compared < 40:
        here, there = rng.sample(["table", "kitchen work area", "ground"], 2)
        names = ["apple", "tomato", "knife"][: rng.choice([2, 3])]
        things = dict.fromkeys(names, here) | {"tray": here, "cutting board": there}
        goals = [Condition(name, place="cutting board") for name in names]
        kinds = [rng.choice(["panda", "panda", "fetch", "unitree_h1"]) for _ in range(rng.choice([2, 3, 4]))]
        scene = kitchen(things, [(kind, rng.choice([here, here, there])) for kind in kinds], goals)
        assert "tray" not in [asset.name for asset in relevant(scene).assets]
        try:
            plan = shortest_plan(scene, limit=12, max_states=2_000).plan
            if plan is None:
                continue
            assert _Search(World(scene)).run(len(plan) - 1, 4_000).plan is None, scene.to_json()
        except SearchLimit:
            continue
        compared += 1


def test_a_box_matters_where_an_arm_does_not_reach_the_floor() -> None:
    """What lies in a box is 0.6 m high, wherever the box stands."""
    scene = kitchen(
        {"cardboardbox": "ground", "apple": "ground"},
        [("unitree_h1", "ground")],
        [Condition("apple", active=True)],
    )
    assert "cardboardbox" in [asset.name for asset in relevant(scene).assets]
