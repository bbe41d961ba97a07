"""Checking plans: is every action possible, are orders kept, is the goal reached, in how many steps?

`variant="default"` plays the rules of `world.toml`; `variant="released"` does what the released checker does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.games.viki.parse import Variant
from ludens.games.viki.released import check_released
from ludens.games.viki.rules import Code, Refused, World
from ludens.games.viki.scene import Action, Scene


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a checker says about a plan."""

    code: Code | None
    """The first reason why the plan is wrong; None when it is right."""
    message: str
    """One sentence: the step, the robot, the primitive and what was broken. Empty when the plan is right."""
    length: int
    """Steps with at least one action."""
    step: int | None = None
    """The step that was refused, from 1."""

    @property
    def right(self) -> bool:
        """Feasible, reaches the goal, and not longer than the limit."""
        return self.code is None

    @property
    def feasible(self) -> bool:
        """Every action can be done and orders are kept."""
        return self.code in (None, "goal", "long") or (self.code == "order" and self.step is None)

    @property
    def reached(self) -> bool:
        """Feasible, and the goal holds at the end."""
        return self.code in (None, "long")


def check(scene: Scene, plan: Sequence[Mapping[str, Action]], variant: Variant = "default") -> Verdict:
    """Check a plan; steps without actions do not count; more than `scene.limit` steps are too long."""
    steps = [step for step in plan if step]
    verdict = _verdict(scene, steps, variant)
    if verdict.right and scene.limit is not None and len(steps) > scene.limit:
        message = f"the plan reaches the goal in {len(steps)} steps, but {scene.limit} are enough"
        return Verdict("long", message, len(steps))
    return verdict


def _verdict(scene: Scene, steps: Sequence[Mapping[str, Action]], variant: Variant) -> Verdict:
    if variant == "released":
        code, message, refused = check_released(scene, steps) or (None, "", None)
        return Verdict(code, message, len(steps), refused)
    world = World(scene)
    state, now = world.start(), 0
    try:
        for number, step in enumerate(steps, 1):
            now = number
            for robot, action in step.items():
                world.well_formed(robot, action)
        for number, step in enumerate(steps, 1):
            now = number
            state = world.step(state, step)
    except Refused as error:
        return Verdict(error.code, f"step {now}, {error.message}", len(steps), now)
    missing = world.missing(state)
    if missing is not None:
        return Verdict("order" if missing.startswith("the required order") else "goal", missing, len(steps))
    return Verdict(None, "", len(steps))
