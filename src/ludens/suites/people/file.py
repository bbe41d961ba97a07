"""The file that describes a study."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Literal

from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.registry import make
from ludens.core.spec import Spec
from ludens.core.validation import first_error
from ludens.run.plan import Plan, make_plan
from ludens.suites.people.study import StudyTask, write_tasks

LONGEST_ANSWER = 2_000
MOST_PARTICIPANTS = 10_000
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True)
class Question:
    """One question of a questionnaire."""

    name: str
    text: str
    kind: Literal["text", "number", "choice", "scale"] = "text"
    choices: tuple[str, ...] = ()
    """Of a choice; for a scale, what its two ends mean."""
    steps: int = 7
    """Of a scale."""
    required: bool = True

    def __post_init__(self) -> None:
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
    before: tuple[Question, ...] = ()
    after: tuple[Question, ...] = ()
    participants: int = 0
    """Number of personal links; 0 for one link for everyone."""
    leave_seconds: float = 60.0
    """Who is away for so long has left the game."""
    wait_minutes: float = 15.0
    """After so long without a partner, a participant may go on without this game."""

    def __post_init__(self) -> None:
        if not self.name or set(self.name) - set(_NAME):
            raise BadOption(
                "the name of a study consists of a-z, 0-9, - and _; it is the name of its folder."
            )
        if not self.task:
            raise BadOption("a study needs at least one [[task]].")
        for what, names in (
            ("tasks", [task.name for task in self.task]),
            ("questions", [question.name for question in (*self.before, *self.after)]),
        ):
            if len(set(names)) < len(names):
                raise BadOption(f"two {what} of the study have the same name.")
        for game in {make(task.game).name for task in self.task}:
            self._check_seeds(game)
        if not 0 <= self.participants <= MOST_PARTICIPANTS:
            raise BadOption(f"participants must be 0 to {MOST_PARTICIPANTS:,}.")
        if not (1 <= self.leave_seconds <= 86_400 and 0 <= self.wait_minutes <= 1_440):
            raise BadOption("leave_seconds must be 1 to 86400, and wait_minutes 0 to 1440.")

    def _check_seeds(self, game: str) -> None:
        """Nobody is given a seed of a game twice, so every participant needs enough different ones."""
        tasks = [task for task in self.task if make(task.game).name == game]
        seeds = {seed for task in tasks for seed in range(task.first_seed, task.first_seed + task.episodes)}
        wanted = sum(task.each for task in tasks)
        if wanted > len(seeds):
            raise BadOption(
                f"every participant plays {wanted} games of {game}, but there are only {len(seeds)} "
                "different seeds: choose another first_seed for one of the tasks, or more episodes."
            )

    def plan(self) -> Plan:
        """The run with all episodes of the study."""
        suite = Spec("study", None, {"name": self.name, "tasks": write_tasks(self.task)})
        return make_plan(str(suite), {"people": "human"})


def read_study(path: Path) -> StudyFile:
    """Read and validate a study."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"cannot read the study {str(path)!r}: {(error.strerror or str(error)).lower()}."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"the study {str(path)!r} is not TOML: {error}.") from None
    try:
        for part in (StudyTask, Question, StudyFile):
            with_config(ConfigDict(extra="forbid"))(part)
        return TypeAdapter(StudyFile).validate_python(data)
    except ValidationError as error:
        raise BadFile(f"the study {str(path)!r} is not valid {first_error(error)}.") from None
    except UsageError as error:
        raise BadFile(f"the study {str(path)!r} is not valid: {error}") from None
