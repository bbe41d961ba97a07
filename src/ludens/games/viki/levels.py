"""The three levels as questions: which robot types, which plan, which paths."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count, takewhile
from math import hypot
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ludens.core.errors import BadOption, MoveError
from ludens.core.game import Game, Preset
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.core.state import State
from ludens.core.twins import TwinGame, pair_of
from ludens.games.viki.checker import PlanVerdict, check, partial_credit
from ludens.games.viki.floor import (
    NAMES,
    SIDE,
    FloorPlan,
    Point,
    distances,
    most_in_both,
    path,
    reward,
    sample_path,
    turned,
)
from ludens.games.viki.generate import MOST_STEPS, SeededScene, Split, generate_twin, store, stored
from ludens.games.viki.replies import (
    PATHS,
    POINTS,
    Variant,
    combined,
    points_of,
    read_plan,
    read_points,
    read_types,
    write_plan,
    write_points,
)
from ludens.games.viki.sources import (
    LOOKS,
    SEAT,
    SPLIT_HELP,
    SPLITS,
    SceneSetup,
    SceneState,
    setup_of,
    short_module,
    short_setup,
)
from ludens.games.viki.world import ROBOTS, Robot, Scene
from ludens.pictures.sets import installed_sets

if TYPE_CHECKING:
    from ludens.core.episode import Move


TEACHERS = {
    "oracle": "ludens.games.viki.bots:AnswerOracle",
    "describe": "ludens.games.viki.bots:Describe",
}
"""Bots of all levels, for imitation."""


class AnswerState(SceneState):
    """A scene and the answers about it."""

    attempts = 1
    """How many answers may be given."""
    answers: tuple[str, ...] = ()

    @property
    def to_act(self) -> tuple[str, ...]:
        done = len(self.answers) >= self.attempts or (bool(self.answers) and self.accuracies[-1] == 1.0)
        return () if done else (SEAT,)

    @property
    def accuracies(self) -> list[float]:
        """What each answer is worth, from 0 to 1."""
        raise NotImplementedError

    @property
    def credits(self) -> list[float]:
        """What each answer earns in training, from 0 to 1."""
        return self.accuracies

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


@dataclass(frozen=True)
class Level(Game):
    """The options of all levels."""

    seats = (SEAT,)
    best = "bot/oracle"
    presets = {
        "easy": Preset({"split": "train"}),
        "medium": Preset(),
        "hard": Preset({"split": "ood"}),
        "paper": Preset(),
    }
    question = True
    version = 2

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

    module: ClassVar[str] = "generate"
    """The module that makes its scenes."""
    state_class: ClassVar[type[AnswerState]]

    @property
    def rules_variant(self) -> Variant:
        """The rule set: that of the released scorers for released data."""
        return "released" if self.data else "default"

    def start(self, seed: int) -> AnswerState:
        return self.state_class(self, self.setup(seed))

    def setup(self, seed: int) -> SceneSetup:
        """The scene of a seed, with its pictures where they come from files."""
        return setup_of(self.name, self.look, self.split, self.pictures, self.data, seed)

    def prepare(self, seeds: Iterable[int]) -> None:
        """Make scenes, which need a planner; those from files are there already."""
        if self.look == "map" and not self.data:
            store(self.module, self.split, seeds, self._seeded_scene)

    def _seeded_scene(self, seed: int) -> SeededScene:
        setup = self.setup(seed)
        return setup.seed, setup.scene

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        """A tenth for the form of the reply, the rest for the answer."""
        assert isinstance(state, AnswerState)
        texts = [move.tries[-1].text if move.tries else "" for move in moves]
        return [combined(text, part) for text, part in zip(texts, state.credits, strict=False)]


@dataclass(frozen=True)
class TwinLevel(Level, TwinGame[AnswerState]):
    """A level with twin worlds: the same task and robots."""

    def start(self, seed: int) -> AnswerState:
        return TwinGame.start(self, seed)

    def world(self, seed: int) -> AnswerState:
        return self.state_class(self, self.setup(seed))

    def pair(self, seed: int) -> tuple[AnswerState, AnswerState]:
        if self.data or self.look != "map":
            raise BadOption("twins of VIKI need look=map: pictures from files have none.")
        first, second = (stored(self._twin_module, self.split, 2 * seed + world) for world in (0, 1))
        setups = (SceneSetup(*first), SceneSetup(*second)) if first and second else self._made_pair(seed)
        return self.state_class(self, setups[0]), self.state_class(self, setups[1])

    @lru_cache(maxsize=256)  # noqa: B019
    def _made_pair(self, seed: int) -> tuple[SceneSetup, SceneSetup]:
        for attempt in count():
            setup = self.setup(stream(seed, "pair", attempt).bits() >> 16 if attempt else seed)
            twin = self.twin_of(setup, stream(seed, "twin", attempt))
            if twin is not None:
                return setup, twin
        raise AssertionError  # attempts do not end

    @abstractmethod
    def twin_of(self, setup: SceneSetup, random: Stream) -> SceneSetup | None:
        """A scene with the same words, such that no answer is right in both; None where none was found."""

    @property
    def _twin_module(self) -> str:
        return f"twins-{self.name.rpartition('/')[2]}"

    def prepare(self, seeds: Iterable[int]) -> None:
        if self.twins and self.look == "map" and not self.data:
            store(self._twin_module, self.split, seeds, self._seeded_world)
        else:
            super().prepare(seeds)

    def _seeded_world(self, seed: int) -> SeededScene:
        setup = self._made_pair(pair_of(seed))[seed % 2]
        return setup.seed, setup.scene


@dataclass(frozen=True)
class MovedLevel(TwinLevel):
    """A level whose twins have the same kitchen, and things and robots in other places."""

    def twin_of(self, setup: SceneSetup, random: Stream) -> SceneSetup | None:
        scene = setup.scene
        twin = generate_twin(scene, random, cast(Split, self.split), partial(self.apart, scene))
        return None if twin is None else replace(setup, scene=twin)

    @staticmethod
    @abstractmethod
    def apart(scene: Scene, twin: Scene) -> bool:
        """Whether no answer is right in both scenes."""


TYPES_PRESENT = "types present"


class ActivateState(AnswerState):
    """A scene and the types that were named."""

    longest = 200

    def canonical(self, answer: str) -> str:
        return read_types(answer)

    def solution(self, seat: str) -> str | None:
        return json.dumps(self.scene.team)

    def cues(self, seat: str) -> Mapping[str, str]:
        """Who is there, not where."""
        return {TYPES_PRESENT: " ".join(sorted({robot.type for robot in self.scene.robots}))}

    @property
    def accuracies(self) -> list[float]:
        return [float(answer == self.solution(SEAT)) for answer in self.answers]

    @property
    def facts(self) -> dict[str, Any]:
        answer = self.answers[-1] if self.answers else ""
        return {
            **super().facts,
            "right": self.returns[SEAT] == 1.0,
            "truth": list(self.scene.team),
            "said": json.loads(answer) if answer else None,
            "robots": sorted(robot.type for robot in self.scene.robots),
        }


@dataclass(frozen=True)
class ActivateLevel(MovedLevel):
    """Choose the robot types that a household task needs (VIKI level 1).

    Seats: `planner`, alone, for one move.
    Observation: the kitchen with its robots, and the task; the picture alone tells which robots are there.
    Actions: a list of robot types, such as `["fetch", "panda"]`; canonical form: JSON, sorted.
    Rewards: 1 for the set of types of the best team, else 0. The best team has the shortest plan and, among
    equals, the fewest robots; the scene has exactly one.
    Twins: the same task, kitchen and robots; things and robots are elsewhere, and another team is the best.
    """

    name = "viki/activate"
    view_class = "ludens.games.viki.views:ActivateView"
    state_class = ActivateState
    bots = {"greedy": "ludens.games.viki.bots:GreedyTeam", **TEACHERS}

    @staticmethod
    def apart(scene: Scene, twin: Scene) -> bool:
        return scene.team != twin.team


class PlanState(AnswerState):
    """A scene, the plans that were tried and what the checker says about them."""

    game: PlanLevel
    longest = 60_000

    @property
    def attempts(self) -> int:  # type: ignore[override]
        return 1 + self.game.feedback

    def canonical(self, answer: str) -> str:
        return write_plan(read_plan(answer, self.game.rules_variant))

    @property
    def verdicts(self) -> list[PlanVerdict]:
        return [verdict_of(self.setup, answer, self.game.rules_variant) for answer in self.answers]

    @property
    def accuracies(self) -> list[float]:
        penalty = self.game.step_penalty
        return [float(verdict.right if penalty else verdict.reached) for verdict in self.verdicts]

    @property
    def credits(self) -> list[float]:
        if not self.game.partial:
            return self.accuracies
        plans = (read_plan(answer) if answer else [] for answer in self.answers)
        return [
            max(right, partial_credit(self.scene, plan))
            for right, plan in zip(self.accuracies, plans, strict=True)
        ]

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


@dataclass(frozen=True)
class PlanLevel(MovedLevel):
    """Plan what every robot does, step by step (VIKI level 2).

    Seats: `planner`, alone; one move, and up to `feedback` more after a wrong plan.
    Observation: the kitchen with its robots, and the task; after a wrong plan also that plan and, with
    `told`, the checker's sentence.
    Actions: a JSON list of steps, each with at most one action a robot.
    Rewards: 1 for a plan that can be done, reaches the goal and, with `step_penalty`, is not longer than the
    shortest, else 0. With `partial`, a wrong plan earns up to 0.6 in training: 0.2 for the steps before its
    first fault, 0.4 for the conditions that then hold.
    Twins: the same task, kitchen and robots; things and robots are elsewhere, and the shortest plan has
    another length: a plan that is short enough for one scene does not reach the goal of the other.
    """

    name = "viki/plan"
    view_class = "ludens.games.viki.views:PlanView"
    state_class = PlanState
    bots = {
        "greedy": "ludens.games.viki.bots:GreedyPlan",
        **TEACHERS,
        "oracle": "ludens.games.viki.subgoals:PlanOracle",
    }

    feedback: int = option(0, low=0, high=10, help="further attempts after a wrong plan")
    told: bool = option(True, help="whether the checker says what was wrong before a further attempt")
    step_penalty: bool = option(True, help="whether a plan that is longer than the shortest earns nothing")
    steps: int = option(
        0,
        low=0,
        high=MOST_STEPS,
        help="only tasks that at most so many steps do, made fast, for a curriculum; 0 for all tasks",
    )
    mixed: bool = option(
        False,
        help="with steps: any thing may be moved, also a bowl, but no dish to the table as in split=ood",
    )
    partial: bool = option(
        False, help="whether steps and goals of a wrong plan earn a part of the reward in training"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps and (self.twins or self.data or self.look != "map"):
            raise BadOption("steps of viki/plan need look=map, no data and no twins: such scenes are made.")
        if self.mixed and not self.steps:
            raise BadOption(
                "mixed of viki/plan needs steps, such as steps=11: other scenes have their families."
            )
        if self.partial and self.data:
            raise BadOption("partial of viki/plan needs our rules: data is played by the released ones.")
        if self.twins and (self.feedback or not self.step_penalty):
            raise BadOption(
                "twins of viki/plan need feedback=0 and step_penalty=true: one plan, as short as can be."
            )

    @property
    def module(self) -> str:  # type: ignore[override]
        return short_module(self.steps, self.mixed) if self.steps else "generate"

    def setup(self, seed: int) -> SceneSetup:
        short = self.steps > 0
        return short_setup(self.split, self.steps, self.mixed, seed) if short else super().setup(seed)

    @staticmethod
    def apart(scene: Scene, twin: Scene) -> bool:
        return scene.limit != twin.limit

    @property
    def question(self) -> bool:  # type: ignore[override]
        """With feedback there are several answers."""
        return not self.feedback


@lru_cache(maxsize=4096)
def verdict_of(setup: SceneSetup, answer: str, variant: Variant) -> PlanVerdict:
    """What the checker says about an answer; an empty one could not be read."""
    try:
        return check(setup.scene, read_plan(answer, variant), variant)
    except MoveError as error:
        reason = str(error) if answer else "the answer could not be read"
        return PlanVerdict("format", reason.removesuffix("."), 0)


RIGHT_PATHS = 0.8
"""The reward from which on an answer counts as right in twin worlds."""


class TraceState(AnswerState):
    """A scene, two errands and the points that were marked."""

    game: TraceLevel
    longest = 1_000

    @property
    def errands(self) -> tuple[RobotErrand, RobotErrand]:
        """Yours and your partner's."""
        pair = errands(self.setup)
        assert pair is not None
        return pair

    @property
    def truth(self) -> tuple[tuple[Point, ...], ...]:
        return self.setup.points or tuple(one.points for one in self.errands)

    def canonical(self, answer: str) -> str:
        return read_points(answer, *self.setup.size, self.game.rules_variant)

    def solution(self, seat: str) -> str | None:
        return write_points(self.truth)

    @property
    def accuracies(self) -> list[float]:
        """Scaled to a picture of 512 pixels; by the released rules, pixels count as they are."""
        unit = 1.0 if self.game.data else SIDE / max(self.setup.size)
        return [
            sum(reward(one, unit) for one in self._distances(answer)) / len(PATHS) for answer in self.answers
        ]

    def _distances(self, answer: str) -> list[dict[str, float]]:
        """For each robot; none where the answer could not be read."""
        pairs = zip(points_of(answer), self.truth, strict=True) if answer else ()
        return [distances(points, truth) for points, truth in pairs]

    def apart(self) -> dict[str, float]:
        """The mean distances over both robots; those of an unreadable answer are the diagonal."""
        both = self._distances(self.answers[-1]) if self.answers else []
        if not both:
            return dict.fromkeys(NAMES, hypot(*self.setup.size))
        return {name: sum(one[name] for one in both) / len(both) for name in NAMES}

    @property
    def facts(self) -> dict[str, Any]:
        apart = {name: round(value, 3) for name, value in self.apart().items()}
        return {
            **super().facts,
            **apart,
            "average": round(sum(apart.values()) / len(apart), 3),
            "relative": round(sum(apart.values()) / len(apart) / max(self.setup.size), 5),
            "reward": self.returns[SEAT],
            "right": self.returns[SEAT] >= RIGHT_PATHS,
        }


