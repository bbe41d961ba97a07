"""Games that people played in the browser, as suites: so their episodes are runs like any other.

    play     one game (`ludens web`)
    study    the tasks of a study (`ludens web --study FILE`)

Everything is in the options, so that `run.json` alone says what was played.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from pathlib import Path
from typing import Any, Literal

import orjson

from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile, BadOption, UnknownName, UsageError
from ludens.core.options import Touch, option
from ludens.core.registry import make
from ludens.core.spec import Spec, parse_spec
from ludens.core.validation import Invalid, read_value
from ludens.run.plan import Plan, make_plan
from ludens.run.task import MODEL, RETURN, WON, Metric, Suite, SuiteBuilder, Task, suite
from ludens.suites.people.records import excluded_keys, participant_clusters


@dataclass(frozen=True)
class Play(SuiteBuilder):
    """One game; every seat is a person's unless the run gives it to another player."""

    game: str = option("tic_tac_toe", help="the game, with its options", touches=Touch.GAME)

    def build(self) -> Suite:
        game = make(self.game)
        metrics = (RETURN, WON) if len(game.seats) > 1 else (RETURN,)
        task = Task(game.name, self.game, (dict.fromkeys(game.seats, MODEL),), 1, metrics)
        return Suite("play", "A game that people played in the browser.", (task,))


PARTICIPANT = "participant"
"""In the seats of a task: a person."""
MOST_EPISODES = 100_000


@dataclass(frozen=True)
class StudyTask:
    """One task of a study."""

    name: str
    game: str
    seats: Mapping[str, str]
    """Seat to `participant` or the spec of a player."""
    episodes: int
    """How many are wanted, over all participants."""
    first_seed: int = 0
    each: int = 1
    """How many every participant plays."""
    suite: str = ""
    """The suite whose metrics are reported: those of its task with this game."""
    seconds: float | None = None
    """Time limit of one move."""
    minutes: float | None = None
    """Time limit of one game."""
    practice: bool = False
    """Whether it is played for practice: alone with other players, and no part of the results."""

    def __post_init__(self) -> None:
        game = make(self.game)
        if set(self.seats) != set(game.seats):
            raise BadOption(
                f"the seats of task {self.name!r} must be those of {game.name}: {', '.join(game.seats)}."
            )
        self._of_suite()
        if any(parse_spec(player).name == "human" for player in self.seats.values()):
            raise BadOption(f"task {self.name!r} has a seat for 'human': write {PARTICIPANT!r}.")
        if PARTICIPANT not in self.seats.values():
            raise BadOption(f"task {self.name!r} has no seat for a {PARTICIPANT}.")
        if self.practice and len(self.people) != 1:
            raise BadOption(f"the practice task {self.name!r} needs exactly one seat for a {PARTICIPANT}.")
        if not (1 <= self.episodes <= MOST_EPISODES and 1 <= self.each <= self.episodes):
            raise BadOption(
                f"task {self.name!r} needs 1 to {MOST_EPISODES:,} episodes, and each must be 1 to episodes."
            )
        for limit in (self.seconds, self.minutes):
            if limit is not None and not 0 < limit <= 86_400:
                raise BadOption(f"the time limits of task {self.name!r} must be above 0 and at most 86400.")

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(seat for seat, player in self.seats.items() if player == PARTICIPANT)

    @property
    def config(self) -> PlayConfig:
        """The config of the suite's task; with a time limit, a late move forfeits the game."""
        task = self._of_suite()
        config = task.config if task else PlayConfig()
        limits = [limit for limit in (self.seconds, self.minutes and self.minutes * 60) if limit]
        return replace(config, seconds=min(limits), fallback="forfeit") if limits else config

    def build(self) -> Task:
        task = self._of_suite()
        usual: tuple[Metric, ...] = (RETURN, WON) if len(self.people) < len(self.seats) else (RETURN,)
        return Task(
            name=self.name,
            game=self.game,
            seatings=({seat: MODEL if spec == PARTICIPANT else spec for seat, spec in self.seats.items()},),
            episodes=self.episodes,
            metrics=task.metrics if task else usual,
            config=self.config,
            first_seed=self.first_seed,
            blindable=False,
        )

    def _of_suite(self) -> Task | None:
        if not self.suite:
            return None
        game = make(self.game)
        tasks = [(task, make(task.game)) for task in suite(self.suite).tasks]
        same_game = [(task, each.options) for task, each in tasks if each.name == game.name]
        if not same_game:
            raise UnknownName(f"game of the suite {self.suite}", game.name, [g.name for _, g in tasks])
        return next((task for task, options in same_game if options == game.options), same_game[-1][0])


@dataclass(frozen=True)
class Study(SuiteBuilder):
    """The tasks of a study."""

    name: str = option("study", help="name of the study")
    tasks: str = option(
        '[{"name":"wire","game":"comma/wire","seats":{"solver":"participant","expert":"participant"},'
        '"episodes":1,"suite":"comma"}]',
        help="its tasks as JSON, as `ludens web --study` writes them",
    )

    def build(self) -> Suite:
        return Suite(
            name=self.name,
            about="A study with people.",
            tasks=tuple(task.build() for task in read_tasks(self.tasks)),
            left_out=excluded_keys,
            clusters=participant_clusters,
        )


