"""Which plans depend on two things happening in one step: a search over scenes.

`python -m tests.games.viki.joint_steps 200` prints, for every kind of coincidence, in how many shortest plans
of generated scenes it occurs, and in how many of these no plan of the same length does without it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from ludens.games.viki.generate import generate
from ludens.games.viki.rules import JointAction, World
from ludens.games.viki.search import PlanSearch, RobotAction, SearchLimit, relevant
from ludens.games.viki.world import Scene, WorldState

STATES = 20_000
"""States that a search may expand."""


def coincidences(world: World, state: WorldState, actions: Sequence[JointAction]) -> set[str]:
    """What two robots do with or to each other in one step, in words."""
    return {
        words
        for one, two in combinations(actions, 2)
        for first, second in ((one, two), (two, one))
        for words in _between(world, state, first, second)
    }


def _between(world: World, state: WorldState, one: JointAction, two: JointAction) -> Iterator[str]:
    (robot, primitive, args), (other, second, others) = one, two
    assets = range(world.first_asset, world.first_robot)
    if primitive == "Handover" and args[1] == world.first_robot + other:
        yield f"Handover, and the receiver does {second}"
    if primitive == "Interact" and world.holder(state, args[0]) == other:
        yield f"Interact with what another robot holds, which does {second}"
    for target in args:
        if target in assets and target in others and (primitive, second) <= (second, primitive):
            yield f"{primitive} and {second} of one thing"
        if target in assets and others[0] in assets and others[0] in world.chain(state, target):
            yield f"{primitive} of what is in or on a thing, and {second} of that thing"
    places = world.first_robot + robot in state.place and primitive == "Place"
    if places and second == "Move" and world.area(state, others[0]) == state.at[robot]:
        yield "Place, and another robot arrives there"


class WithoutCoincidence(PlanSearch):
    """A search that does without one kind of coincidence, and does not cut waiting, which may now help."""

    def __init__(self, world: World, forbidden: str) -> None:
        super().__init__(world)
        self.forbidden = forbidden

    def _successors(
        self, state: WorldState, flags: int
    ) -> Iterator[tuple[tuple[RobotAction, ...], WorldState, int]]:
        for actions, new, _ in super()._successors(state, 0):
            if self.forbidden not in coincidences(self.world, state, actions):
                yield actions, new, 0


def in_plan(scene: Scene) -> set[str]:
    """The coincidences of a scene's own plan."""
    world = World(scene)
    state, occurring = world.start(), set[str]()
    for step in scene.plan:
        actions = [world.parse(state, robot, action) for robot, action in step.items()]
        occurring |= coincidences(world, state, actions)
        state = world.step(state, step)
    return occurring


def depends(scene: Scene, coincidence: str) -> bool:
    """Whether every plan of the scene's length needs the coincidence."""
    limit = len(scene.plan)
    return WithoutCoincidence(World(relevant(scene)), coincidence).run(limit, STATES).plan is None


def audit(scenes: Iterable[Scene]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """For every coincidence: plans that have it, plans that need it, searches that were given up."""
    having, needing, unknown = Counter[str](), Counter[str](), Counter[str]()
    for scene in scenes:
        for coincidence in in_plan(scene):
            having[coincidence] += 1
            try:
                needing[coincidence] += depends(scene, coincidence)
            except SearchLimit:
                unknown[coincidence] += 1
    return having, needing, unknown


if __name__ == "__main__":
    count = int(sys.argv[1])
    having, needing, unknown = audit(generate(seed) for seed in range(count))
    print(f"{count} scenes: plans that have it, plans that need it, searches given up")
    for words, number in having.most_common():
        print(f"{number:5} {needing[words]:5} {unknown[words]:5}  {words}")
