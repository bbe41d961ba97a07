"""Overcooked bots: a pair that plans together, and one that works on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.overcooked.cooking import ACTIONS, ONION, POT_HOLDS, Snapshot
from ludens.games.overcooked.kitchens import FLOOR, Kitchen, kitchen
from ludens.games.overcooked.routes import LONGEST, ROLES, Errand, Route, done, errand, route, shared
from ludens.games.overcooked.rules import SEATS, Overcooked, OvercookedState

_WAITING = LONGEST // 2
"""The cost of waiting in a plan: more than most errands take, so that both work when they can."""


@lru_cache(maxsize=4096)
def joint_plan(place: Kitchen, snapshot: Snapshot) -> tuple[str, str]:
    """The next action of both chefs, from the shortest joint plan.

    One chef takes an errand and the straight way; the other's errand counts on its being done, and the
    other's way keeps clear of it. Either chef may go first; both seats work out the same plan.
    """
    plans: list[tuple[int, int, tuple[str, str]]] = []
    for first, second in ((0, 1), (1, 0)):
        task = errand(place, snapshot, first)
        then, alone = (
            errand(place, done(place, snapshot, first, task), second),
            errand(place, snapshot, second),
        )
        for wall in (None, snapshot.chefs[second].cell):
            leader = route(place, snapshot.chefs[first], task, wall=wall)
            if leader is None:
                continue
            in_turn = then if then == alone else then._replace(wait=max(then.wait, leader.steps))
            follower = route(place, snapshot.chefs[second], in_turn, around=leader.cells)
            if follower is None:
                continue
            cost = _cost(task, leader) + _cost(then, follower)
            one, other = leader.actions[0], follower.actions[0]
            plans.append((cost, len(plans), (one, other) if first == 0 else (other, one)))
    return min(plans)[2] if plans else ("STAY", "STAY")


def _cost(task: Errand, way: Route) -> int:
    return way.steps if task.cells else _WAITING


@dataclass
class Planner(Agent):
    """Plans for both chefs on the full state and executes its own part."""

    kind = "bot/planner"
    sees = "state"

    def begin(self) -> None:
        assert isinstance(self.game, Overcooked)
        self.me = SEATS.index(self.seat)
        if not shared(kitchen(self.game.layout)):
            raise BadOption(
                f"{self.kind} does not hand things over; in {self.game.layout} no chef can reach everything."
            )

    def choices(self, state: OvercookedState) -> Sequence[str]:
        """The planned action; several are equally likely."""
        return (joint_plan(state.kitchen, state.snapshot)[self.me],)

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action."""
        assert isinstance(state, OvercookedState)
        found = self.choices(state)
        return dict.fromkeys(found, 1 / len(found))

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, OvercookedState)
        action = self.random.choice(self.choices(ask.state))
        return Reply(action, action)


@dataclass
class Optimal(Planner):
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

    def policy(self, state: State) -> dict[str, float]:
        planned = super().policy(state)
        slip = self.slips / len(ACTIONS)
        return {
            action: share
            for action in ACTIONS
            if (share := (1 - self.slips) * planned.get(action, 0.0) + slip) > 0
        }

    async def act(self, ask: Ask) -> Reply:
        if self.random.random() < self.slips:
            action = self.random.choice(ACTIONS)
            return Reply(action, action)
        return await super().act(ask)

    def _collided(self, state: OvercookedState, action: str) -> bool:
        """Whether the same step onto free floor was tried just now, and failed."""
        place = state.kitchen
        if action not in place.steps or state.frames[-1].actions[self.me : self.me + 1] != (action,):
            return False
        before, now = (frame.snapshot.chefs[self.me].cell for frame in state.frames[-2:])
        return before == now and place.tiles[now + place.steps[action]] == FLOOR

    def _aside(self, state: OvercookedState) -> Sequence[str]:
        """Every step onto free floor, and STAY."""
        place, here = state.kitchen, state.snapshot.chefs[self.me].cell
        other = state.snapshot.chefs[1 - self.me].cell
        ways = {action: here + step for action, step in place.steps.items()}
        free = [action for action, cell in ways.items() if place.tiles[cell] == FLOOR and cell != other]
        return (*free, "STAY")
