"""Level 3: the paths of two robots as points in the picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import hypot
from typing import Any

from ludens.core.random import stream
from ludens.games.viki.data import ROBOTS
from ludens.games.viki.distances import NAMES, distances, reward
from ludens.games.viki.floor import Floor, Snapshot
from ludens.games.viki.level import SEAT, TEACHERS, Answered, Level
from ludens.games.viki.paths import Point, path, sampled
from ludens.games.viki.points import POINTS, points_of, read_points
from ludens.games.viki.points import ROBOTS as WHO
from ludens.games.viki.source import Shown
from ludens.games.viki.stored import stored


@dataclass(frozen=True)
class Trace(Level):
    """Mark the paths of two robots in the picture, five points each (VIKI level 3).

    Seats: `planner`, alone, for one move.
    Observation: the kitchen, the task, and what you and one partner do next.
    Actions: two lists of five points [x, y], yours first, in units of 1/512 of the picture's side.
    Rewards: for each robot the mean of 1 - distance / scale over RMSE, Hausdorff and discrete Frechet
    distance, each at least 0; then the mean of both robots. An unreadable answer earns 0, and its distances
    are the diagonal of the picture.
    """

    name = "viki/trace"
    view_class = "ludens.games.viki.views:TraceView"
    bots = {"greedy": "ludens.games.viki.bots:GreedyTrace", **TEACHERS}

    module = "trace"

    def start(self, seed: int) -> Tracing:
        return Tracing(self, self.shown(seed))

    def shown(self, seed: int) -> Shown:
        """The first scene of a seed in which two robots have a way to go."""
        return super().shown(seed) if self.data else _with_paths(self, seed)


@lru_cache(maxsize=512)
def _with_paths(game: Trace, seed: int) -> Shown:
    if game.look == "map" and (made := stored(game.module, game.split, seed)):
        return Shown(*made)
    tries = (Level.shown(game, stream(seed, "trace", number).bits() >> 16) for number in count())
    return next(given for given in tries if errands(given) is not None)


@dataclass(frozen=True)
class Errand:
    """What a robot does next, and the path it takes."""

    robot: str
    target: str
    words: str
    points: tuple[Point, ...]


class Tracing(Answered):
    """A scene, two errands and the points that were marked."""

    longest = 1_000

    @property
    def errands(self) -> tuple[Errand, Errand]:
        """Yours and your partner's."""
        found = errands(self.given)
        assert found is not None
        return found

    @property
    def truth(self) -> tuple[tuple[Point, ...], ...]:
        """The points of both paths."""
        return self.given.points or tuple(one.points for one in self.errands)

    def canonical(self, answer: str) -> str:
        return read_points(answer, *self.given.size)

    def solution(self, seat: str) -> str | None:
        return json.dumps(self.truth, separators=(",", ":"))

    @property
    def accuracies(self) -> list[float]:
        return [self._reward(answer) for answer in self.answers]

    def _reward(self, answer: str) -> float:
        if not answer:
            return 0.0
        pairs = zip(points_of(answer), self.truth, strict=True)
        return sum(reward(distances(said, truth)) for said, truth in pairs) / len(WHO)

    def apart(self) -> dict[str, float]:
        """The mean distances over both robots; those of an unreadable answer are the diagonal."""
        if not self.answers or not self.answers[-1]:
            return dict.fromkeys(NAMES, hypot(*self.given.size))
        pairs = zip(points_of(self.answers[-1]), self.truth, strict=True)
        both = [distances(said, truth) for said, truth in pairs]
        return {name: sum(one[name] for one in both) / len(both) for name in NAMES}

    @property
    def facts(self) -> dict[str, Any]:
        apart = {name: round(value, 3) for name, value in self.apart().items()}
        return {
            **super().facts,
            **apart,
            "average": round(sum(apart.values()) / len(apart), 3),
            "reward": self.returns[SEAT],
        }


@lru_cache(maxsize=1024)
def errands(given: Shown) -> tuple[Errand, Errand] | None:
    """What two robots of a scene do next; None where fewer than two of them have a way to go."""
    scene = given.scene
    floor = Floor(scene, Snapshot.at_start(scene))
    found: list[Errand] = []
    random = stream(given.seed, "errands")
    for robot in random.sample(scene.robots, len(scene.robots)):
        taken = {errand.target for errand in found}
        targets = [name for name in sorted(floor.centres) if name not in taken]
        mobile = ROBOTS[robot.type].mobile
        here = {name for name in targets if floor.area_of(name) == robot.place}
        choices = [name for name in targets if (name in here) is not mobile]
        if choices and (mobile or ROBOTS[robot.type].arms):
            target = random.choice(choices)
            words = f"{'Move to' if mobile else 'Reach'} the {target}"
            corners = sampled(path(floor, robot.id, target), POINTS)
            points = tuple((round(float(x), 1), round(float(y), 1)) for x, y in corners)
            found.append(Errand(robot.id, target, words, points))
        if len(found) == len(WHO):
            return found[0], found[1]
    return None
