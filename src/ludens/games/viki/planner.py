"""The shortest joint plan, proven; `search.py` and `relevance.py` say why nothing is missed.

When nothing is left to search, no plan exists. A plan is checked by the checker's own rules before it is
returned.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from ludens.games.viki.data import PRIMITIVES
from ludens.games.viki.relevance import relevant, soonest_use, spare
from ludens.games.viki.rules import World
from ludens.games.viki.scene import Plan, Scene, Step
from ludens.games.viki.search import Result, Search, works
from ludens.games.viki.search import SearchLimit as SearchLimit

Searcher = Callable[[Scene, frozenset[str], int | None, int], Result]
"""Searches a scene for a plan that uses one of the spare containers named (if any), of at most so many steps,
expanding at most so many states."""


def search(scene: Scene, containers: frozenset[str], limit: int | None, max_states: int) -> Result:
    """The `Searcher` without a cache."""
    return Search(World(scene), containers).run(limit, max_states)


def shortest_plan(
    scene: Scene, *, limit: int | None = None, max_states: int = 2_000_000, searcher: Searcher = search
) -> Result:
    """The shortest joint plan of all robots in the scene.

    Args:
        scene: The scene; what it says about plans (`limit`, `plan`) is ignored.
        limit: Look only for plans of at most this many steps.
        max_states: Give up after expanding this many states, without and with spare containers each.
        searcher: How to search.
    """
    world = World(scene) if scene.task.orders else None
    if world is not None and world.progress(world.start()).done:
        # An order that holds at the start is satisfied by the first step, whatever it is: leave nothing out.
        step = _any_step(world)
        if step is not None and (limit is None or limit > 0):
            return Result([step], 0)
        return searcher(scene, frozenset(), limit, max_states)
    small = relevant(scene)
    result = searcher(small, frozenset(), limit, max_states)
    shorter = limit if result.plan is None else len(result.plan) - 1
    if shorter is not None and shorter < soonest_use(scene):
        return result
    containers = spare(scene, small)
    if not containers:
        return result
    other = searcher(relevant(scene, containers), containers, shorter, max_states)
    return Result(result.plan if other.plan is None else other.plan, result.states + other.states)


def _any_step(world: World) -> Step | None:
    """A step with one action after which everything is done."""
    names = [primitive.name for primitive in PRIMITIVES.values() if len(primitive.arguments) == 1]
    for robot, name, target in product(world.robots, names, world.names):
        step: Step = {robot: (name, target)}
        if works(world, [step]):
            return step
    return None


def tidy(scene: Scene, plan: Plan) -> Plan:
    """The plan without actions that it does not need, such as those of robots that wait."""
    world = World(scene)
    plan = [dict(step) for step in plan]
    for number in reversed(range(len(plan))):
        for robot in list(plan[number]):
            shorter = {other: action for other, action in plan[number].items() if other != robot}
            if shorter and works(world, [*plan[:number], shorter, *plan[number + 1 :]]):
                plan[number] = shorter
    return plan
