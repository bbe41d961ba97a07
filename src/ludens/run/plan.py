"""What a run will play: entrants x tasks x seeds, each with a key that never changes."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.templates import TemplateOverrides
from ludens.core.view import RenderOptions
from ludens.run.task import MODEL, Suite, Task, import_suite, suite


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to be played."""

    key: str
    entrant: str
    task: str
    seed: int
    seating: int


@dataclass(frozen=True)
class Plan:
    """Everything needed to repeat a run. Written to `run.json`; holds no keys or secrets."""

    suite: str
    entrants: Mapping[str, str]
    """Name in tables to agent spec."""
    tasks: tuple[str, ...] = ()
    """The tasks of the suite that are played; all when empty."""
    limit: int = 0
    """At most so many episodes a task; 0 for the suite's own number."""
    seed: int = 0
    """Moves every task's first seed."""
    theme: str = "classic"
    size: int = 512
    templates: str = ""
    void_retries: int = 2
    """How often an episode that an agent failure voided is played again."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """The entrants that are blind controls, and of whom; they leave out tasks that are not blindable."""
    task_snapshot: Mapping[str, Any] = field(default_factory=dict)
    """Each task spelt out as it was when the run began: game, version, seatings, seeds, table."""
    template_hashes: Mapping[str, str] = field(default_factory=dict)
    """Folders with words of the user's own, and a hash of what stood in each when the run began."""
    made_with: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def chosen(self) -> dict[str, Task]:
        """The tasks by name."""
        whole: Suite = suite(self.suite)
        known = {task.name: task for task in whole.tasks}
        for name in self.tasks:
            if name not in known:
                raise UnknownName(f"task of {self.suite}", name, known)
        return {name: known[name] for name in (self.tasks or known)}

    @cached_property
    def render(self) -> RenderOptions:
        """How everything is shown."""
        overrides = TemplateOverrides.read(Path(self.templates)) if self.templates else None
        return RenderOptions(self.theme, self.size, overrides)

    def jobs(self) -> Iterator[Job]:
        """Every episode, in an order that lets all tasks and entrants advance together."""
        counts = {name: self.count(task) for name, task in self.chosen.items()}
        for index in range(max(counts.values())):
            for name, task in self.chosen.items():
                if index < counts[name]:
                    seed, seating = task.placed(index)
                    seed += self.seed
                    for entrant in self.playing(task):
                        yield Job(f"{entrant}:{name}:{seed}:{seating}", entrant, name, seed, seating)

    def playing(self, task: Task) -> list[str]:
        """Who plays a task: everybody, except blind controls where there is nothing to be blind to."""
        return [name for name in self.entrants if task.blindable or name not in self.controls]

    def count(self, task: Task) -> int:
        """How many episodes of a task each entrant plays; seatings are never cut in half."""
        if not self.limit or self.limit >= task.episodes:
            return task.episodes
        swaps = len(task.seatings)
        return min(task.episodes, -(-self.limit // swaps) * swaps)

    def total(self) -> int:
        """All episodes of the run."""
        return sum(len(self.playing(task)) * self.count(task) for task in self.chosen.values())

    def specs(self, job: Job) -> dict[str, str]:
        """Who sits where in this episode."""
        seating = self.chosen[job.task].seatings[job.seating]
        return {seat: self.entrants[job.entrant] if who == MODEL else who for seat, who in seating.items()}

    def seats(self, job: Job) -> tuple[str, ...]:
        """The seats of the entrant in this episode."""
        seating = self.chosen[job.task].seatings[job.seating]
        return tuple(seat for seat, who in seating.items() if who == MODEL)

    def to_json(self) -> bytes:
        """What `run.json` holds."""
        return orjson.dumps(self._fields(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @staticmethod
    def from_json(data: bytes) -> Plan:
        """Read `run.json`."""
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(Plan).validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise BadFile(f"run.json is not valid at {place or 'its start'}: {first['msg']}.") from None

    def identity(self) -> str:
        """A hash of what is played, so that results of two plans are never mixed."""
        rest = self._fields()
        del rest["made_with"]
        return blake2b(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()

    def check_unchanged(self) -> None:
        """Refuse to go on with tasks that are not those the run began with."""
        now = _task_snapshot(self.chosen)
        for name, task in self.task_snapshot.items():
            if now.get(name) != task:
                raise BadOption(
                    f"task {name!r} of {self.suite} has changed since this run began; begin a new run."
                )
        for folder, before in self.template_hashes.items():
            if _hash_of(Path(folder)) != before:
                raise BadOption(
                    f"the words in {folder!r} have changed since this run began; begin a new run."
                )

    def template_folders(self) -> list[str]:
        """Where words of the user's own are found, for games and for those who play."""
        own = (parse_spec(spec).options.get("templates", "") for spec in self.entrants.values())
        return sorted({self.templates, *own} - {""})

    def _fields(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def make_plan(suite_name: str, entrants: Mapping[str, str], **choices: Any) -> Plan:
    """A plan whose tasks, games, seats and names have been checked; the suite's name is trusted."""
    import_suite(suite_name)
    if not entrants:
        raise BadOption("nobody to measure: name at least one --model.")
    bare = Plan(suite_name, dict(entrants), **choices)
    for task in bare.chosen.values():
        game = make(task.game)
        for seating in task.seatings:
            if set(seating) != set(game.seats):
                raise BadOption(
                    f"task {task.name!r} seats {sorted(seating)} at {game.name}, not {list(game.seats)}."
                )
    starts = [f"{name}:{task}" for name in bare.entrants for task in bare.chosen]
    if len(set(starts)) < len(starts):
        raise BadOption("the names of entrants and tasks make keys that could be mistaken for one another.")
    return replace(
        bare,
        task_snapshot=_task_snapshot(bare.chosen),
        template_hashes={folder: _hash_of(Path(folder)) for folder in bare.template_folders()},
        made_with=versions(),
    )


def _task_snapshot(tasks: Mapping[str, Task]) -> dict[str, Any]:
    """What is played in each task, as plain JSON values."""
    snapshot = {
        name: {
            "game": task.game,
            "version": make(task.game).version,
            "seatings": task.seatings,
            "episodes": task.episodes,
            "first_seed": task.first_seed,
            "config": asdict(task.config),
        }
        for name, task in tasks.items()
    }
    plain: dict[str, Any] = orjson.loads(orjson.dumps(snapshot))
    return plain


def _hash_of(templates: Path) -> str:
    """Of the names and letters of all words files of a folder."""
    found = blake2b(digest_size=12)
    for file in sorted(templates.glob("*.md")):
        try:
            found.update(orjson.dumps([file.name, file.read_text("utf-8")]))
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"cannot read the words file {str(file)!r}: {error}.") from None
    return found.hexdigest()


def versions() -> dict[str, str]:
    """What this run is made with."""
    from importlib.metadata import PackageNotFoundError, version

    made = {"python": platform.python_version()}
    for name in ("ludens", "numpy", "open_spiel", "Pillow"):
        try:
            made[name] = version(name)
        except PackageNotFoundError:  # run from a source tree
            made[name] = "not installed"
    return made
