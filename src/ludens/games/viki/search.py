"""A* over joint steps, with a bound that never overestimates.

Among all shortest plans there is one with the fewest actions, and among those one whose actions come as
early as possible. Only such plans are searched, so these cuts lose nothing:

- **Close** is never useful: no goal wants a thing closed, and being closed only forbids.
- **Moves.** Any area is one Move away, so two Moves of a robot in a row are one too many, and a Move
  after waiting could have come earlier, unless the robot waited to be handed something, or while another
  robot interacted with what it holds: neither is possible while it moves. Neither holds for a robot
  that carries something whose area a condition follows (`along`): where it passes matters. Robots meet where
  one of them already is, and go only where something relevant, a destination or another robot with arms is.
- **Reaches** that are not followed by a Grasp or Open before the next Move or before they drop out are
  wasted.
- **Waiting.** A Reach, an Open, or a Grasp of a thing that holds nothing and is not at a place that a
  condition names for it, can be done one step earlier if it was possible then (in a step where it clashes
  with nothing): none of them takes anything away from other robots. So after waiting, a robot does not do
  what it could have done.

A state that was reached before, no later and with no more of these restrictions, is not searched again.

What a shortest plan can do without is left out of the search:

**Left out** is every thing that no condition names, that nobody holds at the start, in which nothing kept
lies at the start, and that is no box (boxes can be pushed and have a height of their own). Containers are
left out only if they are directly in an area, and furniture with a height of its own only if all arms reach
the height of that area.

**Lemma.** A plan can be done, in no more steps, without the things that are left out, unless somebody in it

- *lifts*: grasps a container that is left out while something kept lies on it;
- *parks*: puts a kept thing into a container left out, in an area where a condition does not want it yet: a
  later stage of an order, or a negated condition, names this area for the thing; or
- *stacks*: puts a kept thing into a container left out that is itself in or on another thing.

*Proof.* Read the plan without the actions on things left out (Reach, Grasp, Handover, Interact, Open,
Close), replace targets of Move and Place that are left out by the area that they are in, and skip a Place
of a robot that holds nothing kept. By induction over the steps, the states of both plans agree in this:

- Robots are in the same areas; kept things are closed, and interacted with, in both or in neither.
- A kept thing is where it was, or directly in the area if it was in a container left out: nobody stacks, so
  that container is directly in the area, and stays there as long as the thing is in it, because nobody
  lifts.
- A robot holds the same kept things and nothing else, so it has at least as many free hands.
- What a robot has reached, as far as kept, is the end of what it has reached now: a queue loses its oldest
  entries when it is longer than there are free hands, and now there are fewer entries and no fewer hands.

So every precondition still holds. `free_hand`, `second_free_hand`, `hand_or_holding`, `reached`,
`carrying`, `carries_target`, `together`, `in_radius`, `unheld`, `free`, `set_down`, `not_active`,
`is_closed` and `is_open` by these four points; `uncovered` and `not_closed` because what a thing is in now,
it was in before; `in_height` because things left out have no height of their own, except for furniture in
areas that all arms reach; `surface_in_height` for the same reason; `receptacle` because areas hold
everything. Actions name no other things than before, things are in fewer others, and robots hold fewer, so
actions clash no more. A condition that follows places (`along`) or asks for an interaction is true
in both or in neither. One that names a direct place is true now if it was true before; only for a thing in
a container left out it may be true now and not before. Goals and first stages of orders may be true more
often, and in the others nobody parks. Steps in which nothing is left to do change nothing and are skipped
(where an order is satisfied at the start, so that the first step counts, the planner leaves nothing out). ∎

Robots without arms are left out where no condition asks for an interaction and there is no box: they could
only move.

Conversely, a plan without these things is a plan with them: nobody holds them, and nothing kept is in them.

So only containers that are left out and can be lifted, parked in or stacked can make a plan shorter: the
*spare* containers. The planner first searches without them. A shorter plan has to lift, park or stack,
which takes time (`SpareUse`), so in most tasks nothing more is to be done. Else it searches once more, with
the spare containers, for a shorter plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, product
from typing import NamedTuple

from ludens.core.errors import LudensError
from ludens.games.viki.bound import Bound, SpareUse, early, possible, steps_after_use
from ludens.games.viki.rules import CHANGING, FIXED, STAYS, TAKES, RefusedStep, World
from ludens.games.viki.world import KINDS, PRIMITIVES, ROBOTS, Plan, Scene, Step, WorldState

RobotAction = tuple[int, str, tuple[int, ...]]
"""Robot, primitive, arguments."""


class _Option(NamedTuple):
    """Something that a robot may do."""

    action: RobotAction
    named: int
    """Bit set of the assets it names; 0 for Move."""
    shares: bool
    """Whether another action that shares may name the same asset in one step."""
    bit: int
    """The restriction that forbids it after waiting; 0 for none."""
    receiver: int
    """The robot to which something is handed over; -1 for none."""
    touched: int
    """The other robot that holds what is interacted with; -1 for none."""
    inside: int
    """Bit set of everything its target is in, on or held by: nobody else may take that away. Twice, the
    second time moved up, for what may not be lifted either."""
    taken: int
    """The bit of what it takes away from where it is, or lifts."""


class _Joint(NamedTuple):
    """What some of the robots do in one step."""

    options: tuple[_Option, ...] = ()
    named: int = 0
    """Bit set of the assets that are named."""
    alone: int = 0
    """Those that are named by an action that does not share."""
    inside: int = 0
    taken: int = 0

    def clashes(self, option: _Option) -> bool:
        if option.named & (self.alone if option.shares else self.named):
            return True
        return bool(option.inside & self.taken or option.taken & self.inside)

    def also(self, option: _Option) -> _Joint:
        alone = self.alone if option.shares else self.alone | option.named
        return _Joint(
            (*self.options, option),
            self.named | option.named,
            alone,
            self.inside | option.inside,
            self.taken | option.taken,
        )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found."""

    plan: Plan | None
    """A shortest plan; None when no plan exists (within the limit, where there is one)."""
    states: int
    """States that were expanded."""