def read_tasks(text: str) -> tuple[StudyTask, ...]:
    try:
        return tasks_from(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise BadOption(f"the tasks of a study are not JSON: {error}.") from None


def tasks_from(data: Any) -> tuple[StudyTask, ...]:
    try:
        return read_value(tuple[StudyTask, ...], data)
    except Invalid as error:
        raise BadOption(f"the tasks of the study are not valid {error}.") from None


LONGEST_ANSWER = 2_000
MOST_PARTICIPANTS = 10_000
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True)
class StudyQuestion:
    """One question of a questionnaire."""

    name: str
    text: str
    kind: Literal["text", "number", "choice", "scale"] = "text"
    choices: tuple[str, ...] = ()
    """Of a choice; for a scale, what its two ends mean."""
    steps: int = 7
    required: bool = True
    right: str = ""
    """For an attention check: the answer of anyone who has read the question. Participants who give another
    answer are excluded when they have finished."""

    def __post_init__(self) -> None:
        if self.right and self.right not in self.options:
            raise BadOption(f"the right answer to {self.name!r} must be one of its answers.")
        if self.kind == "choice" and len(self.choices) < 2:
            raise BadOption(f"the question {self.name!r} needs at least two choices.")
        if self.kind == "scale" and (len(self.choices) not in (0, 2) or not 2 <= self.steps <= 20):
            raise BadOption(f"the scale {self.name!r} has 2 to 20 steps, and names for both ends or none.")

    @property
    def options(self) -> tuple[str, ...]:
        """The answers to choose from; none for text and numbers."""
        return tuple(str(n + 1) for n in range(self.steps)) if self.kind == "scale" else self.choices

    def read(self, text: str) -> str | float:
        """An answer; raises `BadOption` where it is missing or not possible."""
        text = text.strip()[:LONGEST_ANSWER]
        if not text and self.required:
            raise BadOption(f"please answer: {self.text}")
        if text and self.options and text not in self.options:
            raise BadOption(f"{text!r} is not an answer to: {self.text}")
        if text and self.kind == "number":
            try:
                number = float(text)
            except ValueError:
                number = nan
            if not isfinite(number):
                raise BadOption(f"please answer with a number: {self.text}")
            return number
        return text


@dataclass(frozen=True)
class StudyFile:
    """A study, as its file describes it."""

    name: str
    task: tuple[StudyTask, ...]
    title: str = ""
    consent: str = ""
    instructions: str = ""
    thanks: str = "Thank you. You may close this page."
    before: tuple[StudyQuestion, ...] = ()
    after: tuple[StudyQuestion, ...] = ()
    participants: int = 0
    """Number of personal links; 0 for one link for everyone."""
    leave_seconds: float = 60.0
    """A participant who is disconnected for this long has left the game."""
    wait_minutes: float = 15.0
    """After this long without a partner, a participant may continue without this game."""

    def __post_init__(self) -> None:
        if not self.name or set(self.name) - set(_NAME):
            raise BadOption(
                "the name of a study consists of a-z, 0-9, - and _; it is the name of its folder."
            )
        if not self.tasks:
            raise BadOption("a study needs at least one [[task]] that is not practice.")
        for kind, names in (
            ("tasks", [task.name for task in self.task]),
            ("questions", [question.name for question in (*self.before, *self.after)]),
        ):
            if len(set(names)) < len(names):
                raise BadOption(f"two {kind} of the study have the same name.")
        for game in {make(task.game).name for task in self.task}:
            self._check_seeds(game)
        if not 0 <= self.participants <= MOST_PARTICIPANTS:
            raise BadOption(f"participants must be 0 to {MOST_PARTICIPANTS:,}.")
        if not (1 <= self.leave_seconds <= 86_400 and 0 <= self.wait_minutes <= 1_440):
            raise BadOption("leave_seconds must be 1 to 86400, and wait_minutes 0 to 1440.")

    @property
    def tasks(self) -> tuple[StudyTask, ...]:
        """The tasks whose results count."""
        return tuple(task for task in self.task if not task.practice)

    def failed_checks(self, answers: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The attention checks that were answered wrongly, given part to question to answer."""
        parts = {"before": self.before, "after": self.after}
        return [
            question.name
            for part, questions in parts.items()
            for question in questions
            if question.right and answers.get(part, {}).get(question.name) != question.right
        ]

    def _check_seeds(self, game: str) -> None:
        """Raise an error if there are too few seeds of a game: a participant never plays a seed twice."""
        tasks = [task for task in self.task if make(task.game).name == game]
        seeds = {seed for task in tasks for seed in range(task.first_seed, task.first_seed + task.episodes)}
        games = sum(task.each for task in tasks)
        if games > len(seeds):
            raise BadOption(
                f"every participant plays {games} games of {game}, but there are only {len(seeds)} "
                "different seeds: choose another first_seed for one of the tasks, or more episodes."
            )

    def plan(self) -> Plan:
        suite = Spec("study", None, {"name": self.name, "tasks": orjson.dumps(self.tasks).decode()})
        return make_plan(str(suite), {"people": "human"})


def read_study(path: Path) -> StudyFile:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"cannot read the study {str(path)!r}: {(error.strerror or str(error)).lower()}."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"the study {str(path)!r} is not TOML: {error}.") from None
    try:
        return read_value(StudyFile, data)
    except Invalid as error:
        raise BadFile(f"the study {str(path)!r} is not valid {error}.") from None
    except UsageError as error:
        raise BadFile(f"the study {str(path)!r} is not valid: {error}") from None
