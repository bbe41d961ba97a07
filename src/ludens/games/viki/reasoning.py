"""Reasoning for supervised warm-up, from templates and the planner's own plan.

Four parts: what the task needs, which robots are seen, what each of them can do for it, and the conclusion.
Small models learn it in few words: where things and robots are, and which robots are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.pointing import pointer
from ludens.games.viki.activate import Activation
from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.floor import ROBOT, SIDE, Floor, Snapshot
from ludens.games.viki.level import Answered
from ludens.games.viki.rules import tell
from ludens.games.viki.scene import Asset, Robot, Scene
from ludens.games.viki.trace import Errand, Tracing


def reasoning(state: Answered) -> str:
    """What leads to the right answer, in sentences."""
    if isinstance(state, Tracing):
        return trace_reasoning(state.scene, state.errands)
    return team_reasoning(state.scene) if isinstance(state, Activation) else plan_reasoning(state.scene)


def seen_briefly(state: Answered) -> str:
    """Where the things of the task and the robots are: "bread 42: rack; R1 44: fetch rack; ".

    What is not in view has no place on the map.
    """
    if isinstance(state, Tracing):
        ends = [(errand.robot, errand.points[0], errand.points[-1]) for errand in state.errands]
        return "".join(f"{robot} {ax:.0f} {ay:.0f} {bx:.0f} {by:.0f}; " for robot, (ax, ay), (bx, by) in ends)
    scene = state.scene
    floor = Floor(scene, Snapshot.at_start(scene))
    middles = {robot: (x, y - ROBOT / 2) for robot, (x, y) in floor.robots.items()} | floor.centres
    at = {name: f" {pointer(x / SIDE, y / SIDE)}" for name, (x, y) in middles.items()}
    things = [f"{one.name}{at.get(one.name, '')} {one.place}{_shut(one)}" for one in _concerned(scene)]
    robots = [f"{robot.id}{at.get(robot.id, '')} {robot.type} {robot.place}" for robot in scene.robots]
    return "".join(f"{seen}; " for seen in (*things, *robots))


def needed(state: Answered) -> str:
    """The robots that the task needs: "R1 R3"; nothing where the paths of two robots are asked for."""
    if isinstance(state, Tracing):
        return ""
    return " ".join(robot.id for robot in state.scene.robots if robot.needed)


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


def _concerned(scene: Scene) -> list[Asset]:
    """The things that goals name, and what they are in. What is not in the picture, the words tell."""
    things = {asset.name: asset for asset in scene.assets}
    found: dict[str, Asset] = {}
    for goal in scene.task.goals:
        for name in (goal.thing, goal.place or ""):
            while name in things and name not in found:
                found[name] = things[name]
                name = things[name].place
    return list(found.values())


def _shut(asset: Asset) -> str:
    return f" {'closed' if asset.closed else 'open'}" if KINDS[asset.kind].opens else ""


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