@dataclass(frozen=True)
class TraceLevel(TwinLevel):
    """Mark the paths of two robots in the picture, five points each (VIKI level 3).

    Seats: `planner`, alone, for one move.
    Observation: the kitchen, the task, and what you and one partner do next, as the shortest plan has it.
    Actions: two lists of five points [x, y], yours first, in units of 1/512 of the picture's side.
    Rewards: for each robot the mean of 1 - distance / scale over RMSE, Hausdorff and discrete Frechet
    distance, each at least 0; then the mean of both robots. An unreadable answer earns 0, and its distances
    are the diagonal of the picture.
    Twins: the same task, robots and errands; the kitchen is turned by half a turn, and no paths earn 0.8 in
    both scenes.
    """

    name = "viki/trace"
    view_class = "ludens.games.viki.views:TraceView"
    state_class = TraceState
    bots = {"greedy": "ludens.games.viki.bots:GreedyTrace", **TEACHERS}

    module = "trace"

    def setup(self, seed: int) -> SceneSetup:
        """The first scene of a seed in whose plan two robots have a way to go."""
        return super().setup(seed) if self.data else _with_paths(self, seed)

    def twin_of(self, setup: SceneSetup, random: Stream) -> SceneSetup | None:
        twin = replace(setup, scene=turned(setup.scene))
        ways, others = errands(setup), errands(twin)
        if ways is None or others is None or _words(ways) != _words(others):
            return None
        most = [most_in_both(one.points, two.points) for one, two in zip(ways, others, strict=True)]
        return twin if sum(most) / len(most) < 2 * RIGHT_PATHS else None