class SearchLimit(LudensError):
    """The search was given up: neither a plan nor a proof."""


class PlanSearch:
    """The search in one world.

    Args:
        world: The scene with its rules.
        spare: Containers of which one must be used: the search without them has been made.
    """

    def __init__(self, world: World, spare: frozenset[str] = frozenset()) -> None:
        self.world = world
        self.bound = Bound(world)
        self.use = SpareUse.of(self.bound, spare) if spare else None
        every = world.scene.task.conditions
        first = world.first_asset
        self.wanted = {
            world.code[c.thing] - first for c in every if c.active and world.code[c.thing] >= first
        }
        """Things to interact with."""
        self.named = {(world.code[c.thing] - first, world.code[c.place]) for c in every if c.place}
        """Places that conditions name for things."""
        self.followed = {
            world.code[c.thing] for c in every if c.along or world.code[c.thing] >= world.first_robot
        }
        """Things and robots of which conditions name the area."""
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
        self.unused = 1 << len(world.robots) * self.width if spare else 0
        """The last restriction: a spare container must still be used."""
        self.fixed: dict[RobotAction, bool] = {}

    def run(self, limit: int | None, max_states: int) -> SearchResult:
        """A* from the start."""
        world = self.world
        start = world.start()
        if world.reached(start):
            return SearchResult([], 0)
        ticket = count()
        parents: list[tuple[int, tuple[RobotAction, ...]]] = [(-1, ())]
        least = self._estimate(start, self.unused, limit)
        if (limit is not None and least > limit) or not possible(world):
            return SearchResult(None, 0)
        heap = [(least, 0, next(ticket), start, self.unused, 0)]
        seen: dict[WorldState, list[tuple[int, int]]] = {start: [(0, self.unused)]}
        expanded = 0
        while heap:
            _, minus_steps, _, state, flags, number = heappop(heap)
            steps = -minus_steps
            if (steps, flags) not in seen[state]:
                continue
            if world.reached(state):
                return SearchResult(self._plan(parents, number), expanded)
            expanded += 1
            if expanded > max_states:
                raise SearchLimit(f"no plan and no proof after {max_states} states; use a smaller scene.")
            for actions, new, new_flags in self._successors(state, flags):
                room = None if limit is None else limit - steps - 1
                estimate = steps + 1 + self._estimate(new, new_flags, room)
                if limit is not None and estimate > limit:
                    continue
                entries = seen.setdefault(new, [])
                if any(t <= steps + 1 and not f & ~new_flags for t, f in entries):
                    continue
                entries[:] = [(t, f) for t, f in entries if t < steps + 1 or new_flags & ~f]
                entries.append((steps + 1, new_flags))
                parents.append((number, actions))
                heappush(heap, (estimate, -steps - 1, next(ticket), new, new_flags, len(parents) - 1))
        return SearchResult(None, expanded)

    def _estimate(self, state: WorldState, flags: int, room: int | None) -> int:
        """Steps that are still needed at least; exact only up to `room`."""
        need = self.bound(state, room)
        if self.use is None or not flags & self.unused or (room is not None and need > room):
            return need
        return max(need, self.use.steps(state), self.bound.work(state, self.use.actions(state)))

    def _plan(self, parents: list[tuple[int, tuple[RobotAction, ...]]], number: int) -> Plan:
        names = self.world.names
        steps: Plan = []
        while number > 0:
            number, actions = parents[number]
            robots = self.world.robots
            steps.append({robots[r]: (name, *(names[c] for c in args)) for r, name, args in actions})
        steps.reverse()
        assert works(self.world, steps)
        return steps

    def _successors(
        self, state: WorldState, flags: int
    ) -> Iterator[tuple[tuple[RobotAction, ...], WorldState, int]]:
        world, width = self.world, self.width
        options = [self._options(state, robot) for robot in self.robots]
        allowed = []
        for robot in self.robots:
            forbidden = flags >> robot * width
            allowed.append(
                [
                    option
                    for option in options[robot]
                    if not (option.bit and forbidden >> option.bit & 1)
                    and not (forbidden & 1 and option.action[1] == "Move")
                ]
            )
        sleepers = [[option for option in options[robot] if option.bit] for robot in self.robots]
        ordered = bool(world.scene.task.orders)
        for joint in _joints(allowed):
            actions = tuple(option.action for option in joint.options)
            receivers = {option.receiver for option in joint.options if option.receiver >= 0}
            if receivers and world.clash(state, actions) is not None:
                continue
            new = world.apply(state, actions)
            if ordered:
                if world.early_stage(state, new) is not None:
                    continue
                new = world.progress(new)
            new_flags, idle = 0, (1 << len(self.robots)) - 1
            for robot, primitive, _ in actions:
                idle &= ~(1 << robot)
                if primitive == "Move" and not self._followed(new, robot):
                    new_flags |= 1 << robot * width
            touched = {option.touched for option in joint.options}
            for robot in self.robots if idle else ():
                if idle >> robot & 1 and robot not in receivers:
                    bits = int(robot not in touched and not self._followed(new, robot))
                    for option in sleepers[robot]:
                        if not joint.clashes(option):
                            bits |= 1 << option.bit
                    new_flags |= bits << robot * width
            if flags & self.unused and not self._uses_spare(state, actions):
                new_flags |= self.unused
            yield actions, new, new_flags

    def _followed(self, state: WorldState, robot: int) -> bool:
        """Whether it matters to a condition in which area the robot is."""
        world = self.world
        return any(
            code - world.first_robot == robot or world.holder(state, code) == robot for code in self.followed
        )

    def _uses_spare(self, state: WorldState, actions: Sequence[RobotAction]) -> bool:
        use = self.use
        assert use is not None
        return any(use.happens(state, robot, primitive, args[0]) for robot, primitive, args in actions)

    def _options(self, state: WorldState, robot: int) -> list[_Option]:
        """What one robot may do, without waiting."""
        world, first, size = self.world, self.world.first_asset, len(self.world.assets)
        kind = world.types[robot]
        here = state.at[robot]
        options: list[_Option] = []

        def add(primitive: str, *args: int, bit: int = 0) -> None:
            action = (robot, primitive, args)
            fixed = self.fixed.get(action)
            if fixed is None:
                fixed = all(test(world, state, robot, primitive, args) for test in FIXED[primitive])
                self.fixed[action] = fixed
            if not fixed:
                return
            for test in CHANGING[primitive]:
                if not test(world, state, robot, primitive, args):
                    return
            named, receiver, touched, inside, taken = 0, -1, -1, 0, 0
            for code in args:
                if first <= code < world.first_robot:
                    named |= 1 << code
            if primitive == "Handover":
                receiver = args[1] - world.first_robot
            elif args[0] >= first:
                for code in world.chain(state, args[0]):
                    inside |= 1 << code
                if primitive == "Interact":
                    holder = world.holder(state, args[0])
                    touched = -1 if holder is None or holder == robot else holder
                else:
                    inside |= inside << len(world.names)
                if primitive in TAKES:
                    taken = 1 << args[0] + (len(world.names) if primitive in STAYS else 0)
            shares = primitive in ("Reach", "Place")
            options.append(_Option(action, named, shares, bit, receiver, touched, inside, taken))

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
            options.extend(
                _Option((robot, "Move", (area,)), 0, False, 0, -1, -1, 0, 1 << world.first_robot + robot)
                for area in (self.areas if kind.arms else self.dog_areas)
                if area != here
            )
        return options

    def _pending(self, state: WorldState, asset: int) -> bool:
        """Whether a reached thing has not served its purpose yet."""
        return not self.world.kinds[asset].fixture or bool(state.closed >> asset & 1)


