"""Overcooked bots: a pair that plans together, and one that works on its own; the routes they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ludens.core.agent import Bot
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.overcooked.game import (
    ACTIONS,
    COOK_STEPS,
    COUNTER,
    DISH,
    DISHES,
    FLOOR,
    HATCH,
    NOTHING,
    ONION,
    ONIONS,
    POT_HOLDS,
    RANDOM,
    SEATS,
    SHARED,
    SOUPS,
    Chef,
    Kitchen,
    KitchenSnapshot,
    Overcooked,
    OvercookedState,
    Pot,
)

ROLES = ("any", "cook", "waiter")
"""A cook brings onions and starts pots; a waiter fetches dishes, plates and serves; `any` does both."""


class ChefErrand(NamedTuple):
    """The cells to interact with (any one of them) and the earliest step; no cells means waiting."""

    kind: str
    cells: tuple[int, ...] = ()
    wait: int = 0


def errand(place: Kitchen, snapshot: KitchenSnapshot, me: int, role: str = "any") -> ChefErrand:
    """The most useful errand of a chef, assuming that the other finishes what it holds."""
    holds, other = snapshot.chefs[me].holds, snapshot.chefs[1 - me].holds
    if holds in SOUPS:
        return ChefErrand("serve", place.all(HATCH))
    if holds == DISH:
        return _with_dish(place, snapshot, me, other)
    if holds == ONION:
        return _with_onion(place, snapshot, me, other)
    full = _pots(place, snapshot, lambda pot: pot.onions == POT_HOLDS and pot.cooked < 0)
    if full and role != "waiter":
        return ChefErrand("start", full)
    soups = sum(pot.cooked >= 0 or pot.onions == POT_HOLDS for pot in snapshot.pots)
    open_places = sum(POT_HOLDS - pot.onions for pot in snapshot.pots if pot.open)
    begun = any(pot.onions for pot in snapshot.pots if pot.open)
    last_on_its_way = begun and open_places % POT_HOLDS == 1 and other == ONION
    if (role == "any" and soups + last_on_its_way > (other == DISH)) or role == "waiter":
        return ChefErrand("take dish", (*place.all(DISHES), *_lying(snapshot, DISH)))
    return ChefErrand("take onion", (*place.all(ONIONS), *_lying(snapshot, ONION)))


def _with_dish(place: Kitchen, snapshot: KitchenSnapshot, me: int, other: str) -> ChefErrand:
    cooking = [pot for pot in snapshot.pots if pot.cooked >= 0]
    if other == DISH and len(cooking) < 2 and me == 0:
        return ChefErrand("drop", _free(place, snapshot))
    if not cooking:
        return ChefErrand("wait")
    best = max(cooking, key=lambda pot: pot.cooked)
    return ChefErrand("plate", _pots(place, snapshot, best.__eq__), COOK_STEPS - best.cooked)


def _with_onion(place: Kitchen, snapshot: KitchenSnapshot, me: int, other: str) -> ChefErrand:
    most = max((pot.onions for pot in snapshot.pots if pot.open), default=None)
    if most is not None:
        return ChefErrand("pot", _pots(place, snapshot, lambda pot: pot.open and pot.onions == most))
    stuck = other != NOTHING and any(pot.cooked < 0 for pot in snapshot.pots)
    unserved = other == ONION and me == 0
    return ChefErrand("drop", _free(place, snapshot)) if stuck or unserved else ChefErrand("wait")


def after_errand(place: Kitchen, snapshot: KitchenSnapshot, me: int, task: ChefErrand) -> KitchenSnapshot:
    """The snapshot after the errand is done: what the other chef may rely on."""
    chefs, pots = list(snapshot.chefs), list(snapshot.pots)
    holds = {"take onion": ONION, "take dish": DISH, "plate": SOUPS[-1]}.get(task.kind, NOTHING)
    if task.kind != "wait":
        chefs[me] = chefs[me]._replace(holds=holds)
    for at, cell in enumerate(place.pots):
        if cell in task.cells[:1]:
            filled = Pot(pots[at].onions + 1)
            pots[at] = {"pot": filled, "start": Pot(pots[at].onions, 0), "plate": Pot()}[task.kind]
    return KitchenSnapshot(tuple(chefs), tuple(pots), snapshot.counters)


def _pots(place: Kitchen, snapshot: KitchenSnapshot, fits: Callable[[Pot], bool]) -> tuple[int, ...]:
    return tuple(cell for cell, pot in zip(place.pots, snapshot.pots, strict=True) if fits(pot))


def _lying(snapshot: KitchenSnapshot, thing: str) -> tuple[int, ...]:
    return tuple(cell for cell, lying in snapshot.counters if lying == thing)


def _free(place: Kitchen, snapshot: KitchenSnapshot) -> tuple[int, ...]:
    occupied = dict(snapshot.counters)
    return tuple(cell for cell in place.all(COUNTER) if cell not in occupied)


LONGEST = 24

Pose = tuple[int, str, int]
"""Cell, direction and time."""


class Route(NamedTuple):
    """Actions up to and including the INTERACT, and the cells visited, the first one included."""

    actions: tuple[str, ...]
    cells: tuple[int, ...]

    @property
    def steps(self) -> int:
        return len(self.actions)


def route(
    place: Kitchen, chef: Chef, task: ChefErrand, around: Sequence[int] = (), wall: int | None = None
) -> Route | None:
    """The shortest route of a chef for an errand, or None.

    The other chef is at `around` at each time from now on and away afterwards; `wall` is never entered.
    """
    start: Pose = (chef.cell, chef.facing, 0)
    came: dict[Pose, tuple[Pose, str] | None] = {start: None}
    edge = [start]
    for time in range(LONGEST):
        following = []
        for pose in edge:
            cell, facing, _ = pose
            if _arrived(place, pose, task, around):
                return _back(came, pose, bool(task.cells))
            for action in ("STAY", *place.steps) if not task.cells else (facing, *place.steps, "STAY"):
                goal = cell + place.steps.get(action, 0)
                goal = cell if place.tiles[goal] != FLOOR or goal == wall else goal
                if (goal, action) == (cell, facing):
                    continue  # what changes nothing is a STAY
                reached: Pose = (goal, facing if action == "STAY" else action, time + 1)
                if reached not in came and _clear(around, time, cell, goal):
                    came[reached] = (pose, action)
                    following.append(reached)
        edge = following
    return None


def _arrived(place: Kitchen, pose: Pose, task: ChefErrand, around: Sequence[int]) -> bool:
    """Whether an INTERACT here and now does the errand; waiting ends when the other has passed."""
    cell, facing, time = pose
    if not task.cells:
        return time > 0 and time >= len(around)
    faces = cell + place.steps[facing] in task.cells
    return faces and time >= task.wait and _clear(around, time, cell, cell)


def _clear(around: Sequence[int], time: int, start: int, end: int) -> bool:
    """Whether a step at this time avoids a collision and a swap with the other chef."""
    if time + 1 >= len(around):
        return True
    now, soon = around[time], around[time + 1]
    return end != soon and not (end == now and start == soon)


def _back(came: dict[Pose, tuple[Pose, str] | None], pose: Pose, interact: bool) -> Route:
    actions, cells = (["INTERACT"], [pose[0], pose[0]]) if interact else ([], [pose[0]])
    while (step := came[pose]) is not None:
        pose, action = step
        actions.append(action)
        cells.append(pose[0])
    return Route(tuple(reversed(actions)), tuple(reversed(cells)))


_WAITING = LONGEST // 2
"""The cost of waiting in a plan: more than most errands take, so that both work when they can."""


@lru_cache(maxsize=4096)
def joint_plan(place: Kitchen, snapshot: KitchenSnapshot) -> tuple[str, str]:
    """The next action of both chefs, from the shortest joint plan.

    One chef takes an errand and the straight way; the other's errand counts on its being done, and the
    other's way keeps clear of it. Either chef may go first; both seats work out the same plan.
    """
    plans: list[tuple[int, int, tuple[str, str]]] = []
    for first, second in ((0, 1), (1, 0)):
        task = errand(place, snapshot, first)
        other = errand(place, after_errand(place, snapshot, first, task), second)
        alone = errand(place, snapshot, second)
        for wall in (None, snapshot.chefs[second].cell):
            leader = route(place, snapshot.chefs[first], task, wall=wall)
            if leader is None:
                continue
            in_turn = other if other == alone else other._replace(wait=max(other.wait, leader.steps))
            follower = route(place, snapshot.chefs[second], in_turn, around=leader.cells)
            if follower is None:
                continue
            ways = ((task, leader), (other, follower))
            cost = sum(way.steps if each.cells else _WAITING for each, way in ways)
            actions = leader.actions[0], follower.actions[0]
            plans.append((cost, len(plans), actions if first == 0 else actions[::-1]))
    return min(plans)[2] if plans else ("STAY", "STAY")


@dataclass
class Planner(Bot):
    """Plans for both chefs on the full state and executes its own part."""

    kind = "bot/planner"

    def begin(self) -> None:
        assert isinstance(self.game, Overcooked)
        self.me = SEATS.index(self.seat)
        if self.game.layout not in (*SHARED, RANDOM):
            raise BadOption(
                f"{self.kind} does not hand things over; in {self.game.layout} no chef can reach everything."
            )

    def choices(self, state: OvercookedState) -> Sequence[str]:
        return (joint_plan(state.kitchen, state.snapshot)[self.me],)

    def policy(self, state: Any) -> dict[str, float]:
        choices = self.choices(state)
        return dict.fromkeys(choices, 1 / len(choices))

    def choose(self, state: OvercookedState) -> str:
        return self.random.choice(self.choices(state))


@dataclass
class SoupsOptimal(Planner):
    """The paper's optimal pair: two soups, 40 points, then rest.

    The planner goes on with a third, which the paper does not count on.
    """

    kind = "bot/optimal"
    soups: int = option(2, low=1, high=100, help="soups after which both rest")

    def choices(self, state: OvercookedState) -> Sequence[str]:
        facts, [action] = state.facts, super().choices(state)
        potting = action == "INTERACT" and state.snapshot.chefs[self.me].holds == ONION
        enough = potting and facts["onions_potted"] >= POT_HOLDS * self.soups
        return ("STAY" if enough or facts["soups_delivered"] >= self.soups else action,)


@dataclass
class Greedy(Planner):
    """Does its own errands by the shortest way around the other, and steps aside after a collision.

    Where it has nothing to do or no way it takes a random step, and so it does with a small probability.
    """

    kind = "bot/greedy"
    role: str = option("any", choices=ROLES, help="cook (onions and pots), waiter (dishes and soups) or any")
    slips: float = option(0.0, low=0.0, high=1.0, help="probability of a random action")

    def choices(self, state: OvercookedState) -> Sequence[str]:
        place, snapshot = state.kitchen, state.snapshot
        task = errand(place, snapshot, self.me, self.role)
        way = route(place, snapshot.chefs[self.me], task, wall=snapshot.chefs[1 - self.me].cell)
        if way and task.cells and not self._collided(state, way.actions[0]):
            return (way.actions[0],)
        return self._aside(state)

    def policy(self, state: Any) -> dict[str, float]:
        planned, slip = super().policy(state), self.slips / len(ACTIONS)
        shares = {action: (1 - self.slips) * planned.get(action, 0.0) + slip for action in ACTIONS}
        return {action: share for action, share in shares.items() if share > 0}

    def choose(self, state: OvercookedState) -> str:
        slips = self.random.random() < self.slips
        return self.random.choice(ACTIONS) if slips else super().choose(state)

    def _collided(self, state: OvercookedState, action: str) -> bool:
        """Whether the same step onto free floor was tried just now, and failed."""
        place = state.kitchen
        if action not in place.steps or state.frames[-1].actions[self.me : self.me + 1] != (action,):
            return False
        before, now = (frame.snapshot.chefs[self.me].cell for frame in state.frames[-2:])
        return before == now and place.tiles[now + place.steps[action]] == FLOOR

    def _aside(self, state: OvercookedState) -> Sequence[str]:
        place, start = state.kitchen, state.snapshot.chefs[self.me].cell
        other = state.snapshot.chefs[1 - self.me].cell
        ways = {action: start + step for action, step in place.steps.items()}
        free = [action for action, cell in ways.items() if place.tiles[cell] == FLOOR and cell != other]
        return (*free, "STAY")
