"""Reasoning for supervised warm-up, from templates and the planner's own plan.

Four parts: what the task needs, which robots are seen, what each of them can do for it, and the conclusion.
"""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.floor import Floor, Snapshot
from ludens.games.viki.rules import tell
from ludens.games.viki.scene import Asset, Robot, Scene
from ludens.games.viki.trace import Errand


def team_reasoning(scene: Scene) -> str:
    """Why the best team is the best."""
    team = ", ".join(scene.team)
    return "\n".join([_task(scene), *_seen(scene), *_judged(scene), f"So the team is: {team}."])


def plan_reasoning(scene: Scene) -> str:
    """What each step of a shortest plan is for."""
    lines = [_task(scene), *_seen(scene), *_judged(scene)]
    for number, step in enumerate(scene.plan, 1):
        said = "; ".join(f"{robot} {' '.join(action)}" for robot, action in step.items())
        lines.append(f"Step {number}: {said}.")
    return "\n".join([*lines, f"The task is then done in {len(scene.plan)} steps."])


def trace_reasoning(scene: Scene, errands: tuple[Errand, Errand]) -> str:
    """Where two paths begin and end."""
    floor = Floor(scene, Snapshot.at_start(scene))
    lines = [f"The task is: {scene.task.text}"]
    for who, errand in zip(("I", "My partner"), errands, strict=True):
        (ax, ay), (bx, by) = errand.points[0], errand.points[-1]
        am, goes = ("am", "go") if who == "I" else ("is", "goes")
        lines.append(
            f"{who} {am} {errand.robot}, at [{ax:g}, {ay:g}]. The {errand.target} is in the area "
            f"{floor.area_of(errand.target)}, so {who if who == 'I' else 'it'} {goes} to [{bx:g}, {by:g}]"
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
    floor = Floor(scene, Snapshot.at_start(scene))
    for asset in scene.assets:
        if asset.name in named and asset.name in floor.centres:
            yield f"I see the {asset.name} {_where(scene, asset)}."
    robots = ", ".join(f"{robot.id} is a {robot.type} at {robot.place}" for robot in scene.robots)
    yield f"I see {len(scene.robots)} robot{'s' * (len(scene.robots) > 1)}: {robots}."


def _where(scene: Scene, asset: Asset) -> str:
    inside = {one.name for one in scene.assets}
    state = f", {'closed' if asset.closed else 'open'}" if KINDS[asset.kind].opens else ""
    return f"{'in or on' if asset.place in inside else 'at'} the {asset.place}{state}"


def _judged(scene: Scene) -> Iterator[str]:
    for robot in scene.robots:
        mine = [action for step in scene.plan for one, action in step.items() if one == robot.id]
        if robot.needed:
            kinds = ", ".join(dict.fromkeys(action[0] for action in mine)) or "helps"
            yield f"{robot.id} ({robot.type}) is needed: {_can(robot)}; it does {kinds}."
        else:
            yield f"{robot.id} ({robot.type}) is not needed: {_can(robot)}; the others do it as fast."


def _can(robot: Robot) -> str:
    kind = ROBOTS[robot.type]
    if not kind.arms:
        return "it has no arm and can only move, push and inspect"
    hands = (
        f"it has {kind.arms} arm{'s' * (kind.arms > 1)} and reaches from {kind.low:g} m to {kind.high:g} m"
    )
    return hands if kind.mobile else f"{hands}, but only in its own area, {robot.place}"


def _bends(errand: Errand) -> bool:
    (ax, ay), (bx, by) = errand.points[0], errand.points[-1]
    length = max(1e-9, ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5)
    return any(abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length > 2 for x, y in errand.points)