def works(world: World, plan: Plan) -> bool:
    """Whether a plan can be done and reaches the goal, by the checker's own rules."""
    try:
        return world.reached(world.run(world.start(), plan))
    except RefusedStep:
        return False


def _joints(options: Sequence[Sequence[_Option]]) -> list[_Joint]:
    """All combinations that do not clash, in which at least one robot does something."""
    joints = [_Joint()]
    for some in options:
        joints = [
            following
            for joint in joints
            for following in (*(joint.also(one) for one in some if not joint.clashes(one)), joint)
        ]
    joints.pop()
    return joints


def relevant(scene: Scene, also: frozenset[str] = frozenset()) -> Scene:
    """The scene without what is left out; `also` names things to keep."""
    every = scene.task.conditions
    names = {name for condition in every for name in (condition.thing, condition.place) if name} | also
    arms = [ROBOTS[robot.type] for robot in scene.robots if ROBOTS[robot.type].arms]
    heights = {area.name: area.height for area in scene.areas}
    robots = {robot.id for robot in scene.robots}
    places = {asset.name: asset.place for asset in scene.assets}
    for asset in scene.assets:
        kind = KINDS[asset.kind]
        height = heights.get(asset.place)
        if height is None:
            needed = kind.holds or asset.place in robots
        else:
            in_reach = all(arm.low <= height <= arm.high for arm in arms)
            needed = kind.height is not None and not (kind.fixture and in_reach)
        if needed:
            names.add(asset.name)
    for name in list(names):
        while name in places:
            names.add(name)
            name = places[name]
    assets = tuple(asset for asset in scene.assets if asset.name in names)
    legs = any(one.active for one in every) or any(KINDS[asset.kind].pushable for asset in assets)
    team = tuple(robot for robot in scene.robots if legs or ROBOTS[robot.type].arms or robot.id in names)
    return replace(scene, assets=assets, robots=team)


