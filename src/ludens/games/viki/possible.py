"""A quick proof that no plan exists: what could happen if nothing were ever used up or taken away.

Every robot is everywhere it can go at once, every thing everywhere it could ever be brought, every door that
somebody can open is open. What cannot happen even then cannot happen at all.
"""

from __future__ import annotations

from ludens.games.viki.rules import World
from ludens.games.viki.scene import Condition


def possible(world: World) -> bool:
    """False if no plan exists; True says nothing."""
    reachable = _Reachable(world)
    task = world.scene.task
    return all(
        reachable.allows(condition)
        for condition in (*task.goals, *(c for order in task.orders for stage in order for c in stage))
    )


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
        found: set[int] = set()
        for place in self.places[code - world.first_asset]:
            found |= self._areas(place, seen | {code})
        return found

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
                self.places[asset].update(reach)
                for other, container in enumerate(world.kinds):
                    usable = container.holds and other != asset and not self.closed >> other & 1
                    if usable and self._areas(first + other) & reach:
                        self.places[asset].add(first + other)

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
        found: set[int] = set()
        new = set(places)
        while new:
            found |= new
            new = {
                code
                for place in new
                if place >= world.first_asset
                for code in (
                    self.places[place - world.first_asset]
                    if place < world.first_robot
                    else self.robots[place - world.first_robot]
                )
            } - found
        return found

    def allows(self, condition: Condition) -> bool:
        """Whether a condition could come true."""
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
