"""Bots of VIKI: greedy ones, and teachers that give right answers after reasoning in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.boards import pointer
from ludens.games.viki.closed_loop import ActState, TeamState
from ludens.games.viki.floor import ROBOT, SIDE, FloorPlan, straight_line
from ludens.games.viki.levels import ActivateState, AnswerState, PlanState, RobotErrand, TraceState
from ludens.games.viki.replies import POINTS, points_of, write_plan, write_points, write_step, write_turn
from ludens.games.viki.rules import tell
from ludens.games.viki.teams import greedy_plan
from ludens.games.viki.world import ROBOTS, Asset, Plan, Robot, Scene, Step, random_action


def reasoning(state: AnswerState) -> str:
    """What leads to the right answer, in sentences."""
    scene = state.scene
    if isinstance(state, TraceState):
        return _trace_reasoning(scene, state.errands)
    lines = [_task(scene), *_seen(scene), *_judged(scene)]
    if isinstance(state, ActivateState):
        return "\n".join([*lines, f"So the team is: {', '.join(scene.team)}."])
    for number, step in enumerate(scene.plan, 1):
        actions = "; ".join(f"{robot} {' '.join(action)}" for robot, action in step.items())
        lines.append(f"Step {number}: {actions}.")
    return "\n".join([*lines, f"The task is then done in {len(scene.plan)} steps."])


def seen_briefly(state: AnswerState) -> str:
    """Where the things of the task and the robots are: "bread 42: rack; R1 44: fetch rack; ".

    What is not in view has no place on the map.
    """
    if isinstance(state, TraceState):
        ends = [(errand.robot, errand.points[0], errand.points[-1]) for errand in state.errands]
        return "".join(f"{robot} {ax:.0f} {ay:.0f} {bx:.0f} {by:.0f}; " for robot, (ax, ay), (bx, by) in ends)
    return seen_in(state.scene, FloorPlan(state.scene))


def seen_in(scene: Scene, floor: FloorPlan) -> str:
    """The same of a scene and its map, with what robots reach for after where they are."""
    middles = {robot: (x, y - ROBOT / 2) for robot, (x, y) in floor.robots.items()}
    held = {one.name: middles[robot] for robot in middles for one in floor.seen_in(robot)}
    at = {
        name: f" {pointer(x / SIDE, y / SIDE)}" for name, (x, y) in (middles | held | floor.centres).items()
    }
    things = [f"{one.name}{at.get(one.name, '')} {one.place} {one.door}" for one in concerned(scene)]
    robots = [
        " ".join(
            [f"{robot.id}{at.get(robot.id, '')} {robot.type} {robot.place}", *floor.reached.get(robot.id, ())]
        )
        for robot in scene.robots
    ]
    return "".join(f"{entry.strip()}; " for entry in (*things, *robots))


def needed(state: AnswerState) -> str:
    """The robots that the task needs: "R1 R3"; nothing where the paths of two robots are asked for."""
    if isinstance(state, TraceState):
        return ""
    return " ".join(robot.id for robot in state.scene.robots if robot.needed)


def _trace_reasoning(scene: Scene, errands: tuple[RobotErrand, RobotErrand]) -> str:
    """Where two paths begin and end."""
    floor = FloorPlan(scene)
    lines = [f"The task is: {scene.task.text}"]
    for who, errand in zip(("I", "My partner"), errands, strict=True):
        (ax, ay), (bx, by) = errand.points[0], errand.points[-1]
        am, goes = ("am", "go") if who == "I" else ("is", "goes")
        area = floor.area_of(errand.target)
        where = "an area" if area == errand.target else f"in the area {area}"
        lines.append(
            f"{who} {am} {errand.robot}, at [{ax:g}, {ay:g}]. The {errand.target} is {where}, "
            f"so {who if who == 'I' else 'it'} {goes} to [{bx:g}, {by:g}]"
            f"{', around the furniture' if _bends(errand) else ', in a straight line'}."
        )
    return "\n".join([*lines, "I mark five points at equal distances along each path."])


def _task(scene: Scene) -> str:
    goals = " and ".join(tell((goal,)) for goal in scene.task.goals)
    orders = "; ".join(", then ".join(map(tell, order)) for order in scene.task.orders)
    last = f" In this order: {orders}." if orders else ""
    return f"The task is: {scene.task.text} At the end this must hold: {goals}.{last}"


def _seen(scene: Scene) -> Iterator[str]:
    named = {goal.thing for goal in scene.task.goals} | {goal.place for goal in scene.task.goals}
    floor = FloorPlan(scene)
    things = {asset.name for asset in scene.assets}
    for asset in scene.assets:
        if asset.name in named and asset.name in floor.centres:
            where = "in or on" if asset.place in things else "at"
            door = f", {asset.door}" if asset.door else ""
            yield f"I see the {asset.name} {where} the {asset.place}{door}."
    robots = ", ".join(f"{robot.id} is a {robot.type} at {robot.place}" for robot in scene.robots)
    yield f"I see {len(scene.robots)} robot{'s' * (len(scene.robots) > 1)}: {robots}."


def concerned(scene: Scene) -> list[Asset]:
    """The things that goals name, and what they are in, also where the picture does not show them."""
    things = {asset.name: asset for asset in scene.assets}
    concerned: dict[str, Asset] = {}
    for goal in scene.task.goals:
        for name in (goal.thing, goal.place or ""):
            while name in things and name not in concerned:
                concerned[name] = things[name]
                name = things[name].place
    return list(concerned.values())


def _judged(scene: Scene) -> Iterator[str]:
    for robot in scene.robots:
        if robot.needed:
            primitives = [step[robot.id][0] for step in scene.plan if robot.id in step]
            kinds = ", ".join(dict.fromkeys(primitives)) or "helps"
            yield f"{robot.id} ({robot.type}) is needed: {_can(robot)}; it does {kinds}."
        else:
            yield f"{robot.id} ({robot.type}) is not needed: {_can(robot)}; the others do it as fast."


def _can(robot: Robot) -> str:
    kind = ROBOTS[robot.type]
    if not kind.arms:
        return "it has no arm and can only move, push and inspect"
    arms = f"it has {kind.arms} arm{'s' * (kind.arms > 1)}"
    arms += f" and reaches from {kind.low:g} m to {kind.high:g} m"
    return arms if kind.mobile else f"{arms}, but only in its own area, {robot.place}"


def _bends(errand: RobotErrand) -> bool:
    (ax, ay), (bx, by) = errand.points[0], errand.points[-1]
    length = max(1e-9, ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5)
    return any(abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length > 2 for x, y in errand.points)


@dataclass
class GreedyTeam(Agent):
    """Level 1: names the types of all robots in the kitchen."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, ActivateState)
        return Reply(action=json.dumps(sorted({robot.type for robot in ask.state.scene.robots})))