def spare(scene: Scene, small: Scene) -> frozenset[str]:
    """The containers that `relevant(scene)` leaves out and that somebody may lift, park in or stack."""
    names = {asset.name for asset in small.assets}
    unwanted = {place for _, place in early(scene.task)}
    return frozenset(
        asset.name
        for asset in scene.assets
        if asset.name not in names
        and KINDS[asset.kind].holds
        and (not KINDS[asset.kind].fixture or asset.place in unwanted)
    )


def soonest_use(scene: Scene) -> int:
    """Steps of any plan in which a spare container is used: see `SpareUse`, at the start of a scene."""
    after = steps_after_use(scene)
    robots = {robot.id for robot in scene.robots}
    in_hand = 0 if any(asset.place in robots for asset in scene.assets) else 2
    return 0 if after is None else in_hand + 2 + after


Searcher = Callable[[Scene, frozenset[str], int | None, int], SearchResult]
"""Searches a scene for a plan that uses one of the spare containers named (if any), of at most so many steps,
expanding at most so many states."""


def search(scene: Scene, containers: frozenset[str], limit: int | None, max_states: int) -> SearchResult:
    return PlanSearch(World(scene), containers).run(limit, max_states)


def shortest_plan(
    scene: Scene, *, limit: int | None = None, max_states: int = 2_000_000, searcher: Searcher = search
) -> SearchResult:
    """The shortest joint plan of all robots in the scene.

    Args:
        scene: The scene; what it says about plans (`limit`, `plan`) is ignored.
        limit: Look only for plans of at most this many steps.
        max_states: Give up after expanding this many states, without and with spare containers each.
        searcher: How to search.
    """
    world = World(scene) if scene.task.orders else None
    if world is not None and world.progress(world.start()).done:
        # An order that holds at the start is satisfied by the first step, whatever it is: leave nothing out.
        step = _any_step(world)
        if step is not None and (limit is None or limit > 0):
            return SearchResult([step], 0)
        return searcher(scene, frozenset(), limit, max_states)
    small = relevant(scene)
    result = searcher(small, frozenset(), limit, max_states)
    shorter = limit if result.plan is None else len(result.plan) - 1
    if shorter is not None and shorter < soonest_use(scene):
        return result
    containers = spare(scene, small)
    if not containers:
        return result
    other = searcher(relevant(scene, containers), containers, shorter, max_states)
    return SearchResult(result.plan if other.plan is None else other.plan, result.states + other.states)


def _any_step(world: World) -> Step | None:
    """A step with one action after which everything is done."""
    names = [primitive.name for primitive in PRIMITIVES.values() if len(primitive.arguments) == 1]
    for robot, name, target in product(world.robots, names, world.names):
        step: Step = {robot: (name, target)}
        if works(world, [step]):
            return step
    return None


def tidy(scene: Scene, plan: Plan) -> Plan:
    """The plan without actions that it does not need, such as those of robots that wait."""
    world = World(scene)
    plan = [dict(step) for step in plan]
    for number in reversed(range(len(plan))):
        for robot in list(plan[number]):
            shorter = {other: action for other, action in plan[number].items() if other != robot}
            if shorter and works(world, [*plan[:number], shorter, *plan[number + 1 :]]):
                plan[number] = shorter
    return plan
