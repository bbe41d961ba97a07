"""Overcooked bots: a pair that plans together, and one that works on its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.overcooked.cooking import ACTIONS, ONION, POT_HOLDS, Snapshot
from ludens.games.overcooked.kitchens import Kitchen, kitchen
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

    def action(self, state: OvercookedState) -> str:
        """The planned action."""
        return joint_plan(state.kitchen, state.snapshot)[self.me]

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, OvercookedState)
        action = self.action(ask.state)
        return Reply(action, action)


@dataclass
class Optimal(Planner):
    """The paper's optimal pair: two soups, 40 points, then rest.

    The planner goes on with a third, which the paper does not count on.
    """

    kind = "bot/optimal"
    soups: int = option(2, low=1, high=100, help="soups after which both rest")

    def action(self, state: OvercookedState) -> str:
        facts, action = state.facts, super().action(state)
        potting = action == "INTERACT" and state.snapshot.chefs[self.me].holds == ONION
        enough = potting and facts["onions_potted"] >= POT_HOLDS * self.soups
        return "STAY" if enough or facts["soups_delivered"] >= self.soups else action


@dataclass
class Greedy(Planner):
    """Does its own errands by the shortest way around the other; with a small probability acts at random."""

    kind = "bot/greedy"
    role: str = option("any", choices=ROLES, help="cook (onions and pots), waiter (dishes and soups) or any")
    slips: float = option(0.0, low=0.0, high=1.0, help="probability of a random action")

    def action(self, state: OvercookedState) -> str:
        if self.random.random() < self.slips:
            return self.random.choice(ACTIONS)
        place, snapshot = state.kitchen, state.snapshot
        task = errand(place, snapshot, self.me, self.role)
        way = route(place, snapshot.chefs[self.me], task, wall=snapshot.chefs[1 - self.me].cell)
        return way.actions[0] if way and task.cells else self.random.choice(ACTIONS[:5])
