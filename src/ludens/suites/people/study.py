"""The tasks of a study as a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption, UnknownName
from ludens.core.options import option
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.validation import first_error
from ludens.run.task import MODEL, RETURN, WON, Metric, Suite, SuiteBuilder, Task, suite
from ludens.suites.people.records import excluded_keys

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

    def __post_init__(self) -> None:
        made = make(self.game)
        if set(self.seats) != set(made.seats):
            raise BadOption(
                f"the seats of task {self.name!r} must be those of {made.name}: {', '.join(made.seats)}."
            )
        self._of_suite()
        if any(parse_spec(who).name == "human" for who in self.seats.values()):
            raise BadOption(f"task {self.name!r} has a seat for 'human': write {PARTICIPANT!r}.")
        if PARTICIPANT not in self.seats.values():
            raise BadOption(f"task {self.name!r} has no seat for a {PARTICIPANT}.")
        if not (1 <= self.episodes <= MOST_EPISODES and 1 <= self.each <= self.episodes):
            raise BadOption(
                f"task {self.name!r} needs 1 to {MOST_EPISODES:,} episodes, and each must be 1 to episodes."
            )
        for limit in (self.seconds, self.minutes):
            if limit is not None and not 0 < limit <= 86_400:
                raise BadOption(f"the time limits of task {self.name!r} must be above 0 and at most 86400.")

    @property
    def people(self) -> tuple[str, ...]:
        """The seats of participants."""
        return tuple(seat for seat, who in self.seats.items() if who == PARTICIPANT)

    @property
    def config(self) -> PlayConfig:
        """That of the suite's task; who is too late loses, or is silent where the game says so."""
        known = self._of_suite()
        config = known.config if known else PlayConfig()
        limits = [limit for limit in (self.seconds, self.minutes and self.minutes * 60) if limit]
        return replace(config, seconds=min(limits), fallback="forfeit") if limits else config

    def build(self) -> Task:
        """The task of the suite."""
        known = self._of_suite()
        usual: tuple[Metric, ...] = (RETURN, WON) if len(self.people) < len(self.seats) else (RETURN,)
        return Task(
            name=self.name,
            game=self.game,
            seatings=({seat: MODEL if who == PARTICIPANT else who for seat, who in self.seats.items()},),
            episodes=self.episodes,
            metrics=known.metrics if known else usual,
            config=self.config,
            first_seed=self.first_seed,
            blindable=False,
        )

    def _of_suite(self) -> Task | None:
        if not self.suite:
            return None
        game = make(self.game).name
        known = {make(task.game).name: task for task in suite(self.suite).tasks}
        if game not in known:
            raise UnknownName(f"game of the suite {self.suite}", game, known)
        return known[game]


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
        )


def read_tasks(text: str) -> tuple[StudyTask, ...]:
    """Tasks from JSON."""
    try:
        return tasks_from(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise BadOption(f"the tasks of a study are not JSON: {error}.") from None


def tasks_from(data: Any) -> tuple[StudyTask, ...]:
    """Tasks from plain values."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

    try:
        with_config(ConfigDict(extra="forbid"))(StudyTask)
        return TypeAdapter(tuple[StudyTask, ...]).validate_python(data)
    except ValidationError as error:
        raise BadOption(f"the tasks of the study are not valid {first_error(error)}.") from None


def write_tasks(tasks: tuple[StudyTask, ...]) -> str:
    """Tasks as JSON."""
    return orjson.dumps(tasks).decode()
