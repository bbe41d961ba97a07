"""What the search leaves out makes no plan shorter, and what could make one shorter is not left out."""

from __future__ import annotations

import random

import pytest

from ludens.games.viki.checker import check
from ludens.games.viki.rules import World
from ludens.games.viki.search import PlanSearch, SearchLimit, relevant, shortest_plan, spare
from ludens.games.viki.world import Condition, Scene
from tests.games.viki.brute import shortest_length
from tests.games.viki.kitchens import kitchen


def kept(scene: Scene) -> set[str]:
    return {asset.name for asset in relevant(scene).assets}


def test_a_box_matters_where_an_arm_does_not_reach_the_floor() -> None:
    """What lies in a box is 0.6 m high, wherever the box stands."""
    scene = kitchen(
        {"cardboardbox": "ground", "apple": "ground"},
        [("unitree_h1", "ground")],
        [Condition("apple", active=True)],
    )
    assert "cardboardbox" in kept(scene)


def test_what_is_kept() -> None:
    things = {
        "cabinet": "table",
        "drawer": "kitchen work area",
        "sink": "table",
        "bowl": "sink",
        "plate": "table",
        "apple": "plate",
        "tray": "table",
        "cup": "cabinet",
        "fork": "R1",
    }
    goals = [Condition("apple", place="table")]
    scene = kitchen(things, [("fetch", "table")], goals)
    assert kept(scene) == {"apple", "plate", "bowl", "sink", "fork"}
    assert spare(scene, relevant(scene)) == {"tray"}
    # A rack of 1.7 m is too high for a fetch, so furniture on it may matter: its inside is lower.
    scene = kitchen({"cabinet": "rack", "apple": "table"}, [("fetch", "table")], goals)
    assert kept(scene) == {"cabinet", "apple"}
    order = [[(Condition("cup", place="table"),), (Condition("apple", place="table"),)]]
    scene = kitchen({"sink": "table", "toaster": "ground", "cup": "rack", "apple": "rack"}, [], [], order)
    assert spare(scene, relevant(scene)) == {"sink"}


def test_a_needless_thing_in_a_hand_takes_the_hand() -> None:
    scene = kitchen(
        {"fork": "R1", "apple": "table"}, [("fetch", "table")], [Condition("apple", place="ground")]
    )
    plan = shortest_plan(scene).plan
    assert plan is not None
    # Place the fork, reach, grasp, move, place.
    assert len(plan) == 5
    assert check(scene, plan).reached


def test_a_tray_to_park_on_makes_a_plan_shorter() -> None:
    """With a full hand at the table, where the apple may be put only after the cup.

    With the tray: place, move, reach, grasp, move, place (cup), reach, grasp, place (apple): 9. Without it,
    the apple has to be put down somewhere else: move, place, reach, grasp, move, place (cup), move, reach,
    grasp, move, place (apple): 11.
    """
    things = {"apple": "R1", "cup": "kitchen work area"}
    first, second = Condition("cup", place="table"), Condition("apple", place="table")
    orders = [[(first,), (second,)]]
    without = kitchen(things, [("fetch", "table")], [first, second], orders)
    for container in ("tray", "sink"):
        scene = kitchen(things | {container: "table"}, [("fetch", "table")], [first, second], orders)
        assert container not in kept(scene)
        plan = shortest_plan(scene).plan
        assert plan is not None
        assert check(scene, plan).reached
        assert len(plan) == 9
    assert len(shortest_plan(without).plan or ()) == 11


def test_a_tray_to_lift_makes_a_plan_shorter() -> None:
    """Three things that must get into another area, no matter on what, and one hand.

    With the tray: three times reach, grasp, place; reach, grasp, move: 12. Without it: twice reach, grasp,
    move, place, move; reach, grasp, move: 13.
    """
    things = dict.fromkeys(["apple", "pear", "kiwi"], "table")
    goals = [Condition(name, place="ground", along=True) for name in things]
    without = kitchen(things, [("fetch", "table")], goals)
    scene = kitchen(things | {"tray": "table"}, [("fetch", "table")], goals)
    assert "tray" not in kept(scene)
    plan = shortest_plan(scene).plan
    assert plan is not None
    assert check(scene, plan).reached
    assert len(plan) == 12
    assert len(shortest_plan(without).plan or ()) == 13


