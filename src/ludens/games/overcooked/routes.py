"""Ways through a kitchen, in space and time: the shortest one that keeps clear of where the other will be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ludens.games.overcooked.cooking import Chef
from ludens.games.overcooked.errands import Errand
from ludens.games.overcooked.kitchens import DISHES, FLOOR, HATCH, ONIONS, POT, Kitchen

LONGEST = 24

Pose = tuple[int, str, int]
"""A cell, a direction to look in, a time."""


class Route(NamedTuple):
    """Actions up to and including the INTERACT, and the cells stood on, the first one included."""

    actions: tuple[str, ...]
    cells: tuple[int, ...]

    @property
    def steps(self) -> int:
        """How long it takes."""
        return len(self.actions)


def route(
    place: Kitchen, chef: Chef, task: Errand, around: Sequence[int] = (), wall: int | None = None
) -> Route | None:
    """The shortest way to do an errand, or None where there is none.

    Args:
        place: The kitchen.
        chef: Who goes.
        task: What for.
        around: Where the other chef will stand at each time from now on; afterwards the other is away.
        wall: A cell not to be entered at all.
    """
    start: Pose = (chef.cell, chef.facing, 0)
    came: dict[Pose, tuple[Pose, str] | None] = {start: None}
    edge = [start]
    for time in range(LONGEST):
        following = []
        for pose in edge:
            cell, facing, _ = pose
            if _there(place, pose, task, around):
                return _back(came, pose, bool(task.cells))
            for action in ("STAY", *place.steps) if not task.cells else (facing, *place.steps, "STAY"):
                there = cell + place.steps.get(action, 0)
                there = cell if place.tiles[there] != FLOOR or there == wall else there
                reached: Pose = (there, facing if action == "STAY" else action, time + 1)
                if reached not in came and _clear(around, time, cell, there):
                    came[reached] = (pose, action)
                    following.append(reached)
        edge = following
    return None


def shared(place: Kitchen) -> bool:
    """Whether both chefs can reach every kind of tile, so that neither depends on being handed things."""
    for start in place.starts:
        seen, edge = {start}, {start}
        while edge:
            edge = {cell + step for cell in edge for step in place.steps.values()} - seen
            edge = {cell for cell in edge if place.tiles[cell] == FLOOR}
            seen |= edge
        reached = {place.tiles[cell + step] for cell in seen for step in place.steps.values()}
        if not reached >= {POT, ONIONS, DISHES, HATCH}:
            return False
    return True


def _there(place: Kitchen, pose: Pose, task: Errand, around: Sequence[int]) -> bool:
    """Whether one INTERACT here and now does the errand; waiting ends when the other is past."""
    cell, facing, time = pose
    if not task.cells:
        return time > 0 and time >= len(around)
    faces = cell + place.steps[facing] in task.cells
    return faces and time >= task.wait and _clear(around, time, cell, cell)


def _clear(around: Sequence[int], time: int, here: int, there: int) -> bool:
    """Whether a step from here to there, begun at this time, neither meets the other nor changes places."""
    if time + 1 >= len(around):
        return True
    now, soon = around[time], around[time + 1]
    return there != soon and not (there == now and here == soon)


def _back(came: dict[Pose, tuple[Pose, str] | None], pose: Pose, interact: bool) -> Route:
    actions, cells = (["INTERACT"], [pose[0], pose[0]]) if interact else ([], [pose[0]])
    while (step := came[pose]) is not None:
        pose, action = step
        actions.append(action)
        cells.append(pose[0])
    return Route(tuple(reversed(actions)), tuple(reversed(cells)))
