"""How people answer in the kitchen: robots, commands and things from lists or on the map, paths drawn on the
picture; and answers in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ludens.core.forms import Draw, Place, Places, Plan, Select
from ludens.games.viki.floor import HEAD, ROBOT, SIDE, Box, FloorItem, FloorPlan, own_box
from ludens.games.viki.replies import MESSAGE, POINTS, write_plan, write_points, write_step, write_turn
from ludens.games.viki.world import PRIMITIVES, ROBOTS, Action, Scene

Steps = Sequence[Mapping[str, Action]]


def plan_form(scene: Scene, floor: FloorPlan | None, on_map: bool) -> Plan:
    """The form of a whole plan."""
    return Plan(
        _robots(scene),
        _commands(_things(scene, floor), scene),
        lambda steps, _: write_plan([step for step in steps if step]),
        _places(floor) if floor is not None and on_map else {},
        prompt="Plan what every robot does, step by step.",
    )


def step_form(scene: Scene, floor: FloorPlan) -> Plan:
    """The form of one step of all robots."""
    return Plan(
        _robots(scene),
        _commands(_things(scene, floor), scene),
        lambda steps, _: write_step(dict(steps[0]) if steps else {}),
        _places(floor),
        steps=1,
        waits=True,
        prompt="What does every robot do now?",
    )


def turn_form(scene: Scene, floor: FloorPlan, robot: str) -> Plan:
    """The form of one action of one robot, with a message."""
    return Plan(
        {robot: (robot, tuple(PRIMITIVES))},
        _commands(_things(scene, floor), scene),
        lambda steps, message: write_turn(steps[0].get(robot) if steps else None, message),
        _places(floor),
        steps=1,
        message=MESSAGE,
        waits=True,
        prompt=f"What do you, {robot}, do now?",
    )


def types_form() -> Select:
    return Select(
        {name: kind.name for name, kind in ROBOTS.items()},
        lambda names: json.dumps(sorted(names)),
        "Which types of robots form the best team?",
    )


def paths_form(own: str, partner: str, size: tuple[int, int]) -> Draw:
    return Draw((own, partner), POINTS, size, write_points, f"Mark {POINTS} points of each path.")


def _robots(scene: Scene) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every robot with all commands: which of them it knows is told by its looks."""
    return {robot.id: (robot.id, tuple(PRIMITIVES)) for robot in scene.robots}


def _things(scene: Scene, floor: FloorPlan | None) -> list[str]:
    """The things that are seen or that the task names; all of a scene that has no map."""
    every = [asset.name for asset in scene.assets]
    if floor is None:
        return every
    seen = {*floor.centres, *(asset.name for robot in floor.present for asset in _held(floor, robot.id))}
    named = {name for one in scene.task.conditions for name in (one.thing, one.place)}
    return [name for name in every if name in seen or name in named or name in scene.task.text]


def _held(floor: FloorPlan, place: str) -> Iterator[Any]:
    for asset in floor.seen_in(place):
        yield asset
        yield from _held(floor, asset.name)


def _commands(things: Sequence[str], scene: Scene) -> dict[str, list[tuple[str, list[str]]]]:
    robots = [robot.id for robot in scene.robots]
    anything = [*things, *(area.name for area in scene.areas)]
    offered = {"thing": [*things], "box": [*things], "robot": robots, "target": [*anything, *robots]}
    return {
        name: [(argument, offered.get(argument, anything + robots)) for argument in primitive.arguments]
        for name, primitive in PRIMITIVES.items()
    }


def _places(floor: FloorPlan) -> Places:
    """Where areas (their names), things and robots are on the map."""
    boxes = {name: Box(box.x, box.y, box.w, HEAD) for name, box in floor.surfaces.items()}
    for items in floor.items.values():
        for item in items:
            boxes |= _item_boxes(item)
    for robot, (x, y) in floor.robots.items():
        side = min(ROBOT, floor.room(robot) - 2)
        boxes[robot] = Box(x - side / 2, y - side - 12, side, side + 14)
    return {
        name: (Place(box.x / SIDE, box.y / SIDE, box.w / SIDE, box.h / SIDE),) for name, box in boxes.items()
    }


def _item_boxes(item: FloorItem) -> dict[str, Box]:
    boxes = {item.asset.name: own_box(item)}
    for inner in item.inside:
        boxes |= _item_boxes(inner)
    return boxes


def tell_answer(action: str) -> str:
    """An answer of any level in words: a plan, a step, a turn, robot types or paths."""
    try:
        value = json.loads(action)
    except ValueError:
        return action or "(nothing)"
    match value:
        case [{"actions": _}, *_]:
            return "; ".join(f"{n}. {_step(step['actions'])}" for n, step in enumerate(value, 1))
        case {"action": words, "message": str(message)}:
            return f"{' '.join(words or ('wait',))}{f' (“{message}”)' if message else ''}"
        case [[[_, _], *_], *_]:
            return " / ".join(" → ".join(f"({x:.0f}, {y:.0f})" for x, y in path) for path in value)
        case [str(), *_]:
            return ", ".join(ROBOTS[name].name if name in ROBOTS else name for name in value)
        case dict():
            return _step(value)
        case _:
            return "(nothing)"


def _step(actions: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{robot} {' '.join(words)}" for robot, words in actions.items()) or "nobody acts"
