"""The three levels as questions: which robot types, which plan, which paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import hypot
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.errors import Illegal, MoveError, Unreadable
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import stream
from ludens.core.state import Legal, State
from ludens.games.viki.checker import Verdict, check
from ludens.games.viki.floor import NAMES, Floor, Point, Snapshot, distances, path, reward, sampled
from ludens.games.viki.generate import Numbered, store, stored
from ludens.games.viki.replies import POINTS, Variant, combined, points_of, read_plan, read_points, read_value
from ludens.games.viki.replies import ROBOTS as WHO
from ludens.games.viki.sources import LOOKS, SPLIT_HELP, SPLITS, Shown, shown
from ludens.games.viki.world import ROBOTS, Action, Scene
from ludens.pictures.sets import installed_sets

if TYPE_CHECKING:
    from ludens.core.episode import Move


SEAT = "planner"
TEACHERS = {
    "oracle": "ludens.games.viki.bots:Oracle",
    "describe": "ludens.games.viki.bots:Describe",
}
"""Bots of all levels, for imitation."""


@dataclass(frozen=True)
class Level(Game):
    """The options of all levels."""

    seats = (SEAT,)
    best = "bot/oracle"
    question = True

    look: str = option("map", choices=LOOKS, help="the kitchen from above, or rendered camera pictures")
    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)
    pictures: str = option(
        "viki-8",
        help="the picture set of look=camera",
        touches=Touch.READ,
        installed=lambda: installed_sets("scene"),
    )
    data: str = option(
        "",
        help="a folder with the released Parquet files, played by the released rules",
        touches=Touch.READ,
    )

    def shown(self, seed: int) -> Shown:
        """The scene of a seed, with its pictures where they come from files."""
        return shown(self.name, self.look, self.split, self.pictures, self.data, seed)

    module: ClassVar[str] = "generate"
    """The module that makes its scenes."""

    def prepare(self, seeds: Iterable[int]) -> None:
        """Make scenes, which need a planner; those from files are there already."""
        if self.look == "map" and not self.data:
            store(self.module, self.split, seeds, self._made)

    def _made(self, seed: int) -> Numbered:
        given = self.shown(seed)
        return given.seed, given.scene

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        """A tenth for the form of the reply, the rest for the answer."""
        assert isinstance(state, Answered)
        accuracy = state.accuracies
        return [combined(_said(move), part) for move, part in zip(moves, accuracy, strict=False)]


def _said(move: Move) -> str:
    return move.tries[-1].text if move.tries else ""


class Answered(State):
    """A scene and the answers that were given about it."""

    attempts = 1
    """How many answers may be given."""
    longest = 2_000
    """Characters of an answer."""

    def __init__(self, game: Level, given: Shown, answers: tuple[str, ...] = ()) -> None:
        self.game = game
        self.given = given
        self.answers = answers

    @property
    def scene(self) -> Scene:
        """The scene that is shown."""
        return self.given.scene

    @property
    def to_act(self) -> tuple[str, ...]:
        done = len(self.answers) >= self.attempts or (bool(self.answers) and self.accuracies[-1] == 1.0)
        return () if done else (SEAT,)

    def legal(self, seat: str) -> Legal:
        return Legal.text(self.longest) if seat in self.to_act else Legal()

    def refusal(self, seat: str, action: str) -> str | None:
        reason = super().refusal(seat, action)
        if reason is None and action:
            try:
                canonical = self.canonical(action)
            except MoveError as error:
                return str(error)
            if canonical != action:
                return "the answer is not in its canonical form."
        return reason

    def canonical(self, answer: str) -> str:
        """The canonical form of an answer; raises a `MoveError` where there is none."""
        raise NotImplementedError

    def fallback(self, seat: str) -> str | None:
        """No readable answer is an empty one, which is wrong."""
        return ""

    @property
    def accuracies(self) -> list[float]:
        """What each answer is worth, from 0 to 1."""
        raise NotImplementedError

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answers = (*self.answers, actions[SEAT])

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: max(self.accuracies, default=0.0)}

    @property
    def facts(self) -> dict[str, Any]:
        task = self.scene.task
        return {
            **task.facts,
            "task": task.name,
            "layout": self.scene.layout,
            "answers": len(self.answers),
            "readable": bool(self.answers) and all(self.answers),
        }

    def clone(self) -> Self:
        return type(self)(self.game, self.given, self.answers)


_SPELLINGS = {name.replace("_", " "): name for name in ROBOTS}
_SPELLINGS |= {kind.name.lower(): name for name, kind in ROBOTS.items()}


@dataclass(frozen=True)
class Activate(Level):
    """Choose the robot types that a household task needs (VIKI level 1).

    Seats: `planner`, alone, for one move.
    Observation: the kitchen with its robots, and the task; the picture alone tells which robots are there.
    Actions: a list of robot types, such as `["fetch", "panda"]`; canonical form: JSON, sorted.
    Rewards: 1 for the set of types of the best team, else 0. The best team has the shortest plan and, among
    equals, the fewest robots; the scene has exactly one.
    """

    name = "viki/activate"
    view_class = "ludens.games.viki.views:ActivateView"
    bots = {"greedy": "ludens.games.viki.bots:GreedyTeam", **TEACHERS}

    def start(self, seed: int) -> Activation:
        return Activation(self, self.shown(seed))


class Activation(Answered):
    """A scene and the types that were named."""

    longest = 200

    def canonical(self, answer: str) -> str:
        return read_types(answer)

    def solution(self, seat: str) -> str | None:
        return json.dumps(self.scene.team)

    @property
    def accuracies(self) -> list[float]:
        return [float(answer == self.solution(SEAT)) for answer in self.answers]

    @property
    def facts(self) -> dict[str, Any]:
        said = self.answers[-1] if self.answers else ""
        return {
            **super().facts,
            "right": self.returns[SEAT] == 1.0,
            "truth": list(self.scene.team),
            "said": json.loads(said) if said else None,
            "robots": sorted(robot.type for robot in self.scene.robots),
        }


def read_types(answer: str) -> str:
    """The canonical form of a list of robot types: as JSON, a Python literal, or names with commas."""
    bare = answer.strip()
    names: Any = [part.strip(" '\"`.") for part in bare.split(",")]
    if bare[:1] in tuple("[({`\"'"):
        names = read_value(bare, what="list of robot types")
        names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple | set) or not all(isinstance(name, str) for name in names):
        raise Unreadable('the answer is not a list of robot types such as ["fetch", "panda"].')
    found = {_type(name) for name in names}
    if not found:
        raise Illegal("the list of robot types is empty; every task needs a robot.")
    return json.dumps(sorted(found))


def _type(name: str) -> str:
    folded = name.strip().lower()
    known = folded if folded in ROBOTS else _SPELLINGS.get(folded.replace("_", " "))
    if known is None:
        shown = name if len(name) <= 40 else name[:37] + "..."
        raise Illegal(f"there is no robot type {shown!r}; there are {', '.join(ROBOTS)}.")
    return known


LONGEST = 60_000


@dataclass(frozen=True)
class Plan(Level):
    """Plan what every robot does, step by step (VIKI level 2).

    Seats: `planner`, alone; one move, and up to `feedback` more after a wrong plan.
    Observation: the kitchen with its robots, and the task; after a wrong plan also that plan and, with
    `told`, the checker's sentence.
    Actions: a JSON list of steps, each with at most one action a robot.
    Rewards: 1 for a plan that can be done, reaches the goal and, with `step_penalty`, is not longer than the
    shortest, else 0.
    """

    name = "viki/plan"
    view_class = "ludens.games.viki.views:PlanView"
    bots = {"greedy": "ludens.games.viki.bots:GreedyPlan", **TEACHERS}

    feedback: int = option(0, low=0, high=10, help="further attempts after a wrong plan")
    told: bool = option(True, help="whether the checker says what was wrong before a further attempt")
    step_penalty: bool = option(True, help="whether a plan that is longer than the shortest earns nothing")

    @property
    def rules_variant(self) -> Variant:
        """The rule set: that of the released checker for released data."""
        return "released" if self.data else "default"

    @property
    def question(self) -> bool:  # type: ignore[override]
        """With feedback there are several answers."""
        return not self.feedback

    def start(self, seed: int) -> Planning:
        return Planning(self, self.shown(seed))


class Planning(Answered):
    """A scene, the plans that were tried and what the checker says about them."""

    game: Plan
    longest = LONGEST

    @property
    def attempts(self) -> int:  # type: ignore[override]
        return 1 + self.game.feedback

    def canonical(self, answer: str) -> str:
        return write_plan(read_plan(answer, self.game.rules_variant))

    @property
    def verdicts(self) -> list[Verdict]:
        """What the checker says about each plan."""
        return [verdict_of(self.given, answer, self.game.rules_variant) for answer in self.answers]

    @property
    def accuracies(self) -> list[float]:
        if self.game.step_penalty:
            return [float(verdict.right) for verdict in self.verdicts]
        return [float(verdict.reached) for verdict in self.verdicts]

    def solution(self, seat: str) -> str | None:
        return write_plan(self.scene.plan) if self.scene.plan else None

    @property
    def facts(self) -> dict[str, Any]:
        verdicts = self.verdicts
        last = verdicts[-1] if verdicts else None
        reached = last is not None and last.reached
        limit = self.scene.limit
        return {
            **super().facts,
            "right": bool(last and last.right),
            "rights": [verdict.right for verdict in verdicts],
            "feasible": bool(last and last.feasible),
            "reached": reached,
            "code": last.code if last else None,
            "length": last.length if last else None,
            "shortest": limit,
            "above": last.length - limit if last and reached and limit is not None else None,
        }


@lru_cache(maxsize=4096)
def verdict_of(given: Shown, answer: str, variant: Variant) -> Verdict:
    """What the checker says about an answer; an empty one could not be read."""
    try:
        return check(given.scene, read_plan(answer, variant), variant)
    except MoveError as error:
        reason = str(error) if answer else "the answer could not be read"
        return Verdict("format", reason.removesuffix("."), 0)


def write_plan(plan: Sequence[Mapping[str, Action]]) -> str:
    """The canonical form of a plan: compact JSON."""
    steps = [
        {"step": number, "actions": {robot: list(action) for robot, action in step.items()}}
        for number, step in enumerate(plan, 1)
    ]
    return json.dumps(steps, separators=(",", ":"), ensure_ascii=False)


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
