"""A greedy plan: one robot at a time fulfils one goal after the other, without looking ahead.

It shows what planning is worth: most of its plans can be done, few are the shortest.
"""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.viki.rules import Refused, State, World
from ludens.games.viki.scene import Action, Condition, Plan, Scene


def greedy_plan(scene: Scene) -> Plan:
    """The plan from the start; it ends where no robot can go on."""
    world = World(scene)
    state, plan = world.start(), Plan()
    for goal in sorted(scene.task.goals, key=lambda goal: goal.active is None):
        if world.holds(state, goal):
            continue
        for robot in world.robots:
            steps = list(_errand(world, state, robot, goal))
            after = _played(world, state, robot, steps)
            if after is not None:
                state = after
                plan += [{robot: step} for step in steps]
                break
    return plan


def _errand(world: World, state: State, robot: str, goal: Condition) -> Iterator[Action]:
    """The actions with which one robot would fulfil a goal."""
    if goal.place is None:
        yield from (("Move", goal.thing), ("Interact", goal.thing))
        return
    here = world.number(robot)
    assert here is not None
    kind = world.types[here - world.first_robot]
    if kind.pushes:
        yield from (("Move", goal.thing), ("Push", goal.thing, goal.place))
        return
    if kind.mobile:
        yield ("Move", goal.thing)
    yield from _opened(world, state, goal.thing)
    yield from (("Reach", goal.thing), ("Grasp", goal.thing))
    if kind.mobile:
        yield ("Move", goal.place)
    yield ("Place", goal.place)


def _opened(world: World, state: State, thing: str) -> Iterator[Action]:
    """Open what the thing is inside of."""
    code = world.code[thing]
    while world.first_asset <= code < world.first_robot:
        code = state.place[code - world.first_asset]
        if world.first_asset <= code < world.first_robot and state.closed >> (code - world.first_asset) & 1:
            yield from (("Reach", world.names[code]), ("Open", world.names[code]))


def _played(world: World, state: State, robot: str, steps: list[Action]) -> State | None:
    try:
        for step in steps:
            state = world.step(state, {robot: step})
    except Refused:
        return None
    return state
