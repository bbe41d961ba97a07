"""The shortest joint plan, proven: A* over joint steps with a bound that never overestimates.

Among all shortest plans there is one with the fewest actions, and among those one whose actions come as
early as possible. Only such plans are searched, so these cuts lose nothing:

- **Relevance.** Things that no goal or order names, that cover or carry nothing named, that no quadruped of
  the team can push and that have no height of their own, are left out. A plate, bowl or tray that no goal
  names could only serve as a vehicle. Say the last of the things on it is put there in step s. Then somebody
  grasps the vehicle (s+1 at the earliest), moves (s+2) and puts it down (s+3), and each thing is reached,
  grasped and put down (s+6), by as many hands as there are things. Without the vehicle the things stay in
  the hands that loaded them: a robot takes one over and moves in the same step (s), puts it down (s+1),
  comes back (s+2), and so on: the second thing is down at s+4, and the third in the other area at s+6, as
  early as with the vehicle. For three things to be down at s+6 with the vehicle, three hands must unload
  that did not load (a mobile robot that loads could carry the thing itself), so that at most one robot
  loads besides the carrier, and loading takes three steps more. No task has more than three things to carry.
- **Close** is never useful: no goal wants a thing closed, and being closed only forbids.
- **Moves.** Any area is one Move away, so two Moves of a robot in a row are one too many, and a Move
  after waiting could have come earlier. Exception: another robot hands something over to the robot, or
  interacts with what it holds, in the same step. Robots meet where one of them already is, and go only
  where something relevant, a destination or another robot with arms is.
- **Reaches** that are not followed by a Grasp or Open before the next Move or before they drop out are
  wasted.
- **Waiting.** A Reach, an Open, or a Grasp of a thing that holds nothing and is not at a place that a
  condition names for it, can be done one step earlier if it was possible then (in a step where it clashes
  with nothing): none of them takes anything away from other robots. So after waiting, a robot does not do
  what it could have done.
- **Putting down** in passing happens in the area itself, not in furniture that stands there and that no
  goal names (unless a robot of the team cannot reach the height of the area).

A state that was reached before, no later and with no more of these restrictions, is not searched again.
When nothing is left to search, no plan exists. A plan is checked by the checker's own rules before it is
returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from ludens.core.errors import LudensError
from ludens.games.viki.bound import Bound
from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.possible import possible
from ludens.games.viki.rules import Refused, State, World
from ludens.games.viki.scene import Plan, Scene

Chosen = tuple[int, str, tuple[int, ...]]
"""Robot, primitive, arguments."""


class _Option(NamedTuple):
    """Something that a robot may do."""

    robot: int
    primitive: str
    args: tuple[int, ...]
    named: frozenset[int]
    """The assets it names; none for Move."""
    bit: int
    """The restriction that forbids it after waiting; 0 for none."""

    def clashes(self, other: _Option) -> bool:
        """Whether both act on one asset."""
        if self.named.isdisjoint(other.named):
            return False
        return self.primitive not in ("Reach", "Place") or other.primitive not in ("Reach", "Place")


@dataclass(frozen=True, slots=True)
class Result:
    """What the planner found."""

    plan: Plan | None
    """A shortest plan; None when no plan exists (within the limit, where there is one)."""
    states: int
    """States that were expanded."""


class SearchLimit(LudensError):
    """The search was given up: neither a plan nor a proof."""


def shortest_plan(scene: Scene, *, limit: int | None = None, max_states: int = 2_000_000) -> Result:
    """The shortest joint plan of all robots in the scene.

    Args:
        scene: The scene; what it says about plans (`limit`, `plan`) is ignored.
        limit: Look only for plans of at most this many steps.
        max_states: Give up after expanding this many states.
    """
    small = relevant(scene)
    world = World(small)
    if not possible(world):
        return Result(None, 0)
    return _Search(world).run(limit, max_states)


def tidy(scene: Scene, plan: Plan) -> Plan:
    """The plan without actions that it does not need, such as those of robots that wait."""
    world = World(scene)
    plan = [dict(step) for step in plan]
    for number in reversed(range(len(plan))):
        for robot in list(plan[number]):
            shorter = {other: action for other, action in plan[number].items() if other != robot}
            if shorter and _works(world, [*plan[:number], shorter, *plan[number + 1 :]]):
                plan[number] = shorter
    return plan


def _works(world: World, plan: Plan) -> bool:
    state = world.start()
    try:
        for step in plan:
            state = world.step(state, step)
    except Refused:
        return False
    return world.missing(state) is None


def relevant(scene: Scene) -> Scene:
    """The scene without things that cannot matter."""
    named = {
        name
        for condition in (*scene.task.goals, *(c for order in scene.task.orders for s in order for c in s))
        for name in (condition.thing, condition.place)
        if name is not None
    }
    types = [ROBOTS[robot.type] for robot in scene.robots]
    heights = {area.name: area.height for area in scene.areas}
    pusher = any(kind.pushes for kind in types)
    for asset in scene.assets:
        kind = KINDS[asset.kind]
        if (kind.pushable and pusher) or (kind.height is not None and not kind.fixture):
            named.add(asset.name)
        if kind.fixture and kind.holds and kind.height is not None and asset.place in heights:
            height = heights[asset.place]
            if any(robot.arms and not robot.low <= height <= robot.high for robot in types):
                named.add(asset.name)
    places = {asset.name: asset.place for asset in scene.assets}
    for name in list(named):
        while name in places:
            named.add(name)
            name = places[name]
    return replace(scene, assets=tuple(asset for asset in scene.assets if asset.name in named))


class _Search:
    def __init__(self, world: World) -> None:
        self.world = world
        self.bound = Bound(world)
        task = world.scene.task
        conditions = [*task.goals, *(c for order in task.orders for stage in order for c in stage)]
        first = world.first_asset
        self.wanted = {
            world.code[c.thing] - first for c in conditions if c.active and world.code[c.thing] >= first
        }
        """Things to interact with."""
        self.named = {(world.code[c.thing] - first, world.code[c.place]) for c in conditions if c.place}
        """Places that conditions name for things."""
        self.assets = range(len(world.assets))
        self.movable = [asset for asset in self.assets if not world.kinds[asset].fixture]
        self.containers = [asset for asset in self.assets if world.kinds[asset].holds]
        self.doors = [asset for asset in self.assets if world.kinds[asset].opens]
        self.boxes = [asset for asset in self.assets if world.kinds[asset].pushable]
        self.robots = range(len(world.robots))
        start = world.start()
        visited = {code for _, code in self.named if code < first}
        visited.update(world.area(start, first + asset) for asset in self.assets)
        visited.update(start.at[robot] for robot in self.bound.armed)
        self.areas = sorted(visited)
        """Where anything relevant, a destination or a robot with arms is: nothing relevant leaves them."""
        waiting = [*self.wanted, *self.boxes]
        if any(not world.kinds[asset].fixture for asset in waiting):
            self.dog_areas = self.areas
        else:
            self.dog_areas = sorted({world.area(start, first + asset) for asset in waiting})
        self.width = 3 * len(world.assets) + 1
        """Bits of restrictions for each robot: no Move; then Reach, Grasp, Open of each asset."""

    def run(self, limit: int | None, max_states: int) -> Result:
        """A* from the start."""
        world, bound = self.world, self.bound
        start = world.start()
        if world.missing(start) is None:
            return Result([], 0)
        ticket = count()
        parents: list[tuple[int, tuple[Chosen, ...]]] = [(-1, ())]
        heap = [(bound(start), 0, next(ticket), start, 0, 0)]
        seen: dict[State, list[tuple[int, int]]] = {start: [(0, 0)]}
        expanded = 0
        while heap:
            total, minus_steps, _, state, flags, number = heappop(heap)
            steps = -minus_steps
            if limit is not None and total > limit:
                break
            if (steps, flags) not in seen[state]:
                continue
            if world.missing(state) is None:
                return Result(self._plan(parents, number), expanded)
            expanded += 1
            if expanded > max_states:
                raise SearchLimit(f"no plan and no proof after {max_states} states; use a smaller scene.")
            for chosen, new, new_flags in self._successors(state, flags):
                estimate = steps + 1 + bound(new)
                if limit is not None and estimate > limit:
                    continue
                known = seen.setdefault(new, [])
                if any(t <= steps + 1 and not f & ~new_flags for t, f in known):
                    continue
                known[:] = [(t, f) for t, f in known if t < steps + 1 or new_flags & ~f]
                known.append((steps + 1, new_flags))
                parents.append((number, chosen))
                heappush(heap, (estimate, -steps - 1, next(ticket), new, new_flags, len(parents) - 1))
        return Result(None, expanded)

    def _plan(self, parents: list[tuple[int, tuple[Chosen, ...]]], number: int) -> Plan:
        names = self.world.names
        steps: Plan = []
        while number > 0:
            number, chosen = parents[number]
            steps.append(
                {
                    self.world.robots[r]: (primitive, *(names[c] for c in args))
                    for r, primitive, args in chosen
                }
            )
        steps.reverse()
        assert _works(self.world, steps)
        return steps

    def _successors(self, state: State, flags: int) -> Iterator[tuple[tuple[Chosen, ...], State, int]]:
        world, width = self.world, self.width
        options = [self._options(state, robot) for robot in self.robots]
        allowed = [
            [
                option
                for option in options[robot]
                if not flags >> robot * width + option.bit & 1 or not option.bit
            ]
            for robot in self.robots
        ]
        for robot in self.robots:
            if flags >> robot * width & 1 and not self._may_be_touched(state, robot):
                allowed[robot] = [option for option in allowed[robot] if option.primitive != "Move"]
        sleepers = [[option for option in options[robot] if option.bit] for robot in self.robots]
        ordered = bool(world.scene.task.orders)
        for joint in self._joint(allowed, 0, []):
            if not joint:
                continue
            chosen = tuple((option.robot, option.primitive, option.args) for option in joint)
            touched, given = self._touched(state, chosen)
            if given and world.clash(state, chosen) is not None:
                continue
            new_flags, idle = 0, set(self.robots)
            for robot, primitive, _ in chosen:
                idle.discard(robot)
                if primitive == "Move":
                    if flags >> robot * width & 1 and robot not in touched:
                        break
                    new_flags |= 1 << robot * width
            else:
                new = world.apply(state, chosen)
                if ordered:
                    if world.order_failure(state, new) is not None:
                        continue
                    new = world.progress(new)
                for robot in idle:
                    bits = 1
                    for option in sleepers[robot]:
                        if robot not in given and not any(option.clashes(other) for other in joint):
                            bits |= 1 << option.bit
                    new_flags |= bits << robot * width
                yield chosen, new, new_flags

    def _joint(
        self, options: Sequence[Sequence[_Option]], robot: int, chosen: list[_Option]
    ) -> Iterator[list[_Option]]:
        if robot == len(options):
            yield chosen
            return
        for option in options[robot]:
            if not any(option.clashes(other) for other in chosen):
                yield from self._joint(options, robot + 1, [*chosen, option])
        yield from self._joint(options, robot + 1, chosen)

    def _touched(self, state: State, chosen: Sequence[Chosen]) -> tuple[set[int], set[int]]:
        """Robots to which something is given or whose load is acted on; those to which something is given."""
        touched, given = set[int](), set[int]()
        for robot, primitive, args in chosen:
            if primitive == "Handover":
                given.add(args[1] - self.world.first_robot)
            elif primitive == "Interact":
                holder = self.world.holder(state, args[0])
                if holder is not None and holder != robot:
                    touched.add(holder)
        return touched | given, given

    def _options(self, state: State, robot: int) -> list[_Option]:
        """What one robot may do, without waiting."""
        world, first, size = self.world, self.world.first_asset, len(self.world.assets)
        kind = world.types[robot]
        here = state.at[robot]
        found: list[_Option] = []

        def add(primitive: str, *args: int, bit: int = 0) -> None:
            if world.applicable(state, robot, primitive, args):
                named = frozenset(code for code in args if first <= code < world.first_robot)
                found.append(_Option(robot, primitive, args, named, bit))

        if kind.arms:
            reached = state.reached[robot]
            for asset in reached:
                if not world.kinds[asset].fixture:
                    plain = not world.kinds[asset].holds and (asset, state.place[asset]) not in self.named
                    add("Grasp", first + asset, bit=1 + size + asset if plain else 0)
                elif state.closed >> asset & 1:
                    add("Open", first + asset, bit=1 + 2 * size + asset)
            free = world.free_hands(state, robot)
            if free < kind.arms:
                add("Place", here)
                for asset in self.containers:
                    if world.area(state, first + asset) == here:
                        add("Place", first + asset)
                for other in self.bound.armed:
                    if other != robot and state.at[other] == here:
                        for asset in world.carried(state, robot):
                            add("Handover", first + asset, world.first_robot + other)
            if free > 0 and not (reached and len(reached) >= free and self._pending(state, reached[0])):
                for asset in (*self.movable, *self.doors):
                    if asset in reached or world.area(state, first + asset) != here:
                        continue
                    if world.kinds[asset].fixture and not state.closed >> asset & 1:
                        continue
                    if state.place[asset] < world.first_robot:
                        add("Reach", first + asset, bit=1 + asset)
        for asset in self.wanted:
            if not state.active >> asset & 1:
                add("Interact", first + asset)
        if kind.pushes:
            for asset in self.boxes:
                if world.area(state, first + asset) == here:
                    for area in self.areas:
                        if area != state.place[asset]:
                            add("Push", first + asset, area)
        if kind.mobile and not any(self._pending(state, asset) for asset in state.reached[robot]):
            found.extend(
                _Option(robot, "Move", (area,), frozenset(), 0)
                for area in (self.areas if kind.arms else self.dog_areas)
                if area != here
            )
        return found

    def _pending(self, state: State, asset: int) -> bool:
        """Whether a reached thing has not served its purpose yet."""
        return not self.world.kinds[asset].fixture or bool(state.closed >> asset & 1)

    def _may_be_touched(self, state: State, robot: int) -> bool:
        world = self.world
        here = state.at[robot]
        if not world.types[robot].arms:
            return False
        for other in self.robots:
            if other != robot and state.at[other] == here:
                if world.free_hands(state, robot) and world.first_robot + other in state.place:
                    return True
                if any(
                    world.holder(state, world.first_asset + asset) == robot and not state.active >> asset & 1
                    for asset in self.wanted
                ):
                    return True
        return False
