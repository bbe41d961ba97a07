"""What a shortest plan can do without: things that are left out of the search, and why they may be.

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
areas that all arms reach; `receptacle` because areas hold everything. Actions name no other things than
before, so they clash no more. A condition that follows places (`along`) or asks for an interaction is true
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

from dataclasses import dataclass, replace

from ludens.games.viki.bound import NEVER, Bound
from ludens.games.viki.world import KINDS, ROBOTS, Condition, Scene, State, Task


def relevant(scene: Scene, also: frozenset[str] = frozenset()) -> Scene:
    """The scene without what is left out; `also` names things to keep."""
    every = conditions(scene.task)
    kept = {name for condition in every for name in (condition.thing, condition.place) if name} | also
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
            kept.add(asset.name)
    for name in list(kept):
        while name in places:
            kept.add(name)
            name = places[name]
    assets = tuple(asset for asset in scene.assets if asset.name in kept)
    legs = any(one.active for one in every) or any(KINDS[asset.kind].pushable for asset in assets)
    team = tuple(robot for robot in scene.robots if legs or ROBOTS[robot.type].arms or robot.id in kept)
    return replace(scene, assets=assets, robots=team)


def spare(scene: Scene, small: Scene) -> frozenset[str]:
    """The containers that `relevant(scene)` leaves out and that somebody may lift, park in or stack."""
    kept = {asset.name for asset in small.assets}
    unwanted = {place for _, place in early(scene.task)}
    return frozenset(
        asset.name
        for asset in scene.assets
        if asset.name not in kept
        and KINDS[asset.kind].holds
        and (not KINDS[asset.kind].fixture or asset.place in unwanted)
    )


def conditions(task: Task) -> list[Condition]:
    """All conditions of goals and orders."""
    return [*task.goals, *(one for order in task.orders for stage in order for one in stage)]


def early(task: Task) -> frozenset[tuple[str, str]]:
    """Things, and direct places at which a condition does not want them, or not yet."""
    later = [one for order in task.orders for stage in order[1:] for one in stage]
    negated = [one for one in conditions(task) if not one.holds]
    return frozenset((one.thing, one.place) for one in (*later, *negated) if one.place and not one.along)


def soonest_use(scene: Scene) -> int:
    """Steps of any plan in which a spare container is used: see `SpareUse`, at the start of a scene."""
    after = _after(scene)
    robots = {robot.id for robot in scene.robots}
    in_hand = 0 if any(asset.place in robots for asset in scene.assets) else 2
    return 0 if after is None else in_hand + 2 + after


def _after(scene: Scene) -> int | None:
    """Steps that follow the use of a spare container; None where nothing is claimed."""
    every, areas = conditions(scene.task), {area.name for area in scene.areas}
    if not all(one.holds and not (one.along and one.place not in areas) for one in every):
        return None
    return 1 if any(one.along for one in every) else 2


@dataclass(frozen=True, slots=True)
class SpareUse:
    """When spare containers are used, and how many steps that takes at least.

    - Lifting: a kept thing is in a hand, is put on the container (1), the container is grasped (1), and
      two steps follow in a shortest plan with as few actions as possible. A lift in the last step can be
      left out, since it makes no condition true. A lift in the last step but one can be left out with
      what the same robot does to the container in the last step: that others hold a thing only forbids,
      and things on the container get to no place that a condition names for them, unless the robot moves
      away with them and a condition follows places (`along`). Then one step follows.
    - Parking: a thing in a hand is put down (1), and then reached, grasped and put down (3) where the
      later stage wants it.
    - Stacking: the container is in a hand, is put into something (1), then a thing in a hand is put into
      it (1), and two steps follow: with fewer, nobody can take the thing out again, and it could be put
      down in the area instead, unless somebody moves away with all of it and a condition follows places.
      Then one follows.

    Arms have more to do as well: to grasp the container (reaching it before), and to put the thing on it;
    or, to park, to put the thing down and to grasp it again. This comes on top of `Bound.work`: a
    container with k things, lifted by a robot with `arms` arms, saves at most 2 (k / arms - 1) moves, but
    takes k / arms times putting down and k times grasping.

    Where conditions are negated, or follow places to things rather than areas, none of this is claimed.
    """

    bound: Bound
    containers: frozenset[int]
    """Spare containers, as numbers of assets."""
    loads: tuple[int, ...]
    """Kept things that can be carried."""
    parked: frozenset[int]
    """Kept things that a condition does not want somewhere yet."""
    after: int | None
    """Steps that follow a lift; None where nothing is claimed."""

    @classmethod
    def of(cls, bound: Bound, names: frozenset[str]) -> SpareUse:
        """The use of these spare containers."""
        world = bound.world
        containers = frozenset(world.code[name] - world.first_asset for name in names)
        movable = [asset for asset, kind in enumerate(world.kinds) if not kind.fixture]
        return cls(
            bound=bound,
            containers=containers,
            loads=tuple(asset for asset in movable if asset not in containers),
            parked=frozenset(world.code[thing] - world.first_asset for thing, _ in early(world.scene.task)),
            after=_after(world.scene),
        )

    def steps(self, state: State) -> int:
        """Steps that a plan needs in which a spare container is still to be used."""
        if self.after is None:
            return 0
        world = self.bound.world
        lift, hold, stack = NEVER, NEVER, NEVER
        for asset in self.loads:
            if any(self._lies_on(state, asset, container) for container in self.containers):
                lift = 1
            held = self._held(state, asset)
            lift, hold = min(lift, held + 2), min(hold, held)
        for asset in self.containers:
            if world.kinds[asset].fixture:
                continue
            nested = world.first_asset <= state.place[asset] < world.first_robot
            stack = min(stack, 0 if nested else self._held(state, asset) + 1)
        return self.after + min(lift, max(hold, stack) + 1)

    def actions(self, state: State) -> int:
        """Actions of arms that such a plan needs besides those that every plan needs."""
        world = self.bound.world
        if self.after is None or any(state.place[one] >= world.first_asset for one in self.containers):
            return 0
        loaded = any(
            self._lies_on(state, one, container) for one in self.loads for container in self.containers
        )
        reached = any(one in queue for one in self.containers for queue in state.reached)
        lift = (1 if reached else 2) + (not loaded)
        return min(lift, 2) if self.parked else lift

    def _held(self, state: State, asset: int) -> int:
        """Steps until a thing is in a hand."""
        return 0 if state.place[asset] >= self.bound.world.first_robot else self.bound.pick(state, asset)[0]

    def happens(self, state: State, robot: int, primitive: str, target: int) -> bool:
        """Whether an action uses a spare container."""
        world = self.bound.world
        container = target - world.first_asset
        if container not in self.containers:
            return False
        if primitive == "Grasp":
            return any(self._lies_on(state, asset, container) for asset in self.loads)
        if primitive != "Place":
            return False
        hand = world.first_robot + robot
        nested = state.place[container] >= world.first_asset
        return any(state.place[asset] == hand for asset in (self.loads if nested else self.parked))

    def _lies_on(self, state: State, asset: int, container: int) -> bool:
        world = self.bound.world
        code, target = state.place[asset], world.first_asset + container
        while world.first_asset <= code < world.first_robot and code != target:
            code = state.place[code - world.first_asset]
        return code == target
