"""Bots to imitate: right answers, or guesses, after reasoning in sentences or in few words."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.viki.data import PRIMITIVES, ROBOTS
from ludens.games.viki.level import Answered
from ludens.games.viki.plan import Planning, write_plan
from ludens.games.viki.points import points_of
from ludens.games.viki.reasoning import needed, reasoning, seen_briefly
from ludens.games.viki.scene import Plan, Scene
from ludens.games.viki.trace import Tracing


@dataclass
class Oracle(Agent):
    """The right answer: the best team, a shortest plan, the true paths."""

    reason: bool = option(False, help="reason first, for imitation")
    short: bool = option(False, help="reason and answer in few words, for small models")
    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Answered)
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
        assert isinstance(state, Answered)
        if isinstance(state, Planning):
            answer = write_plan(random_plan(state.scene, self.random))
        else:
            answer = view_of(self.game, RenderOptions(), 0).guess(state, ask.seat, self.random)
        return reply(ask, state, seen_briefly(state), answer, short=True)


def random_plan(scene: Scene, random: Stream) -> Plan:
    """Three to six steps of one or two robots: primitives of their types with names of the kitchen."""
    things = [asset.name for asset in scene.assets]
    words = {"thing": things, "box": things, "robot": [robot.id for robot in scene.robots]}
    anything = [*things, *(area.name for area in scene.areas)]
    plan: Plan = []
    for _ in range(random.between(3, 6)):
        step = {}
        for robot in random.sample(scene.robots, random.between(1, min(2, len(scene.robots)))):
            primitive = PRIMITIVES[random.choice(ROBOTS[robot.type].primitives)]
            names = [random.choice(words.get(what, anything)) for what in primitive.arguments]
            step[robot.id] = (primitive.name, *names)
        plan.append(step)
    return plan


def reply(ask: Ask, state: Answered, thoughts: str, answer: str, *, short: bool) -> Reply:
    """The reply of a bot: thoughts in tags where there are any, then the answer."""
    said = shortened(state, answer) if short else answer
    thought = f"<think>{thoughts}</think>" if thoughts else ""
    return Reply(f"{thought}{ask.format.write(said)}", state.canonical(said))


def shortened(state: Answered, answer: str) -> str:
    """An answer in fewer characters: steps without numbers, whole coordinates."""
    if isinstance(state, Tracing):
        points = [[[round(x), round(y)] for x, y in path] for path in points_of(answer)]
        return json.dumps(points, separators=(",", ":"))
    found = json.loads(answer)
    if found and isinstance(found[0], dict):
        found = [{"actions": step["actions"]} for step in found]
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)
