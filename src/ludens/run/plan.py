"""What a run plays: entrants x tasks x seeds x seatings x samples, each episode with a fixed key."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from ludens.agents import import_agent
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.policy import confirm, game_accesses
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.templates import TemplateOverrides
from ludens.core.validation import first_error
from ludens.core.view import RenderOptions
from ludens.run.seats import reseat, seat_specs
from ludens.run.task import MODEL, Task, import_suite, suite

MAX_SAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to play."""

    key: str
    """`entrant:task:seed:seating`, with `:sample` appended for every sample after the first (0)."""
    entrant: str
    task: str
    seed: int
    seating: int
    sample: int = 0

    @property
    def cell(self) -> tuple[str, str]:
        """Entrant and task: jobs of one cell are expected to take about as long and cost as much."""
        return self.entrant, self.task


@dataclass(frozen=True)
class Plan:
    """Everything needed to repeat a run. Written to `run.json`; contains no keys or secrets."""

    suite: str
    entrants: Mapping[str, str]
    """Name in tables to agent spec."""
    seated: Mapping[str, str] = field(default_factory=dict)
    """Seat to the spec of the player who has it in every task, whoever has it in the suite."""
    tasks: tuple[str, ...] = ()
    """The tasks of the suite to play; all when empty."""
    limit: int = 0
    """Maximum number of episodes per task, not counting further samples; 0 for the suite's number."""
    samples: int = 1
    """How often each seed and seating is played."""
    seed: int = 0
    """Added to every task's first seed."""
    theme: str = "classic"
    size: int = 512
    templates: str = ""
    void_retries: int = 2
    """How often a void episode is played again."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """Blind control to the entrant it controls; controls skip tasks that are not blindable."""
    task_snapshot: Mapping[str, Any] = field(default_factory=dict)
    """The definition of each task when the run began: game, version, seatings, seeds, config."""
    template_hashes: Mapping[str, str] = field(default_factory=dict)
    """User template folders and the hash of their contents when the run began."""
    made_with: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise BadOption(f"samples must be 1 to {MAX_SAMPLES}, not {self.samples}.")
        for name in ("limit", "void_retries"):
            if getattr(self, name) < 0:
                raise BadOption(f"{name} must be at least 0, not {getattr(self, name)}.")

    @cached_property
    def chosen(self) -> dict[str, Task]:
        """The tasks by name, with the given seats."""
        known = {task.name: task for task in suite(self.suite).tasks}
        for name in self.tasks:
            if name not in known:
                raise UnknownName(f"task of {self.suite}", name, known)
        tasks = {name: known[name] for name in (self.tasks or known)}
        return reseat(self.suite, tasks, self.seated) if self.seated else tasks

    @property
    def players(self) -> tuple[str, ...]:
        """The specs that the user gave: those of entrants and of given seats."""
        return (*self.entrants.values(), *self.seated.values())

    @cached_property
    def render(self) -> RenderOptions:
        """How everything is shown."""
        overrides = TemplateOverrides.read(Path(self.templates)) if self.templates else None
        return RenderOptions(self.theme, self.size, overrides)

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Every episode. All tasks and entrants advance together, and further samples come last."""
        places = {name: self._places(task) for name, task in self.chosen.items()}
        return tuple(
            _job(entrant, name, self.seed + seed, seating, sample)
            for sample in range(self.samples)
            for index in range(max(places.values()))
            for name, task in self.chosen.items()
            if index < places[name]
            for seed, seating in [task.placed(index)]
            for entrant in self.playing(task)
        )

    def playing(self, task: Task) -> list[str]:
        """The entrants that play a task: all but blind controls where the task is not blindable."""
        return [name for name in self.entrants if task.blindable or name not in self.controls]

    def count(self, task: Task) -> int:
        """How many episodes of a task each entrant plays."""
        return self._places(task) * self.samples

    def _places(self, task: Task) -> int:
        """How many pairs of seed and seating of a task are played; every seed in all seatings."""
        if not self.limit:
            return task.episodes
        swaps = len(task.seatings)
        return min(task.episodes, -(-self.limit // swaps) * swaps)

    def beyond_limit(self) -> str:
        """What the user must know about a limit above the number of episodes of tasks; empty where it is not.

        A limit is a maximum: seeds beyond those of the suite have no published result to compare with.
        """
        short = {name: task.episodes for name, task in self.chosen.items() if task.episodes < self.limit}
        if not short:
            return ""
        shown = [f"{name} ({count:,})" for name, count in list(short.items())[:3]]
        names = ", ".join([*shown, "..."] if len(short) > len(shown) else shown)
        return (
            f"limit {self.limit:,} is above the number of episodes of {names}: no more are played "
            "(samples=N plays each of them N times)."
        )

    def total(self) -> int:
        """The number of jobs, without listing them."""
        return sum(len(self.playing(task)) * self.count(task) for task in self.chosen.values())

    def specs(self, job: Job) -> dict[str, str]:
        """The agent spec of every seat in a job."""
        seating = self.chosen[job.task].seatings[job.seating]
        return {seat: self.entrants[job.entrant] if who == MODEL else who for seat, who in seating.items()}

    def seats(self, job: Job) -> tuple[str, ...]:
        """The seats of the entrant in a job."""
        seating = self.chosen[job.task].seatings[job.seating]
        return tuple(seat for seat, who in seating.items() if who == MODEL)

    def to_json(self) -> bytes:
        """The contents of `run.json`."""
        return orjson.dumps(self._fields(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @staticmethod
    def from_json(data: bytes) -> Plan:
        """Read and validate `run.json`."""
        from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

        try:
            adapter = TypeAdapter(with_config(ConfigDict(extra="forbid"))(Plan))
            return adapter.validate_json(data, strict=True)
        except ValidationError as error:
            raise BadFile(f"run.json is not valid {first_error(error)}.") from None
        except BadOption as error:
            raise BadFile(f"run.json is not valid: {error}") from None

    def identity(self) -> str:
        """A hash of what is played, so that results of two plans are never mixed."""
        rest = self._fields()
        del rest["made_with"]
        return _hashed(rest)

    def job_hash(self, job: Job) -> str:
        """A hash of everything that determines an episode; stored with it, it binds it to this plan."""
        cell = (job.entrant, job.task)
        if cell not in self._cell_hashes:
            self._cell_hashes[cell] = self._cell_hash(*cell)
        return _hashed([self._cell_hashes[cell], job.key, job.seed, job.seating, job.sample])

    @cached_property
    def jobs_hash(self) -> str:
        """A hash of everything that determines which episodes are planned."""
        who = [self.suite, self.entrants, self.seated, self.controls]
        return _hashed([who, self.tasks, self.task_snapshot, self.limit, self.samples, self.seed])

    def _cell_hash(self, entrant: str, task: str) -> str:
        spec = self.entrants[entrant]
        specs = (spec, *self.seated.values())
        folders = [self.templates, *(parse_spec(one).options.get("templates", "") for one in specs)]
        rest = [self.template_hashes.get(folder) for folder in folders] + sorted(self.seated.items())
        return _hashed([self.suite, self.task_snapshot.get(task), spec, self.theme, self.size, rest])

    @cached_property
    def _cell_hashes(self) -> dict[tuple[str, str], str]:
        """Entrant and task to what `_cell_hash` returned."""
        return {}

    def check_unchanged(self) -> None:
        """Raise `BadOption` if tasks or templates differ from those the run began with."""
        now = _task_snapshot(self.chosen)
        for name, task in self.task_snapshot.items():
            if now.get(name) != task:
                raise BadOption(
                    f"task {name!r} of {self.suite} has changed since this run began; start a new run."
                )
        for folder, before in self.template_hashes.items():
            if _hash_templates(Path(folder)) != before:
                raise BadOption(
                    f"the templates in {folder!r} have changed since this run began; start a new run."
                )

    def template_folders(self) -> list[str]:
        """The user's template folders, of games and of agents."""
        own = (parse_spec(spec).options.get("templates", "") for spec in self.players)
        return sorted({self.templates, *own} - {""})

    def _fields(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _hashed(value: Any) -> str:
    """A short hash of JSON values."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


def _job(entrant: str, task: str, seed: int, seating: int, sample: int) -> Job:
    key = f"{entrant}:{task}:{seed}:{seating}" + (f":{sample}" if sample else "")
    return Job(key, entrant, task, seed, seating, sample)


def make_plan(
    suite_name: str, entrants: Mapping[str, str], seated: Mapping[str, str] | None = None, **choices: Any
) -> Plan:
    """A plan whose tasks, games, seats, seeds and keys are checked.

    Suite and players must be typed by the user: names of the form module:attribute are imported.
    """
    import_suite(suite_name)
    if not entrants:
        raise BadOption("there are no entrants: give at least one --model.")
    bare = Plan(suite_name, dict(entrants), seat_specs(seated or {}), **choices)
    for spec in bare.players:
        import_agent(spec)
    for task in bare.chosen.values():
        confirm(access.value for access in game_accesses(task.game))
        game = make(task.game)
        for seating in task.seatings:
            if set(seating) != set(game.seats):
                raise BadOption(
                    f"task {task.name!r} has the seats {sorted(seating)}, but {game.name} has "
                    f"{list(game.seats)}."
                )
    plan = replace(
        bare,
        task_snapshot=_task_snapshot(bare.chosen),
        template_hashes={folder: _hash_templates(Path(folder)) for folder in bare.template_folders()},
        made_with=versions(),
    )
    if any(not -(2**63) <= job.seed < 2**63 for job in plan.jobs):
        raise BadOption(f"--seed {plan.seed} leads to episode seeds that do not fit into 64 bits.")
    if len({job.key for job in plan.jobs}) < len(plan.jobs):
        raise BadOption("two episodes have the same key: rename an entrant or a task that contains ':'.")
    return plan


def _task_snapshot(tasks: Mapping[str, Task]) -> dict[str, Any]:
    """The definition of each task as plain JSON values."""
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


def _hash_templates(folder: Path) -> str:
    """A hash of the names and contents of all template files in a folder."""
    found = blake2b(digest_size=12)
    for file in sorted(folder.glob("*.md")):
        try:
            found.update(orjson.dumps([file.name, file.read_text("utf-8")]))
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"cannot read the template file {str(file)!r}: {error}.") from None
    return found.hexdigest()


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that determine what is played."""
    return dict(_versions())


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    made = {"python": platform.python_version()}
    for name in ("ludens", "numpy", "open_spiel", "Pillow"):
        try:
            made[name] = version(name)
        except PackageNotFoundError:  # run from a source tree
            made[name] = "not installed"
    return made