@dataclass
class GreedyPlan(Agent):
    """Level 2: one goal after the other, one robot at a time."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, PlanState)
        return Reply(action=write_plan(greedy_plan(ask.state.scene)))


@dataclass
class GreedyTrace(Agent):
    """Level 3: straight lines from robot to target, through furniture."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, TraceState)
        paths = ask.state.truth
        return Reply(action=write_points([straight_line(path[0], path[-1], POINTS) for path in paths]))


class _Follower(Agent):
    """Follows the greedy plan of an episode step by step, then waits."""

    sees = "state"

    def begin(self) -> None:
        self.plan: Plan | None = None

    def next_step(self, state: ActState) -> Step:
        if self.plan is None:
            self.plan = greedy_plan(state.scene)
        return self.plan[state.steps] if state.steps < len(self.plan) else {}


@dataclass
class GreedyActor(_Follower):
    """Closed loop: plays the greedy plan."""

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, ActState)
        return Reply(action=write_step(self.next_step(ask.state)))


@dataclass
class GreedyMate(_Follower):
    """A robot of a team: its own part of the greedy plan, and no messages."""

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, TeamState)
        return Reply(action=write_turn(self.next_step(ask.state).get(ask.seat), ""))


@dataclass
class AnswerOracle(Agent):
    """The right answer: the best team, a shortest plan, the true paths."""

    reason: bool = option(False, help="reason first, for imitation")
    short: bool = option(False, help="reason and answer in few words, for small models")
    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, AnswerState)
        answer = state.solution(ask.seat)
        if answer is None:
            raise BadOption(f"bot/oracle: {self.game.name} does not know a best action in this state.")
        thoughts = ""
        if self.reason:
            thoughts = f"{seen_briefly(state)}{needed(state)}" if self.short else reasoning(state)
        return reply(ask, state, thoughts, answer, short=self.short)


@dataclass
class Describe(Agent):
    """Says in few words what it sees, then guesses: what a model can do before it learns the task.

    Its plans name all robots, things and primitives, so that a model that imitates it knows their words.
    """

    kind = "bot/describe"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, AnswerState)
        if isinstance(state, PlanState):
            answer = write_plan(random_plan(state.scene, self.random))
        else:
            answer = view_of(self.game, RenderOptions(), 0).guess(state, ask.seat, self.random)
        return reply(ask, state, seen_briefly(state), answer, short=True)


def random_plan(scene: Scene, random: Stream) -> Plan:
    """Three to six steps of one or two robots: primitives of their types with names of the kitchen."""
    return [
        {
            robot.id: random_action(scene, robot.type, random)
            for robot in random.sample(scene.robots, random.between(1, min(2, len(scene.robots))))
        }
        for _ in range(random.between(3, 6))
    ]


def reply(ask: Ask, state: AnswerState, thoughts: str, answer: str, *, short: bool) -> Reply:
    """The reply of a bot: thoughts in tags where there are any, then the answer."""
    answer = shorten(state, answer) if short else answer
    thought = f"<think>{thoughts}</think>" if thoughts else ""
    return Reply(f"{thought}{ask.format.write(answer)}", state.canonical(answer))


def shorten(state: AnswerState, answer: str) -> str:
    """An answer in fewer characters: steps without numbers, whole coordinates."""
    if isinstance(state, TraceState):
        points = [[[round(x), round(y)] for x, y in path] for path in points_of(answer)]
        return json.dumps(points, separators=(",", ":"))
    value = json.loads(answer)
    if value and isinstance(value[0], dict):
        value = [{"actions": step["actions"]} for step in value]
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
