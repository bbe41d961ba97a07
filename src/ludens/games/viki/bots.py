"""Greedy bots, one for each level: what can be had without weighing alternatives."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.viki.act import Acting, write_step
from ludens.games.viki.activate import Activation
from ludens.games.viki.greedy import greedy_plan
from ludens.games.viki.plan import Planning, write_plan
from ludens.games.viki.points import POINTS
from ludens.games.viki.scene import Plan, Step
from ludens.games.viki.team import Teaming, write_turn
from ludens.games.viki.trace import Tracing


@dataclass
class GreedyTeam(Agent):
    """Level 1: names the types of all robots in the kitchen."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Activation)
        return Reply(action=json.dumps(sorted({robot.type for robot in ask.state.scene.robots})))


@dataclass
class GreedyPlan(Agent):
    """Level 2: one goal after the other, one robot at a time."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Planning)
        return Reply(action=write_plan(greedy_plan(ask.state.scene)))


@dataclass
class GreedyTrace(Agent):
    """Level 3: straight lines from robot to target, through furniture."""

    kind = "bot/greedy"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Tracing)
        lines = []
        for points in ask.state.truth:
            (ax, ay), (bx, by) = points[0], points[-1]
            parts = [number / (POINTS - 1) for number in range(POINTS)]
            lines.append([[round(ax + (bx - ax) * p, 1), round(ay + (by - ay) * p, 1)] for p in parts])
        return Reply(action=json.dumps(lines, separators=(",", ":")))


class _Follower(Agent):
    """Follows the greedy plan of an episode step by step, then waits."""

    kind = "bot/greedy"
    sees = "state"

    def begin(self) -> None:
        self.plan: Plan | None = None

    def next_step(self, state: Acting) -> Step:
        """The step of the plan that is due."""
        if self.plan is None:
            self.plan = greedy_plan(state.scene)
        return self.plan[state.steps] if state.steps < len(self.plan) else {}


@dataclass
class GreedyActor(_Follower):
    """Closed loop: plays the greedy plan."""

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Acting)
        return Reply(action=write_step(self.next_step(ask.state)))


@dataclass
class GreedyMate(_Follower):
    """A robot of a team: its own part of the greedy plan, and no messages."""

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Teaming)
        return Reply(action=write_turn(self.next_step(ask.state).get(ask.seat), ""))