@lru_cache(maxsize=512)
def _with_paths(game: TraceLevel, seed: int) -> SceneSetup:
    if game.look == "map" and (seeded := stored(game.module, game.split, seed)):
        return SceneSetup(*seeded)
    tries = (Level.setup(game, stream(seed, "trace", number).bits() >> 16) for number in count())
    return next(setup for setup in tries if errands(setup) is not None)


@dataclass(frozen=True)
class RobotErrand:
    """What a robot does first by the plan, and the path it takes."""

    robot: str
    target: str
    words: str
    points: tuple[Point, ...]


def _words(ways: Iterable[RobotErrand]) -> list[tuple[str, str]]:
    return [(one.robot, one.words) for one in ways]


@lru_cache(maxsize=1024)
def errands(setup: SceneSetup) -> tuple[RobotErrand, RobotErrand] | None:
    """What two robots do by the plan; None where fewer than two of them have a way to go in it."""
    floor = FloorPlan(setup.scene)
    ways = [way for robot in setup.scene.robots if (way := _first_way(floor, robot)) is not None]
    if len(ways) < len(PATHS):
        return None
    one, two = stream(setup.seed, "errands").sample(ways, len(PATHS))
    return one, two


def _first_way(floor: FloorPlan, robot: Robot) -> RobotErrand | None:
    """The first Move of a robot in the plan, or the first Reach of a fixed arm: until then it stays where it
    is. A robot goes to the thing that it uses there."""
    actions = [step[robot.id] for step in floor.scene.plan if robot.id in step]
    mobile = ROBOTS[robot.type].mobile
    primitive = "Move" if mobile else "Reach"
    at = next((number for number, action in enumerate(actions) if action[0] == primitive), None)
    if at is None or any(action[0] == "Push" for action in actions[:at]):
        return None
    target = actions[at][1]
    if mobile:
        stay = takewhile(lambda action: action[0] not in ("Move", "Push"), actions[at + 1 :])
        used = [action[1] for action in stay]
        target = next((name for name in used if floor.is_seen_in(name, target)), target)
    elif target not in floor.centres:
        return None
    corners = sample_path(path(floor, robot.id, target), POINTS)
    points = tuple((round(float(x), 1), round(float(y), 1)) for x, y in corners)
    return RobotErrand(robot.id, target, f"{'Move to' if mobile else 'Reach'} the {target}", points)