def spare_scene(rng: random.Random) -> Scene:
    """One to three robots, one to three things, and containers that no condition names."""
    areas = rng.sample(["table", "kitchen work area", "ground", "rack"], rng.choice([2, 2, 3]))
    names = rng.sample(["apple", "tomato", "knife"], rng.choice([1, 2, 2, 3]))
    things = {name: rng.choice(areas) for name in names}
    things |= {name: rng.choice(areas) for name in rng.sample(["tray", "bowl", "sink", "cabinet"], 2)}
    things["cutting board"] = board = rng.choice(areas)
    places = ["cutting board", "cutting board", *areas]
    goals = [Condition(name, place=rng.choice(places)) for name in names]
    if rng.random() < 0.2:
        goals[0] = Condition(names[0], place=rng.choice(areas), along=True)
    orders: list[list[tuple[Condition, ...]]] = []
    if len(names) > 1 and rng.random() < 0.4:
        orders = [[(goals[0],), (goals[1],)]]
    elif rng.random() < 0.2:
        used = Condition("cutting board", active=True)
        orders = [[(Condition(names[0], place=board, along=True),), (used,)]]
    types = ["panda", "fetch", "fetch", "unitree_h1", "stompy"]
    robots = [(rng.choice(types), rng.choice(areas)) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    if rng.random() < 0.3:
        things[names[-1] if orders else rng.choice(names)] = "R1"
    return kitchen(things, robots, goals, orders)


def compare_with_everything(seed: int, count: int, most_states: int) -> tuple[int, int]:
    """Scenes compared with the search that leaves nothing out, and those in which a spare container helps."""
    rng = random.Random(seed)
    compared = helped = 0
    while compared < count:
        scene = spare_scene(rng)
        small = relevant(scene)
        if not spare(scene, small) or World(scene).missing(World(scene).start()) is None:
            continue
        try:
            plan = shortest_plan(scene, limit=11, max_states=most_states).plan
            most = 11 if plan is None else len(plan) - 1
            assert PlanSearch(World(scene)).run(most, most_states).plan is None, scene.to_json()
            without = PlanSearch(World(small)).run(11, most_states).plan
        except SearchLimit:
            continue
        if plan is not None:
            assert check(scene, plan).reached
            helped += without is None or len(plan) < len(without)
        compared += 1
    return compared, helped


def test_the_search_with_everything_finds_nothing_shorter() -> None:
    assert compare_with_everything(1, 12, 150)[0] == 12


@pytest.mark.slow
def test_the_search_with_everything_finds_nothing_shorter_in_many_scenes() -> None:
    compared, helped = compare_with_everything(5, 1_500, 600)
    assert compared == 1_500
    assert helped


@pytest.mark.slow
def test_brute_force_finds_nothing_shorter_where_containers_are_spare() -> None:
    rng = random.Random(3)
    compared = 0
    while compared < 60:
        scene = spare_scene(rng)
        if len(scene.robots) > 2 or not spare(scene, relevant(scene)):
            continue
        plan = shortest_plan(scene, limit=11).plan
        try:
            expected = shortest_length(scene, 6 if plan is None else len(plan), 500)
        except OverflowError:
            continue
        assert expected == (None if plan is None else len(plan)), scene.to_json()
        compared += 1


def test_robots_without_arms_are_left_out_where_they_could_only_move() -> None:
    team = [("fetch", "table"), ("unitree_go2", "table")]
    things = {"apple": "table", "cardboardbox": "ground", "sink": "table"}
    goals = [Condition("apple", place="ground")]
    without_box = kitchen({"apple": "table"}, team, goals)
    assert [robot.type for robot in relevant(without_box).robots] == ["fetch"]
    assert len(relevant(kitchen(things, team, goals)).robots) == 2
    used = kitchen({"apple": "table"}, team, [*goals, Condition("apple", active=True)])
    assert len(relevant(used).robots) == 2
