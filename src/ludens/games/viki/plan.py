"""Level 2: a plan for the robots, with feedback from the checker where attempts are left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ludens.core.errors import MoveError
from ludens.core.options import option
from ludens.games.viki.checker import Verdict, check
from ludens.games.viki.level import TEACHERS, Answered, Level
from ludens.games.viki.parse import Variant, read_plan
from ludens.games.viki.scene import Action
from ludens.games.viki.source import Shown

LONGEST = 60_000


@dataclass(frozen=True)
class Plan(Level):
    """Plan what every robot does, step by step (VIKI level 2).

    Seats: `planner`, alone; one move, and up to `feedback` more after a wrong plan.
    Observation: the kitchen with its robots, and the task; after a wrong plan also that plan and, with
    `told`, the checker's sentence.
    Actions: a JSON list of steps, each with at most one action a robot.
    Rewards: 1 for a plan that can be done, reaches the goal and, with `step_penalty`, is not longer than the
    shortest, else 0.
    """

    name = "viki/plan"
    view_class = "ludens.games.viki.views:PlanView"
    bots = {"greedy": "ludens.games.viki.bots:GreedyPlan", **TEACHERS}

    feedback: int = option(0, low=0, high=10, help="further attempts after a wrong plan")
    told: bool = option(True, help="whether the checker says what was wrong before a further attempt")
    step_penalty: bool = option(True, help="whether a plan that is longer than the shortest earns nothing")

    @property
    def rules_variant(self) -> Variant:
        """The rule set: that of the released checker for released data."""
        return "released" if self.data else "default"

    @property
    def question(self) -> bool:  # type: ignore[override]
        """With feedback there are several answers."""
        return not self.feedback

    def start(self, seed: int) -> Planning:
        return Planning(self, self.shown(seed))


class Planning(Answered):
    """A scene, the plans that were tried and what the checker says about them."""

    game: Plan
    longest = LONGEST

    @property
    def attempts(self) -> int:  # type: ignore[override]
        return 1 + self.game.feedback

    def canonical(self, answer: str) -> str:
        return write_plan(read_plan(answer, self.game.rules_variant))

    @property
    def verdicts(self) -> list[Verdict]:
        """What the checker says about each plan."""
        return [verdict_of(self.given, answer, self.game.rules_variant) for answer in self.answers]

    @property
    def accuracies(self) -> list[float]:
        if self.game.step_penalty:
            return [float(verdict.right) for verdict in self.verdicts]
        return [float(verdict.reached) for verdict in self.verdicts]

    def solution(self, seat: str) -> str | None:
        return write_plan(self.scene.plan) if self.scene.plan else None

    @property
    def facts(self) -> dict[str, Any]:
        verdicts = self.verdicts
        last = verdicts[-1] if verdicts else None
        reached = last is not None and last.reached
        limit = self.scene.limit
        return {
            **super().facts,
            "right": bool(last and last.right),
            "rights": [verdict.right for verdict in verdicts],
            "feasible": bool(last and last.feasible),
            "reached": reached,
            "code": last.code if last else None,
            "length": last.length if last else None,
            "shortest": limit,
            "above": last.length - limit if last and reached and limit is not None else None,
        }


@lru_cache(maxsize=4096)
def verdict_of(given: Shown, answer: str, variant: Variant) -> Verdict:
    """What the checker says about an answer; an empty one could not be read."""
    try:
        return check(given.scene, read_plan(answer, variant), variant)
    except MoveError as error:
        reason = str(error) if answer else "the answer could not be read"
        return Verdict("format", reason.removesuffix("."), 0)


def write_plan(plan: Sequence[Mapping[str, Action]]) -> str:
    """The canonical form of a plan: compact JSON."""
    steps = [
        {"step": number, "actions": {robot: list(action) for robot, action in step.items()}}
        for number, step in enumerate(plan, 1)
    ]
    return json.dumps(steps, separators=(",", ":"), ensure_ascii=False)
