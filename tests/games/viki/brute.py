"""The shortest plan by brute force: breadth-first search over every joint action of every robot."""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.viki.rules import World, WorldState
from ludens.games.viki.world import PRIMITIVES, Scene

Chosen = tuple[int, str, tuple[int, ...]]


def shortest_length(scene: Scene, most_steps: int, most_states: int = 400_000) -> int | None:
    """The length of the shortest plan of at most this many steps; None if there is none.

    Raises:
        OverflowError: More states than can be searched.
    """
    world = World(scene)
    frontier, seen = {world.start()}, {world.start()}
    for steps in range(most_steps + 1):
        if any(world.missing(state) is None for state in frontier):
            return steps
        following = set[WorldState]()
        for state in frontier:
            for chosen in _joint(world, state, [], 0):
                new = world.apply(state, chosen)
                if world.order_failure(state, new) is None:
                    following.add(world.progress(new))
        frontier = following - seen
        seen |= frontier
        if len(seen) > most_states:
            raise OverflowError
    return None


def _joint(world: World, state: WorldState, chosen: list[Chosen], robot: int) -> Iterator[list[Chosen]]:
    if robot == len(world.robots):
        if chosen and world.clash(state, chosen) is None:
            yield chosen
        return
    yield from _joint(world, state, chosen, robot + 1)
    for option in every_action(world, state, robot):
        yield from _joint(world, state, [*chosen, option], robot + 1)


def every_action(world: World, state: WorldState, robot: int) -> list[Chosen]:
    """All actions whose preconditions hold."""
    codes = range(len(world.names))
    found: list[Chosen] = []
    for name, primitive in PRIMITIVES.items():
        for one in codes:
            for two in codes if len(primitive.arguments) == 2 else (None,):
                args = (one,) if two is None else (one, two)
                if name == "Move" and one >= world.first_asset:
                    continue  # the same as moving to the area
                if name == "Push" and args[1] >= world.first_asset:
                    continue
                if world.broken(state, robot, name, args) is None:
                    found.append((robot, name, args))
    return found
