"""The closed loop: one joint step per move with a new picture after each, under one commander or as a team
that talks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Self

from ludens.core.game import Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.viki.floor import FloorPlan
from ludens.games.viki.replies import read_step, read_turn, write_step, write_turn
from ludens.games.viki.rules import RefusedStep, World
from ludens.games.viki.search import shortest_plan
from ludens.games.viki.sources import SEAT, SPLIT_HELP, SPLITS, SceneSetup, SceneState, setup_of
from ludens.games.viki.world import KINDS, Plan, Scene, Step, WorldState

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
    version = 2
    seats = (SEAT,)
    view_class = "ludens.games.viki.views:ActView"
    best = "bot/oracle"
    bots = {
        "greedy": "ludens.games.viki.bots:GreedyActor",
        "oracle": "ludens.games.viki.subgoals:ActOracle",
    }
    presets = {
        "easy": Preset({"split": "train"}),
        "medium": Preset(),
        "hard": Preset({"split": "ood"}),
        "paper": Preset(),
    }

    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)

    def start(self, seed: int) -> ActState:
        return ActState(self, setup_of("viki/act", "map", self.split, "", "", seed))


class ActState(SceneState):
    """A scene, its present position and how it came about."""

    def __init__(self, game: Game, setup: SceneSetup) -> None:
        super().__init__(game, setup)
        self.world = World(setup.scene)
        self.position: WorldState = self.world.start()
        self.steps = 0
        self.refused = 0
        self.reason = ""
        """Why the last step was refused; empty where it was not."""
        self._plan: Plan = [dict(step) for step in setup.scene.plan]
        """A shortest plan from here, as long as it is followed."""

    def reason_for(self, seat: str) -> str:
        """Why the last action of a seat was refused; empty where it was not."""
        return self.reason

    @property
    def limit(self) -> int:
        assert self.scene.limit is not None
        return self.scene.limit

    @property
    def reached(self) -> bool:
        return self.world.missing(self.position) is None

    @property
    def floor(self) -> FloorPlan:
        world, position = self.world, self.position
        queues = zip(world.robots, position.reached, strict=True)
        return FloorPlan(
            world.scene_at(position),
            frozenset(asset for n, asset in enumerate(world.assets) if position.active >> n & 1),
            {robot: tuple(world.assets[n] for n in queue) for robot, queue in queues if queue},
        )

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.reached or self.steps >= HORIZON else self.game.seats

    def canonical(self, answer: str) -> str:
        return write_step(read_step(answer))

    def _advance(self, actions: Mapping[str, str]) -> None:
        action = actions[SEAT]
        self.play(read_step(action) if action else {}, "" if action else "the answer could not be read")

    def play(self, step: Step, reason: str = "") -> None:
        """One joint step; a step that the rules refuse is lost."""
        self.steps += 1
        if not reason and step:
            try:
                self.position = self.world.step(self.position, step)
            except RefusedStep as error:
                reason = error.message
        self.reason = reason
        self.refused += bool(reason)
        if reason or not step:
            return
        self._plan = self._plan[1:] if self._plan and self._plan[0] == step else []

    @property
    def rest(self) -> Plan:
        """A shortest plan from here; nothing where there is none."""
        if not self._plan:
            self._plan = shortest_plan(self.as_scene()).plan or []
        return self._plan

    def next_step(self) -> Step:
        """The first step of a shortest plan from here; nothing where there is none."""
        return next(iter(self.rest), {})

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

    def as_scene(self) -> Scene:
        """The scene as it is now, as if it were a start: what was done for good is no longer asked for."""
        task = self.scene.task
        goals = tuple(
            goal for goal in task.goals if not (goal.active and self.world.holds(self.position, goal))
        )
        orders = tuple(order for n, order in enumerate(task.orders) if not self.position.done >> n & 1)
        return replace(self.world.scene_at(self.position), task=replace(task, goals=goals, orders=orders))


_TRIES = 20


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
    version = 2
    imperfect_information = True
    view_class = "ludens.games.viki.views:TeamView"
    cooperative = True
    best = "bot/oracle"
    presets = {
        "easy": Preset(others="bot/oracle"),
        "medium": Preset({"robots": 3}, others="bot/oracle"),
        "hard": Preset({"robots": 3, "split": "ood"}, others="bot/oracle"),
        "paper": Preset(others="bot/oracle"),
    }
    bots = {"greedy": "ludens.games.viki.bots:GreedyMate"}

    robots: int = option(2, low=2, high=4, help="number of robots")
    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(f"R{number}" for number in range(1, self.robots + 1))

    def start(self, seed: int) -> TeamState:
        seeds = (stream(seed, "team", number).bits() >> 16 for number in count())
        scenes = (setup_of("viki/team", "map", self.split, "", "", one) for one in seeds)
        return TeamState(self, next(one for one in scenes if len(one.scene.robots) == self.robots))


class TeamState(ActState):
    """A state of the closed loop, with what was said."""

    def __init__(self, game: Team, setup: SceneSetup) -> None:
        super().__init__(game, setup)
        self.reasons: dict[str, str] = {}
        """Why the last action of a robot was refused."""
        self.messages: tuple[tuple[int, str, str], ...] = ()
        """Step, robot and text of each message."""

    def reason_for(self, seat: str) -> str:
        return self.reasons.get(seat, "")

    def seen_by(self, seat: str) -> FloorPlan:
        """What a robot sees: the area it is in."""
        floor = self.floor
        return replace(floor, view_from=floor.area_of(seat))

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
            except RefusedStep as error:
                self.reasons[seat] = error.message
        before = self.refused
        self.play(turns)
        if self.reason:
            self.reasons |= dict.fromkeys(turns, self.reason)
        self.refused = before + bool(self.reasons)

    def solution(self, seat: str) -> str | None:
        return write_turn(self.next_step().get(seat), "")

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
            and world.names[position.place[n]] in (*fixed, *world.areas)
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
