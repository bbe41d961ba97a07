"""Errands in a kitchen, and the shortest routes that avoid the other chef in space and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ludens.games.overcooked.cooking import (
    COOK_STEPS,
    DISH,
    NOTHING,
    ONION,
    POT_HOLDS,
    SOUPS,
    Chef,
    Pot,
    Snapshot,
)
from ludens.games.overcooked.kitchens import COUNTER, DISHES, FLOOR, HATCH, ONIONS, POT, Kitchen

ROLES = ("any", "cook", "waiter")
"""A cook brings onions and starts pots; a waiter fetches dishes, plates and serves; `any` does both."""


class Errand(NamedTuple):
    """The cells to interact with (any one of them) and the earliest step; no cells means waiting."""

    kind: str
    cells: tuple[int, ...] = ()
    wait: int = 0


def errand(place: Kitchen, snapshot: Snapshot, me: int, role: str = "any") -> Errand:
    """The most useful errand of a chef, assuming that the other finishes what it holds."""
    holds, other = snapshot.chefs[me].holds, snapshot.chefs[1 - me].holds
    if holds in SOUPS:
        return Errand("serve", place.all(HATCH))
    if holds == DISH:
        return _with_dish(place, snapshot, me, other)
    if holds == ONION:
        return _with_onion(place, snapshot, me, other)
    full = _pots(place, snapshot, lambda pot: pot.onions == POT_HOLDS and pot.cooked < 0)
    if full and role != "waiter":
        return Errand("start", full)
    soups = sum(pot.cooked >= 0 or pot.onions == POT_HOLDS for pot in snapshot.pots)
    missing = sum(POT_HOLDS - pot.onions for pot in snapshot.pots if pot.open)
    begun = any(pot.onions for pot in snapshot.pots if pot.open)
    last_on_its_way = begun and missing % POT_HOLDS == 1 and other == ONION
    if (role == "any" and soups + last_on_its_way > (other == DISH)) or role == "waiter":
        return Errand("take dish", (*place.all(DISHES), *_lying(snapshot, DISH)))
    return Errand("take onion", (*place.all(ONIONS), *_lying(snapshot, ONION)))


def _with_dish(place: Kitchen, snapshot: Snapshot, me: int, other: str) -> Errand:
    cooking = [pot for pot in snapshot.pots if pot.cooked >= 0]
    if other == DISH and len(cooking) < 2 and me == 0:
        return Errand("drop", _free(place, snapshot))
    if not cooking:
        return Errand("wait")
    best = max(cooking, key=lambda pot: pot.cooked)
    return Errand("plate", _pots(place, snapshot, best.__eq__), COOK_STEPS - best.cooked)


def _with_onion(place: Kitchen, snapshot: Snapshot, me: int, other: str) -> Errand:
    most = max((pot.onions for pot in snapshot.pots if pot.open), default=None)
    if most is not None:
        return Errand("pot", _pots(place, snapshot, lambda pot: pot.open and pot.onions == most))
    stuck = other != NOTHING and any(pot.cooked < 0 for pot in snapshot.pots)
    unserved = other == ONION and me == 0
    return Errand("drop", _free(place, snapshot)) if stuck or unserved else Errand("wait")


def done(place: Kitchen, snapshot: Snapshot, me: int, task: Errand) -> Snapshot:
    """The snapshot after the errand is done: what the other chef may rely on."""
    chefs, pots = list(snapshot.chefs), list(snapshot.pots)
    holds = {"take onion": ONION, "take dish": DISH, "plate": SOUPS[-1]}.get(task.kind, NOTHING)
    if task.kind != "wait":
        chefs[me] = chefs[me]._replace(holds=holds)
    for at, cell in enumerate(place.pots):
        if cell in task.cells[:1]:
            filled = Pot(pots[at].onions + 1)
            pots[at] = {"pot": filled, "start": Pot(pots[at].onions, 0), "plate": Pot()}[task.kind]
    return Snapshot(tuple(chefs), tuple(pots), snapshot.counters)


def _pots(place: Kitchen, snapshot: Snapshot, wanted: Callable[[Pot], bool]) -> tuple[int, ...]:
    return tuple(cell for cell, pot in zip(place.pots, snapshot.pots, strict=True) if wanted(pot))


def _lying(snapshot: Snapshot, what: str) -> tuple[int, ...]:
    return tuple(cell for cell, lying in snapshot.counters if lying == what)


def _free(place: Kitchen, snapshot: Snapshot) -> tuple[int, ...]:
    taken = dict(snapshot.counters)
    return tuple(cell for cell in place.all(COUNTER) if cell not in taken)


LONGEST = 24

Pose = tuple[int, str, int]
"""Cell, direction and time."""


class Route(NamedTuple):
    """Actions up to and including the INTERACT, and the cells visited, the first one included."""

    actions: tuple[str, ...]
    cells: tuple[int, ...]

    @property
    def steps(self) -> int:
        """How long it takes."""
        return len(self.actions)


def route(
    place: Kitchen, chef: Chef, task: Errand, around: Sequence[int] = (), wall: int | None = None
) -> Route | None:
    """The shortest route for an errand, or None.

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
                if (there, action) == (cell, facing):
                    continue  # what changes nothing is a STAY
                reached: Pose = (there, facing if action == "STAY" else action, time + 1)
                if reached not in came and _clear(around, time, cell, there):
                    came[reached] = (pose, action)
                    following.append(reached)
        edge = following
    return None


def shared(place: Kitchen) -> bool:
    """Whether both chefs can reach every type of tile, so that nothing must be handed over."""
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
    """Whether an INTERACT here and now does the errand; waiting ends when the other has passed."""
    cell, facing, time = pose
    if not task.cells:
        return time > 0 and time >= len(around)
    faces = cell + place.steps[facing] in task.cells
    return faces and time >= task.wait and _clear(around, time, cell, cell)


def _clear(around: Sequence[int], time: int, here: int, there: int) -> bool:
    """Whether a step at this time avoids a collision and a swap with the other chef."""
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
