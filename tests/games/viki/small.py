"""Small random scenes, and the planner compared with brute force on them."""

from __future__ import annotations

import random

from ludens.games.viki.bound import Bound
from ludens.games.viki.checker import check
from ludens.games.viki.rules import World
from ludens.games.viki.search import shortest_plan
from ludens.games.viki.world import Condition, Scene
from tests.games.viki.brute import shortest_length
from tests.games.viki.kitchens import AREAS, kitchen

KINDS = ("apple", "plate", "cabinet", "knife", "sink", "cardboardbox", "bread", "cutting board", "tray")
FIXED = ("cabinet", "sink", "cutting board")
HOLDERS = (*FIXED, "plate", "cardboardbox", "tray")


def small_scene(rng: random.Random) -> Scene:
    """One or two robots, two to four things, maybe one in a hand, one or two goals, sometimes an order."""
    areas = rng.sample(list(AREAS), rng.choice([2, 2, 3]))
    things: dict[str, str] = {}
    for kind in rng.sample(KINDS, rng.choice([2, 3, 3, 4])):
        inside = [name for name in things if name in HOLDERS]
        place = rng.choice(inside if inside and kind not in FIXED and rng.random() < 0.5 else areas)
        things[kind] = place
    types = ["panda", "fetch", "unitree_h1", "stompy", "unitree_go2"]
    robots = [(rng.choice(types), rng.choice(areas)) for _ in range(rng.choice([1, 2]))]

    if rng.random() < 0.2 and robots[0][0] != "unitree_go2":
        kind = rng.choice([kind for kind in things if kind not in FIXED] or [""])
        things |= {kind: "R1"} if kind else {}

    def condition() -> Condition:
        movable = [name for name in things if name not in FIXED]
        if movable and rng.random() < 0.7:
            thing = rng.choice(movable)
            places = [
                name for name in (*areas, *things) if name != thing and (name in areas or name in HOLDERS)
            ]
            place = rng.choice(places)
            return Condition(thing, place=place, along=place in areas and rng.random() < 0.2)
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
