"""The closed loop: one joint step per move with a new picture after each, under one commander or as a team
that talks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Self

from ludens.core.errors import MoveError, Unreadable
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.games.viki.floor import Floor, Snapshot
from ludens.games.viki.replies import plan_of, read_value
from ludens.games.viki.rules import Refused, World
from ludens.games.viki.search import shortest_plan
from ludens.games.viki.sources import SPLIT_HELP, SPLITS, Shown, shown
from ludens.games.viki.world import KINDS, Action, Asset, Plan, Robot, Scene, Step
from ludens.games.viki.world import State as Position

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
    view_class = "ludens.games.viki.views:ActView"
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


_TRIES = 20
MESSAGE = 300
"""Characters of a message."""


@dataclass(frozen=True)
class Team(Game):
    """Robots do a task together; each decides for itself, sees only where it is, and may send messages.

    Seats: `R1`, `R2`, ...: one for each robot, acting at the same time.
    Observation: the area the robot is in, with its things and robots; names and heights of the other areas;
    the task; all messages; why the robot's last action was refused, if it was.
    Actions: a JSON object with an action or null, and a message to all others, which may be empty.
    Rules: an action that cannot be done is lost; actions of one step that exclude each other are all lost.
    Rewards, shared: length of the shortest plan divided by the steps taken, once the task is done; else 0.
    Ends when the task is done, or after 30 steps.
    """

    name = "viki/team"
    imperfect_information = True
    view_class = "ludens.games.viki.views:TeamView"
    best = "bot/oracle"
    bots = {"greedy": "ludens.games.viki.bots:GreedyMate"}

    robots: int = option(2, low=2, high=4, help="number of robots")
    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(f"R{number}" for number in range(1, self.robots + 1))

    def start(self, seed: int) -> Teaming:
        seeds = (stream(seed, "team", number).bits() >> 16 for number in count())
        scenes = (shown("viki/team", "map", self.split, "", "", one) for one in seeds)
        return Teaming(self, next(one for one in scenes if len(one.scene.robots) == self.robots))


class Teaming(Acting):
    """A state of the closed loop, with what was said."""

    def __init__(self, game: Team, given: Any) -> None:
        super().__init__(game, given)
        self.reasons: dict[str, str] = {}
        """Why the last action of a robot was refused."""
        self.messages: tuple[tuple[int, str, str], ...] = ()
        """Step, robot and text of each message."""

    def seen_by(self, seat: str) -> Floor:
        """What a robot sees: the area it is in."""
        floor = self.floor
        return Floor(floor.scene, floor.snapshot, floor.snapshot.robots[seat])

    def canonical(self, answer: str) -> str:
        return write_turn(*read_turn(answer))

    def _advance(self, actions: Mapping[str, str]) -> None:
        turns: Step = {}
        self.reasons = {}
        for seat, answer in actions.items():
            if not answer:
                self.reasons[seat] = "the answer could not be read"
                continue
            action, message = read_turn(answer)
            if message:
                self.messages = (*self.messages, (self.steps + 1, seat, message))
            if action is None:
                continue
            try:
                self.world.parse(self.position, seat, action)
                turns[seat] = action
            except Refused as error:
                self.reasons[seat] = error.message
        before = self.refused
        self.play(turns)
        if self.reason:
            self.reasons |= dict.fromkeys(turns, self.reason)
        self.refused = before + bool(self.reasons)

    def solution(self, seat: str) -> str | None:
        return write_turn(self.next_step().get(seat), "")

    def clone(self) -> Self:
        copy = super().clone()
        copy.reasons = dict(self.reasons)
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """Things that the seat does not see change places, such that the task is not done by it."""
        copy, world, position = self.clone(), self.world, self.position
        floor = self.seen_by(seat)
        fixed = {asset.name for asset in self.scene.assets if KINDS[asset.kind].fixture}
        held = {one.name for robot in floor.present for one in floor.seen_in(robot.id)}
        hidden = [
            n
            for n, name in enumerate(world.assets)
            if name not in fixed and name not in floor.centres and name not in held
            and _loose(world.names[position.place[n]], fixed, world.areas)
        ]  # fmt: skip
        places = [position.place[n] for n in hidden]
        copy._plan = []
        for _ in range(_TRIES):
            random.shuffle(places)
            moved = dict(zip(hidden, places, strict=True))
            new = tuple(moved.get(n, place) for n, place in enumerate(position.place))
            copy.position = position._replace(place=new)
            if copy.reached == self.reached:
                return copy
        copy.position = position
        return copy


def _loose(place: str, fixed: set[str], areas: list[str]) -> bool:
    return place in fixed or place in areas


def read_turn(answer: str) -> tuple[Action | None, str]:
    """The action, or None, and the message in an answer."""
    value = read_value(answer, what="answer")
    if isinstance(value, list | tuple):
        value = {"action": value}
    if not isinstance(value, dict) or not set(value) <= {"action", "message"}:
        raise Unreadable('the answer is not an object with "action" and "message".')
    message = value.get("message") or ""
    if not isinstance(message, str):
        raise Unreadable("the message is not a text.")
    if len(message) > MESSAGE:
        raise Unreadable(f"the message has {len(message)} characters; at most {MESSAGE} are sent.")
    if not value.get("action"):
        return None, message
    try:
        step = read_step(json.dumps({"R1": value["action"]}))
    except (MoveError, TypeError, ValueError):
        raise Unreadable('the action is not a list of texts such as ["Move", "apple"].') from None
    return step["R1"], message


def write_turn(action: Action | None, message: str) -> str:
    """The canonical form of an answer."""
    turn = {"action": list(action) if action else None, "message": message}
    return json.dumps(turn, separators=(",", ":"), ensure_ascii=False)
