"""Closed loop: one joint step per move, with a new picture after each; one seat commands all robots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from ludens.core.errors import MoveError, Unreadable
from ludens.core.game import Game
from ludens.core.legal import Legal
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.viki.floor import Floor, Snapshot
from ludens.games.viki.parse import plan_of, read_value
from ludens.games.viki.planner import shortest_plan
from ludens.games.viki.rules import Refused, World
from ludens.games.viki.rules import State as Position
from ludens.games.viki.scene import Asset, Plan, Robot, Scene, Step
from ludens.games.viki.source import SPLIT_HELP, SPLITS, Shown, shown

SEAT = "planner"
LONGEST = 2_000
HORIZON = 30
"""The most steps: more than twice as many as any shortest plan has."""


@dataclass(frozen=True)
class Act(Game):
    """Command all robots step by step and see what comes of it (closed loop).

    Seats: `planner`, who commands every robot.
    Observation: the kitchen as it is now, the task, and why the last step was refused, if it was.
    Actions: a JSON object with an action for each robot that acts, such as `{"R1": ["Move", "apple"]}`.
    Rules: a step with an action that cannot be done changes nothing and is lost.
    Rewards: the length of the shortest plan divided by the steps taken, once the task is done; else 0.
    Ends when the task is done, or after 30 steps.
    """

    name = "viki/act"
    seats = (SEAT,)
    view_class = "ludens.games.viki.act_view:ActView"
    best = "bot/oracle"
    bots = {"greedy": "ludens.games.viki.bots:GreedyActor"}

    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)

    def start(self, seed: int) -> Acting:
        return Acting(self, shown("viki/act", "map", self.split, "", "", seed))


class Acting(State):
    """A scene, its present state and how it came about."""

    def __init__(self, game: Game, given: Shown) -> None:
        self.game = game
        self.given = given
        self.world = World(given.scene)
        self.position: Position = self.world.start()
        self.steps = 0
        self.refused = 0
        self.reason = ""
        """Why the last step was refused; empty where it was not."""
        self._plan: Plan = [dict(step) for step in given.scene.plan]
        """A shortest plan from here, as long as it is followed."""

    @property
    def scene(self) -> Scene:
        """The scene at the start."""
        return self.given.scene

    @property
    def limit(self) -> int:
        """Length of the shortest plan."""
        assert self.scene.limit is not None
        return self.scene.limit

    @property
    def reached(self) -> bool:
        """Whether the task is done."""
        return self.world.missing(self.position) is None

    @property
    def floor(self) -> Floor:
        """What there is to see now."""
        return Floor(self.scene, Snapshot.of(self.world, self.position))

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.reached or self.steps >= HORIZON else self.game.seats

    def legal(self, seat: str) -> Legal:
        return Legal.text(LONGEST) if seat in self.to_act else Legal()

    def canonical(self, answer: str) -> str:
        """The canonical form of a step."""
        return write_step(read_step(answer))

    def refusal(self, seat: str, action: str) -> str | None:
        reason = super().refusal(seat, action)
        if reason is None and action:
            try:
                if self.canonical(action) != action:
                    return "the answer is not in its canonical form."
            except MoveError as error:
                return str(error)
        return reason

    def fallback(self, seat: str) -> str | None:
        """No readable answer is a lost step."""
        return ""

    def _advance(self, actions: Mapping[str, str]) -> None:
        action = actions[SEAT]
        self.play(read_step(action) if action else {}, "" if action else "the answer could not be read")

    def play(self, step: Step, reason: str = "") -> None:
        """One joint step; a step that the rules refuse is lost."""
        self.steps += 1
        if not reason and step:
            try:
                self.position = self.world.step(self.position, step)
            except Refused as error:
                reason = error.message
        self.reason = reason
        self.refused += bool(reason)
        if reason or not step:
            return
        self._plan = self._plan[1:] if self._plan and self._plan[0] == step else []

    def next_step(self) -> Step:
        """The first step of a shortest plan from here; nothing where there is none."""
        if not self._plan:
            self._plan = shortest_plan(self.as_scene()).plan or []
        return self._plan[0] if self._plan else {}

    def solution(self, seat: str) -> str | None:
        return write_step(self.next_step())

    @property
    def returns(self) -> dict[str, float]:
        earned = self.limit / max(self.limit, self.steps) if self.reached else 0.0
        return dict.fromkeys(self.game.seats, earned)

    @property
    def facts(self) -> dict[str, Any]:
        return {
            **self.scene.task.facts,
            "robots": len(self.scene.robots),
            "reached": self.reached,
            "steps": self.steps,
            "shortest": self.limit,
            "above": self.steps - self.limit if self.reached else None,
            "refused": self.refused,
        }

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def as_scene(self) -> Scene:
        """The scene as it is now, as if it were a start: what was done for good is no longer asked for."""
        snapshot, task = Snapshot.of(self.world, self.position), self.scene.task
        goals = tuple(
            goal for goal in task.goals if not (goal.active and self.world.holds(self.position, goal))
        )
        orders = tuple(order for n, order in enumerate(task.orders) if not self.position.done >> n & 1)
        return replace(
            self.scene,
            task=replace(task, goals=goals, orders=orders),
            robots=tuple(_moved(robot, snapshot) for robot in self.scene.robots),
            assets=tuple(_put(asset, snapshot) for asset in self.scene.assets),
        )


def _moved(robot: Robot, snapshot: Snapshot) -> Robot:
    return replace(robot, place=snapshot.robots[robot.id])


def _put(asset: Asset, snapshot: Snapshot) -> Asset:
    return replace(asset, place=snapshot.places[asset.name], closed=asset.name in snapshot.closed)


def read_step(answer: str) -> Step:
    """The step in an answer: an object with an action for each robot, or one step of a plan."""
    value = read_value(answer, what="step")
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise Unreadable('the answer is not an object such as {"R1": ["Move", "apple"]}.')
    steps = plan_of([value if "actions" in value else {"actions": value}])
    return steps[0] if steps else {}


def write_step(step: Step) -> str:
    """The canonical form of a step: compact JSON, robots in order."""
    actions = {robot: list(step[robot]) for robot in sorted(step)}
    return json.dumps(actions, separators=(",", ":"), ensure_ascii=False)
