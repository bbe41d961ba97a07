"""Shortest plans with a cache, and the best team: the fewest robots that need no more steps than all
together.

Tasks that differ only in names have the same plans, so plans are searched in a renamed scene: areas and
things are numbered as goals, things and robots mention them, robots are sorted by type and area, things
are replaced by the first kind that behaves in the same way for these robots, and heights by one that the
same arms reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations
from math import inf

from ludens.games.viki.rules import RefusedStep, World
from ludens.games.viki.search import SearchResult, relevant, search, shortest_plan
from ludens.games.viki.world import (
    AREAS,
    KINDS,
    ROBOTS,
    Action,
    Area,
    Asset,
    Condition,
    Kind,
    KitchenTask,
    Plan,
    Robot,
    Scene,
    WorldState,
)

Types = tuple[str, ...]
"""Robot types, each once."""
Solver = Callable[[Scene, int | None], SearchResult]
"""Gives the shortest plan of at most so many steps."""
MOST_STATES = 4_000
"""Searches that need more states are given up with `SearchLimit`; the generator draws another scene then."""


@dataclass(frozen=True, slots=True)
class BestTeam:
    """The best team of a scene."""

    plan: Plan
    robots: tuple[str, ...]
    """Ids of one best team, in the order of the scene."""
    types: frozenset[Types]
    """The sets of types of all best teams, each sorted: one if level 1 has a unique answer."""


def best_team(
    scene: Scene, most_steps: int = 11, wanted: Types | None = None, *, solver: Solver | None = None
) -> BestTeam | None:
    """The best team; None if no plan of at most `most_steps` steps exists.

    Args:
        scene: The scene.
        most_steps: Longer plans are not looked for.
        wanted: Give up (None) as soon as it is clear that the best team does not consist of these types.
        solver: How plans are found, by default with `solve`.
    """
    robots, solver = scene.robots, solver or solve
    candidates = tuple(robot for robot in robots if wanted is None or robot.type in wanted)
    plans = _alone(scene, most_steps, candidates, solver)
    if plans is None:
        return None
    steps = min(map(len, plans.values()), default=most_steps + 1)
    faster = _plan(scene, candidates, steps - 1, solver) if len(candidates) > 1 else None
    if faster is not None:
        steps, plans = len(faster), {}
        for size in range(2, len(robots) + 1):
            others = [team for team in combinations(robots, size) if not _within(team, wanted)]
            if any(_plan(scene, team, steps, solver) is not None for team in others):
                return None
            teams = [team for team in combinations(robots, size) if _within(team, wanted)]
            every = {
                team: faster if team == candidates else _plan(scene, team, steps, solver) for team in teams
            }
            plans = {team: plan for team, plan in every.items() if plan is not None}
            if plans:
                break
    types = frozenset(tuple(sorted({robot.type for robot in team})) for team in plans)
    if not plans or (wanted is not None and types != {tuple(sorted(wanted))}):
        return None
    if len(candidates) < len(robots) and _plan(scene, robots, steps - 1, solver) is not None:
        return None
    team = next(iter(plans))
    return BestTeam(plans[team], tuple(robot.id for robot in team), types)


def _within(team: Sequence[Robot], wanted: Types | None) -> bool:
    return wanted is None or all(robot.type in wanted for robot in team)


def _alone(
    scene: Scene, most_steps: int, candidates: tuple[Robot, ...], solver: Solver
) -> dict[tuple[Robot, ...], Plan] | None:
    """The shortest plans of single robots; None if the only robot of the wanted types is not the best one."""
    steps, plans = most_steps, dict[Robot, Plan]()
    for robot in sorted(scene.robots, key=lambda robot: robot not in candidates):
        plan = _plan(scene, (robot,), steps, solver)
        if len(candidates) == 1 and (plan is None) == (robot in candidates):
            return None
        if plan is not None:
            steps, plans[robot] = len(plan), plan
    best = [robot for robot in scene.robots if robot in plans and len(plans[robot]) == steps]
    return {(robot,): plans[robot] for robot in best}


def _plan(scene: Scene, team: tuple[Robot, ...], limit: int, solver: Solver) -> Plan | None:
    return solver(replace(scene, robots=team), limit).plan


def solve(scene: Scene, limit: int | None = None) -> SearchResult:
    """The shortest plan, from the cache where a scene like it was searched before."""
    return shortest_plan(scene, limit=limit, max_states=MOST_STATES, searcher=_search)


def quick(scene: Scene, limit: int | None = None) -> SearchResult:
    """Like `solve`, but without spare containers, with which a plan might be shorter."""
    return _search(relevant(scene), frozenset(), limit, MOST_STATES)


@dataclass(slots=True)
class _SearchRecord:
    """What earlier searches have proved about a scene."""

    plan: Plan | None = None
    none_below: float = 0
    """No plan has fewer steps."""


@lru_cache(maxsize=100_000)
def _record(scene: Scene, containers: frozenset[str]) -> _SearchRecord:
    return _SearchRecord()


def _search(scene: Scene, containers: frozenset[str], limit: int | None, max_states: int) -> SearchResult:
    """A search in the renamed scene, unless the answer is known."""
    abstract, names = renamed(scene)
    new = {name: to for to, name in names.items()}
    spare = frozenset(new[name] for name in containers)
    record, most = _record(abstract, spare), inf if limit is None else limit
    states = 0
    if record.plan is None and most >= record.none_below:
        result = search(abstract, spare, limit, max_states)
        record.plan, states = result.plan, result.states
        record.none_below = most + 1 if result.plan is None else len(result.plan)
    if record.plan is None or len(record.plan) > most:
        return SearchResult(None, states)
    plan = [
        {names[robot]: (action[0], *(names[name] for name in action[1:])) for robot, action in step.items()}
        for step in record.plan
    ]
    return SearchResult(plan, states)


def renamed(scene: Scene) -> tuple[Scene, dict[str, str]]:
    """An equal scene with neutral names, and the name that each stands for."""
    areas = {area.name: area for area in scene.areas}
    assets = {asset.name: asset for asset in scene.assets}
    mentioned = [name for c in scene.task.conditions for name in (c.thing, c.place) if name is not None]
    things = list(dict.fromkeys([*(name for name in mentioned if name in assets), *assets]))
    robots = [*scene.robots]
    arms = frozenset(robot.type for robot in robots if ROBOTS[robot.type].arms)
    places = list(
        dict.fromkeys(
            name
            for name in (
                *mentioned,
                *(assets[name].place for name in things),
                *(robot.place for robot in sorted(robots, key=lambda robot: robot.type)),
            )
            if name in areas
        )
    )
    new = {name: f"a{number}" for number, name in enumerate(places)}
    new |= {name: f"t{number}" for number, name in enumerate(things)}
    robots.sort(key=lambda robot: (robot.type, int(new[robot.place][1:])))
    new |= {robot.id: f"R{number}" for number, robot in enumerate(robots)}

    def condition(old: Condition) -> Condition:
        return replace(old, thing=new[old.thing], place=None if old.place is None else new[old.place])

    task = KitchenTask(
        text="",
        family=0,
        template="",
        name="",
        goals=tuple(map(condition, scene.task.goals)),
        orders=tuple(tuple(tuple(map(condition, stage)) for stage in order) for order in scene.task.orders),
    )
    abstract = Scene(
        layout="",
        style=0,
        width=0.0,
        depth=0.0,
        areas=tuple(
            Area(new[name], 10.0 * number, 0.0, 1.0, 1.0, _height(areas[name].height, arms))
            for number, name in enumerate(places)
        ),
        assets=tuple(
            Asset(new[name], _alike(assets[name].kind, arms), new[assets[name].place], assets[name].closed)
            for name in things
        ),
        robots=tuple(Robot(new[robot.id], robot.type, new[robot.place]) for robot in robots),
        task=task,
    )
    return abstract, {to: name for name, to in new.items()}


@cache
def _alike(kind: str, arms: frozenset[str]) -> str:
    """The first kind that behaves like this one for these types of robots."""
    wanted = _behaviour(KINDS[kind], arms)
    return next(name for name, one in KINDS.items() if _behaviour(one, arms) == wanted)


def _behaviour(kind: Kind, arms: frozenset[str]) -> Kind:
    height = None if kind.height is None else _height(kind.height, arms)
    return replace(kind, group="", height=height)


@cache
def _height(height: float, arms: frozenset[str]) -> float:
    """A height that stands for all that the same of these types of robots reach."""
    reached = _reached(height, arms)
    return next(one for one in (*_HEIGHTS, height) if _reached(one, arms) == reached)


def _reached(height: float, arms: frozenset[str]) -> set[str]:
    return {name for name in arms if ROBOTS[name].low <= height <= ROBOTS[name].high}


_HEIGHTS = sorted({height for heights in AREAS.values() for height in heights})


def greedy_plan(scene: Scene) -> Plan:
    """The plan from the start; it ends where no robot can go on."""
    world = World(scene)
    state, plan = world.start(), Plan()
    for goal in sorted(scene.task.goals, key=lambda goal: goal.active is None):
        if world.holds(state, goal):
            continue
        for robot in world.robots:
            steps = [{robot: action} for action in _errand(world, state, robot, goal)]
            try:
                state = world.run(state, steps)
            except RefusedStep:
                continue
            plan += steps
            break
    return plan


def _errand(world: World, state: WorldState, robot: str, goal: Condition) -> Iterator[Action]:
    """The actions with which one robot would fulfil a goal."""
    if goal.place is None:
        yield from (("Move", goal.thing), ("Interact", goal.thing))
        return
    kind = world.types[world.code[robot] - world.first_robot]
    if kind.pushes:
        yield from (("Move", goal.thing), ("Push", goal.thing, goal.place))
        return
    if kind.mobile:
        yield ("Move", goal.thing)
    yield from _opened(world, state, goal.thing)
    yield from (("Reach", goal.thing), ("Grasp", goal.thing))
    if kind.mobile:
        yield ("Move", goal.place)
    yield ("Place", goal.place)


def _opened(world: World, state: WorldState, thing: str) -> Iterator[Action]:
    """Open what the thing is inside of."""
    for code in world.chain(state, world.code[thing]):
        if world.first_asset <= code < world.first_robot and state.closed >> (code - world.first_asset) & 1:
            yield from (("Reach", world.names[code]), ("Open", world.names[code]))
