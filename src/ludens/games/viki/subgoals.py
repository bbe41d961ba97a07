"""Teachers that tell sub-goals before a plan or its next step: what is where and how high, what each robot
could take or fill, and what each of the team does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.boards import pointer
from ludens.games.viki.bots import AnswerOracle, concerned, reply, seen_in
from ludens.games.viki.closed_loop import ActState
from ludens.games.viki.floor import HEAD, SIDE, FloorPlan
from ludens.games.viki.levels import PlanState
from ludens.games.viki.rules import World
from ludens.games.viki.world import ROBOTS, Scene


@dataclass
class PlanOracle(AnswerOracle):
    """The right answer: a shortest plan."""

    goals: bool = option(
        False, help="with reason and short: heights, what each robot reaches, and sub-goals of the team, too"
    )

    async def act(self, ask: Ask) -> Reply:
        if not (self.goals and self.reason and self.short):
            return await super().act(ask)
        state = ask.state
        assert isinstance(state, PlanState)
        thoughts = told(state.scene, FloorPlan(state.scene))
        return reply(ask, state, thoughts, state.solution(ask.seat) or "", short=True)


@dataclass
class ActOracle(Agent):
    """The first step of a shortest plan."""

    reason: bool = option(False, help="say first what is where, and sub-goals of the team, for imitation")
    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, ActState)
        answer = state.solution(ask.seat) or ""
        if not self.reason:
            return Reply(ask.format.write(answer), answer)
        thoughts = told(replace(state.as_scene(), plan=tuple(state.rest)), state.floor)
        return Reply(f"<think>{thoughts}</think>{ask.format.write(answer)}", answer)


def told(scene: Scene, floor: FloorPlan) -> str:
    """Everything that leads to the plan, in few words.

    "table 20: 75; rack 45: 170; lemon 46: rack; R1 23: fetch table; R1 table; R1 Grasp lemon Place table; 5"
    """
    parts = [*_heights(floor), seen_in(scene, floor).strip(" ;"), *_within_reach(scene), *subgoals(scene)]
    return "; ".join([*parts, str(len(scene.plan))])


def _heights(floor: FloorPlan) -> Iterator[str]:
    """Surfaces, where their headings are on the map, and their heights in centimetres."""
    for area in floor.scene.areas:
        box = floor.surfaces[area.name]
        at = pointer((box.x + box.w / 2) / SIDE, (box.y + HEAD / 2) / SIDE)
        yield f"{area.name} {at} {100 * area.height:.0f}"


def _within_reach(scene: Scene) -> Iterator[str]:
    """What each arm could take or fill, opened and near: things of the task, and where they belong."""
    world = World(scene)
    start = world.start()
    open_scene = start._replace(closed=0)
    things = [asset.name for asset in concerned(scene)]
    places = [goal.place for goal in scene.task.goals if goal.place is not None]
    for number, robot in enumerate(scene.robots):
        kind = ROBOTS[robot.type]
        if not kind.arms:
            continue
        names = []
        for name in dict.fromkeys([*things, *places]):
            code = world.code[name]
            at = world.area(start, code)
            near = kind.mobile or at == start.at[number]
            moved = open_scene._replace(at=(*start.at[:number], at, *start.at[number + 1 :]))
            if name in things:
                reached = world.broken(moved, number, "Reach", [code]) is None
            else:
                reached = kind.low <= world.surface_height(start, code) <= kind.high
            if near and reached:
                names.append(name)
        yield " ".join([robot.id, *(names or ["nothing"])])


def subgoals(scene: Scene) -> Iterator[str]:
    """What each robot of the plan does, without ways and reaching."""
    for robot in scene.robots:
        actions = [step[robot.id] for step in scene.plan if robot.id in step]
        done = [" ".join(action) for action in actions if action[0] not in ("Move", "Reach")]
        if actions:
            yield " ".join([robot.id, *(done or ["Move"])])
