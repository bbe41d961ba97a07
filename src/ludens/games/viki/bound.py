"""What a plan needs at least: a lower bound on its steps that never overestimates, and a quick proof that
none exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.games.viki.world import Condition, KitchenTask, Scene, Stage, WorldState

if TYPE_CHECKING:
    from ludens.games.viki.rules import World

NEVER = 1_000


class Bound:
    """Lower bounds for the states of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.armed = [robot for robot, kind in enumerate(world.types) if kind.arms]
        self.most_arms = max((kind.arms for kind in world.types), default=0)
        self.legged = any(not kind.arms for kind in world.types)
        task = world.scene.task
        self.goals = task.goals
        self.orders = task.orders
        self.vehicles = any(kind.pushable for kind in world.kinds) and any(
            kind.pushes for kind in world.types
        )
        conditions = task.conditions
        active = {world.code[c.thing] - world.first_asset for c in conditions if c.active and c.holds}
        self.uses = sum(1 << asset for asset in active)
        """Bit set of the things to interact with."""
        self.tests = {id(condition): world.test(condition) for condition in conditions}
        self.cache: dict[WorldState, int] = {}

    def __call__(self, state: WorldState, room: int | None = None) -> int:
        """Steps that any plan needs from this state; counted only until they are more than `room`."""
        bound = self.cache.get(state)
        if bound is not None:
            return bound
        best = self._conditions(state)
        if room is not None and best > room:
            return best
        best = self.cache[state] = max(best, self.work(state))
        return best

    def _conditions(self, state: WorldState) -> int:
        best = 0
        staged: dict[str, tuple[int, Condition]] = {}
        for number, order in enumerate(self.orders):
            if state.done >> number & 1:
                continue
            time = self._order(state, order)
            best = max(best, time)
            for stage in order:
                for condition in stage:
                    if condition.place is not None and condition.holds:
                        staged[condition.thing] = (time, condition)
        for goal in self.goals:
            need = self._condition(state, goal)
            if goal.place is not None and goal.holds and goal.thing in staged:
                time, stop = staged[goal.thing]
                need = max(need, time + self._onward(state, stop, goal))
            best = max(best, need)
        return best

    def _onward(self, state: WorldState, stop: Condition, goal: Condition) -> int:
        """Steps from the last stage of an order, in which a thing is at a stop, to its goal.

        A thing that was put down must be grasped and put down again, and carried if the places are apart. A
        thing that follows an area (`along`) may be in a hand there: then one or both of these are not needed.
        """
        if stop.place is None or goal.place is None or stop.place == goal.place or self._pushed(goal.thing):
            return 0
        apart = self._apart(state, stop.place, goal.place)
        if stop.along or goal.along:
            return apart * (1 + (not stop.along) + (not goal.along))
        return 2 + apart

    def _pushed(self, name: str) -> bool:
        """Whether a quadruped can bring a thing to an area."""
        return self.vehicles and self.world.kinds[self.world.code[name] - self.world.first_asset].pushable

    def _order(self, state: WorldState, order: tuple[Stage, ...]) -> int:
        time = 0
        for number, stage in enumerate(order):
            need = max((self._condition(state, condition) for condition in stage), default=0)
            if number == 0 or (need == 0 and time == 0):
                time = max(time, need)
            else:
                time = max(need, time + 1)
        return time

    def _condition(self, state: WorldState, condition: Condition) -> int:
        world = self.world
        code = world.code[condition.thing]
        plain = condition.holds and not condition.along and code < world.first_robot
        if not plain and self.tests[id(condition)](state):
            return 0
        if not condition.holds or code >= world.first_robot:
            return 1
        need = 0
        asset = code - world.first_asset
        if condition.along:
            if state.place[asset] >= world.first_robot or self._pushed(condition.thing):
                return 1
            pick, loose, _ = self.pick(state, asset)
            return 1 if loose else pick + 1
        if condition.place is not None:
            need = self._bring(state, asset, world.code[condition.place])
        if condition.active:
            need = max(need, self._interact(state, asset))
        return need

    def _interact(self, state: WorldState, asset: int) -> int:
        world = self.world
        if state.active >> asset & 1:
            return 0
        area = world.area(state, world.first_asset + asset)
        for robot, kind in enumerate(world.types):
            if state.at[robot] == area and (
                not kind.arms
                or world.free_hands(state, robot) > 0
                or state.place[asset] == world.first_robot + robot
            ):
                return 1
        return 2

    def _opening(self, state: WorldState, asset: int) -> int:
        """Steps until a closed thing is open."""
        if not state.closed >> asset & 1:
            return 0
        if any(asset in queue for queue in state.reached):
            return 1
        area = self.world.area(state, self.world.first_asset + asset)
        return 2 if any(state.at[robot] == area for robot in self.armed) else 3

    def _bring(self, state: WorldState, asset: int, target: int) -> int:
        world = self.world
        current = state.place[asset]
        if current == target:
            return 0
        if target < world.first_asset and self._pushed(world.assets[asset]):
            return 1
        moving, opening = False, 0
        if target >= world.first_asset:
            number = target - world.first_asset
            moving = not world.kinds[number].fixture
            opening = self._opening(state, number)
        there = world.area(state, target)
        if current >= world.first_robot:
            near = state.at[current - world.first_robot] == there and world.holder(state, target) is None
            return max(1 if near else 2, opening + 1)
        pick, loose, here = self.pick(state, asset)
        far = not moving and not loose and here != there
        return max(pick + 1 + far, opening + 1)

    def pick(self, state: WorldState, asset: int) -> tuple[int, bool, int]:
        """Steps until a thing is in a hand; whether it lies in something that can be moved; its area."""
        world = self.world
        first_asset, first_robot = world.first_asset, world.first_robot
        cover, loose, height = 0, False, None
        code = state.place[asset]
        while first_asset <= code < first_robot:
            number = code - first_asset
            kind = world.kinds[number]
            if state.closed >> number & 1:
                cover = max(cover, self._opening(state, number))
            loose = loose or not kind.fixture
            height = kind.height if height is None else height
            code = state.place[number]
        if code >= first_robot:
            loose, code = True, state.at[code - first_robot]
        if cover:
            return cover + 2, loose, code
        for queue in state.reached:
            if asset in queue:
                return 1, loose, code
        height = world.heights[code] if height is None else height
        for robot in self.armed:
            kind_of = world.types[robot]
            if state.at[robot] == code and (loose or kind_of.low <= height <= kind_of.high):
                return 2, loose, code
        return 3, loose, code

    def _apart(self, state: WorldState, one: str, two: str) -> int:
        """1 if two fixed places are in different areas, so that a thing must be carried between them."""
        codes = self.world.code[one], self.world.code[two]
        for code in codes:
            if code >= self.world.first_asset and not self.world.kinds[code - self.world.first_asset].fixture:
                return 0
        return int(self.world.area(state, codes[0]) != self.world.area(state, codes[1]))

    def _hops(self, state: WorldState) -> list[tuple[int, int, int]]:
        """Asset, place before and place after, for every Place that must still happen."""
        world = self.world
        stops: dict[int, int] = {}
        for number, order in enumerate(self.orders):
            if not state.done >> number & 1:
                for stage in order:
                    for condition in stage:
                        if condition.place is not None and condition.holds and not condition.along:
                            asset = world.code[condition.thing] - world.first_asset
                            stops[asset] = world.code[condition.place]
        hops = []
        for goal in self.goals:
            if goal.place is None or not goal.holds or goal.along or self._pushed(goal.thing):
                continue
            asset, target = world.code[goal.thing] - world.first_asset, world.code[goal.place]
            place = state.place[asset]
            stop = stops.pop(asset, place)
            if place != stop:
                hops.append((asset, place, stop))
            if stop != target:
                hops.append((asset, stop, target))
        for asset, stop in stops.items():
            if state.place[asset] != stop and not self._pushed(world.assets[asset]):
                hops.append((asset, state.place[asset], stop))
        return hops

    def work(self, state: WorldState, extra: int = 0) -> int:
        """All that arms must still do, and so many actions more, divided by the robots that have arms."""
        world = self.world
        if not self.armed:
            return 0
        hops = self._hops(state)
        hands = far = doors = 0
        opened, sources, targets = set[int](), set[int](), set[int]()
        for asset, place, target in hops:
            fixed = target < world.first_asset
            if not fixed:
                number = target - world.first_asset
                fixed = world.kinds[number].fixture
                if state.closed >> number & 1:
                    opened.add(number)
            if place >= world.first_robot:
                continue
            now = place == state.place[asset]
            hands += 1 if now and any(asset in queue for queue in state.reached) else 2
            loose, code = False, place
            while world.first_asset <= code < world.first_robot:
                number = code - world.first_asset
                loose = loose or not world.kinds[number].fixture
                if now and state.closed >> number & 1:
                    opened.add(number)
                code = state.place[number]
            there = world.area(state, target)
            if fixed and not loose and code != there:
                far += 1
                sources.add(code)
                targets.add(there)
        for number in opened:
            doors += 1 if any(number in queue for queue in state.reached) else 2
        uses = 0 if self.legged else (self.uses & ~state.active).bit_count()
        trips = 0 if self.vehicles else -(-far // self.most_arms)
        # Between two trips a robot goes back to a source, unless a source is itself a target.
        moves = trips if sources & targets else max(trips, 2 * trips - len(self.armed))
        puts = -(-len(hops) // self.most_arms)
        return -(-(hands + doors + puts + moves + uses + extra) // len(self.armed))


def early(task: KitchenTask) -> frozenset[tuple[str, str]]:
    """Things, and direct places at which a condition does not want them, or not yet."""
    later = [one for order in task.orders for stage in order[1:] for one in stage]
    negated = [one for one in task.conditions if not one.holds]
    return frozenset((one.thing, one.place) for one in (*later, *negated) if one.place and not one.along)


def steps_after_use(scene: Scene) -> int | None:
    """Steps that follow the use of a spare container; None where nothing is claimed."""
    every, areas = scene.task.conditions, {area.name for area in scene.areas}
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
        world = bound.world
        containers = frozenset(world.code[name] - world.first_asset for name in names)
        movable = [asset for asset, kind in enumerate(world.kinds) if not kind.fixture]
        return cls(
            bound=bound,
            containers=containers,
            loads=tuple(asset for asset in movable if asset not in containers),
            parked=frozenset(world.code[thing] - world.first_asset for thing, _ in early(world.scene.task)),
            after=steps_after_use(world.scene),
        )

    def steps(self, state: WorldState) -> int:
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

    def actions(self, state: WorldState) -> int:
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

    def _held(self, state: WorldState, asset: int) -> int:
        return 0 if state.place[asset] >= self.bound.world.first_robot else self.bound.pick(state, asset)[0]

    def happens(self, state: WorldState, robot: int, primitive: str, target: int) -> bool:
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

    def _lies_on(self, state: WorldState, asset: int, container: int) -> bool:
        world = self.bound.world
        code, target = state.place[asset], world.first_asset + container
        while world.first_asset <= code < world.first_robot and code != target:
            code = state.place[code - world.first_asset]
        return code == target


def possible(world: World) -> bool:
    """False if no plan exists; True says nothing."""
    reachable = _Reachable(world)
    return all(reachable.allows(condition) for condition in world.scene.task.conditions)


class _Reachable:
    def __init__(self, world: World) -> None:
        self.world = world
        start = world.start()
        everywhere = set(range(world.first_asset))
        self.robots = [
            everywhere if kind.mobile else {start.at[robot]} for robot, kind in enumerate(world.types)
        ]
        self.places = [{code} for code in start.place]
        self.closed = start.closed
        self.armed = [robot for robot, kind in enumerate(world.types) if kind.arms]
        before = -1
        while (size := sum(map(len, self.places)) - bin(self.closed).count("1") * 1_000) != before:
            before = size
            self._grow()

    def _areas(self, code: int, seen: frozenset[int] = frozenset()) -> set[int]:
        world = self.world
        if code < world.first_asset:
            return {code}
        if code >= world.first_robot:
            return self.robots[code - world.first_robot]
        if code in seen:
            return set()
        areas: set[int] = set()
        for place in self.places[code - world.first_asset]:
            areas |= self._areas(place, seen | {code})
        return areas

    def _grow(self) -> None:
        world, first = self.world, self.world.first_asset
        for asset, kind in enumerate(world.kinds):
            areas = self._areas(first + asset)
            if kind.opens and self.closed >> asset & 1:
                height = kind.height if kind.height is not None else 0.0
                if any(areas & self.robots[robot] and self._in_range(robot, height) for robot in self.armed):
                    self.closed &= ~(1 << asset)
            if kind.pushable and any(
                kind.pushes and areas & self.robots[robot] for robot, kind in enumerate(world.types)
            ):
                self.places[asset] |= set(range(world.first_asset))
            if kind.fixture:
                continue
            for robot in self.armed:
                if self._graspable(robot, asset):
                    self.places[asset].add(world.first_robot + robot)
            holders = [code - world.first_robot for code in self.places[asset] if code >= world.first_robot]
            for holder in holders:
                reach = self.robots[holder]
                self.places[asset].update(
                    world.first_robot + robot for robot in self.armed if self.robots[robot] & reach
                )
                self.places[asset].update(
                    area for area in reach if self._in_range(holder, world.heights[area])
                )
                for other, container in enumerate(world.kinds):
                    usable = container.holds and other != asset and not self.closed >> other & 1
                    if usable and self._puts(holder, other):
                        self.places[asset].add(first + other)

    def _puts(self, robot: int, container: int) -> bool:
        """Whether a robot may be able to put things into or onto a container."""
        world = self.world
        if not self._areas(world.first_asset + container) & self.robots[robot]:
            return False
        own = world.kinds[container].height
        if own is not None:
            return self._in_range(robot, own)
        for place in self.places[container]:
            if place >= world.first_asset:
                return True  # in another container or a hand
            if place in self.robots[robot] and self._in_range(robot, world.heights[place]):
                return True
        return False

    def _graspable(self, robot: int, asset: int) -> bool:
        world = self.world
        for place in self.places[asset]:
            if place >= world.first_robot or not self._areas(place) & self.robots[robot]:
                continue
            if place < world.first_asset:
                if self._in_range(robot, world.heights[place]):
                    return True
                continue
            container = place - world.first_asset
            if self.closed >> container & 1:
                continue
            own = world.kinds[container].height
            if own is None or self._in_range(robot, own):
                return True
        return False

    def _in_range(self, robot: int, height: float) -> bool:
        kind = self.world.types[robot]
        return kind.low <= height <= kind.high

    def _chain(self, places: set[int]) -> set[int]:
        """The places, and the places of the things and robots among them."""
        world = self.world
        chain: set[int] = set()
        new = set(places)
        while new:
            chain |= new
            new = {
                code
                for place in new
                if place >= world.first_asset
                for code in (
                    self.places[place - world.first_asset]
                    if place < world.first_robot
                    else self.robots[place - world.first_robot]
                )
            } - chain
        return chain

    def allows(self, condition: Condition) -> bool:
        world = self.world
        code = world.code[condition.thing]
        if not condition.holds or code >= world.first_robot:
            return True
        if condition.place is not None:
            place = world.code.get(condition.place)
            direct = self.places[code - world.first_asset]
            if place not in (self._chain(direct) if condition.along else direct):
                return False
        if condition.active:
            areas = self._areas(code)
            return any(areas & robot for robot in self.robots)
        return True
