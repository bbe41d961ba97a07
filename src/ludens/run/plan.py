"""What a run plays: entrants x tasks x seeds x seatings x samples, each episode with a fixed key."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from ludens.agents import import_agent
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.options import configure
from ludens.core.plain import one_line
from ludens.core.policy import confirm, game_accesses
from ludens.core.registry import make
from ludens.core.spec import Spec, parse_spec
from ludens.core.templates import TemplateOverrides
from ludens.core.validation import Invalid, read_json
from ludens.core.view import RenderOptions
from ludens.models import provider_spec
from ludens.models.settings import ALIASES, PromptOptions, is_model
from ludens.run.task import MODEL, RIVAL, Task, entrant_seats, given_seats, import_suite, reseat, suite

_BUDGETED = ("anthropic", "google")
"""Kinds of models whose `reasoning_effort` may be a number of tokens."""

PRESETS: dict[str, dict[str, str]] = {
    "vs-bench": {"temperature": "1", "max_tokens": "8192"},
    # Providers count reasoning as output: 8,192 tokens of answer and 16,384 of reasoning.
    "vs-bench-reasoning": {"temperature": "1", "max_tokens": "24576", "reasoning_effort": "16384"},
}
"""Name to options of a model. Answers that are cut off are asked for again with more tokens (`extend`), as
in VS-Bench."""


def _with_preset(text: str, preset: str) -> str:
    """The spec of a model with the options of a preset; its own options have precedence."""
    if not preset or not is_model(text):
        return text
    if preset not in PRESETS:
        raise UnknownName("preset", preset, PRESETS)
    spec = parse_spec(text)
    own_options = {ALIASES.get(name, name) for name in spec.options}
    options = {
        name: value
        for name, value in PRESETS[preset].items()
        if name not in own_options and (name != "reasoning_effort" or spec.kind in _BUDGETED)
    }
    return str(Spec(spec.name, spec.address, {**options, **spec.options}))


def seated_name(name: str, players: Mapping[str, str]) -> str:
    """The name of an entrant with the players of seats that the user filled: `gpt-4.1, expert: human`."""
    specs = {seat: parse_spec(spec) for seat, spec in players.items()}
    return ", ".join([name, *(f"{seat}: {Spec(s.name, None, s.options)}" for seat, s in specs.items())])


CONTROL = " (blind)"
SETTINGS = ("modality", "blind", "style", "frames", "memory", "act")
"""Prompt options that change what a result means, and are shown next to the entrant."""


@dataclass(frozen=True)
class Entrants:
    """All entrants of a run."""

    specs: dict[str, str]
    """Name in tables to spec."""
    controls: dict[str, str] = field(default_factory=dict)
    """Name of each blind control to the name of the model it controls."""


def is_blind(spec: str) -> bool:
    parsed = parse_spec(spec)
    blind = parsed.options.get("blind")
    return blind is not None and configure(PromptOptions, {"blind": blind}, parsed.name).blind


def all_settings(spec: str) -> dict[str, Any]:
    """The prompt settings of a model; empty for bots and people, which are not prompted.

    Own templates are not among them, since their folder says nothing to a reader.
    """
    parsed = parse_spec(spec)
    if not is_model(parsed):
        return {}
    settings = {name: value for name, value in parsed.options.items() if name in SETTINGS}
    options = configure(PromptOptions, settings, parsed.name)
    return {name: getattr(options, name) for name in SETTINGS}


def prompt_settings(spec: str) -> dict[str, str]:
    """The prompt settings in which a model differs from the suite's, which are the defaults."""
    usual = PromptOptions()
    return {
        name: str(value).lower()
        for name, value in all_settings(spec).items()
        if value != getattr(usual, name)
    }


def settings_text(name: str, spec: str) -> str:
    """The prompt settings of an entrant in words: `modality text, cot`; without those that its name has."""
    words = {
        "modality": "modality {}",
        "blind": "blind",
        "style": "{}",
        "frames": "{} frames",
        "memory": "memory {}",
        "act": "by {}",
    }
    in_name = set(re.split(r"[?&]", name)) | ({"blind=true"} if CONTROL in name else set())
    settings = prompt_settings(spec).items()
    return ", ".join(
        words[option].format(value) for option, value in settings if f"{option}={value}" not in in_name
    )


def control_key(spec: str) -> tuple[str, str | None, frozenset[tuple[str, str]]]:
    """What a model and its blind control have in common: everything but the option `blind`."""
    parsed = parse_spec(spec)
    rest = frozenset((key, value) for key, value in parsed.options.items() if key != "blind")
    return parsed.name, parsed.address, rest


def entrants_of(
    specs: Sequence[str],
    names: Sequence[str] = (),
    prompt_options: Mapping[str, str] | None = None,
    *,
    templates: str = "",
    preset: str = "",
    blind_control: bool | None = False,
) -> Entrants:
    """The entrants of a run: specs of models, bots or people.

    They get these names, in the same order, or short ones. `prompt_options` are added to every spec, all of
    which must then be models; with `blind_control`, each model also plays with blank pictures. None: those
    models that look at pictures.
    """
    full = [_with_options(_with_preset(spec, preset), prompt_options or {}, templates) for spec in specs]
    if names and len(names) != len(specs):
        raise BadOption(f"there are {len(specs)} entrants but {len(names)} names: name all of them or none.")
    all_names = list(names) if names else short_names(full)
    for name in names:
        if not name or name != one_line(name):
            raise BadOption(f"{name!r} is no name for an entrant: a name is one line of printable text.")
    repeated = [name for name, times in Counter(all_names).items() if times > 1]
    if repeated:
        raise BadOption(f"two entrants have the name {repeated[0]!r}.")
    entrants = dict(zip(all_names, full, strict=True))
    if blind_control is False:
        return Entrants(entrants)
    models = {name: spec for name, spec in entrants.items() if is_model(spec)}
    controls = {name + CONTROL: name for name, spec in models.items() if blind_control or _looks(spec)}
    if not controls and blind_control is None:
        return Entrants(entrants)
    if not controls:
        raise BadOption("--blind-control needs a model: bots see no pictures.")
    both = {**entrants, **{control: _blind(entrants[name]) for control, name in controls.items()}}
    if len(both) < len(entrants) + len(controls):
        raise BadOption(f"names that end with {CONTROL!r} are reserved for blind controls.")
    return Entrants(both, controls)


def _with_options(text: str, prompt_options: Mapping[str, str], templates: str) -> str:
    spec = parse_spec(text)
    if is_model(text):
        options = {**prompt_options, "templates": templates} if templates else prompt_options
        for option, value in options.items():
            if spec.options.get(option, value) != value:
                raise BadOption(
                    f"{spec.name} has {option}={spec.options[option]}, but --{option} is {value}: drop one."
                )
        return str(Spec(spec.name, spec.address, {**spec.options, **options}))
    if near := provider_spec(spec.name):
        raise UnknownName("agent", spec.name, [near])
    if prompt_options:
        flags = " and ".join(f"--{option}" for option in prompt_options)
        raise BadOption(
            f"{spec.name} is not a model and takes no {flags}; measure it in a separate run, "
            "or write the option into the specs of the models (MODEL?style=cot)."
        )
    return str(spec)


def _looks(text: str) -> bool:
    """Whether a model is shown pictures, as far as its own options say."""
    options = parse_spec(text).options
    return "blind" not in options and options.get("modality") != "text"


def _blind(text: str) -> str:
    spec = parse_spec(text)
    if "blind" in spec.options:
        raise BadOption(f"{spec.name} already has the option blind; --blind-control adds the control itself.")
    return str(Spec(spec.name, spec.address, {**spec.options, "blind": "true"}))


def short_names(specs: Sequence[str]) -> list[str]:
    """The shortest unique names: for models the part after the last slash, for others the whole name.

    Where two would be equal they get their full names, then their options, then numbers.
    """
    parsed = [parse_spec(spec) for spec in specs]
    choices = (
        [spec.name.rsplit("/", 1)[-1] if is_model(spec) else spec.name for spec in parsed],
        [spec.name for spec in parsed],
        [str(Spec(spec.name, None, spec.options)) for spec in parsed],
        list(specs),
    )
    counts = [Counter(names) for names in choices]
    names_of_all: list[str] = []
    for place, spec in enumerate(specs):
        unique = (
            names[place] for names, count in zip(choices, counts, strict=True) if count[names[place]] == 1
        )
        names_of_all.append(next(unique, f"{spec} #{specs[:place].count(spec) + 1}"))
    return names_of_all


TRAINING = range(500_000, 2**40)
"""Seeds that recipes of training use unless they say otherwise."""
HELD_BACK = range(2**41, 2**41 + 10**6)
"""Seeds for a last evaluation: neither training nor another run plays them."""


def overlap(first: range, second: range) -> bool:
    """Whether ranges without gaps have a number in common."""
    return max(first.start, second.start) < min(first.stop, second.stop)


MAX_SAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to play."""

    key: str
    """`entrant:task:seed:seating`, with `:sample` appended for every sample after the first (0)."""
    entrant: str
    """Its name, or that of a match of two (`Plan.matches`)."""
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
    """Seat to the spec of the player that has it in every task, instead of the suite's player."""
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
    def tasks_by_name(self) -> dict[str, Task]:
        """The tasks by name, with the given seats."""
        by_name = {task.name: task for task in suite(self.suite).tasks}
        for name in self.tasks:
            if name not in by_name:
                raise UnknownName(f"task of {self.suite}", name, by_name)
        tasks = {name: by_name[name] for name in (self.tasks or by_name)}
        return reseat(self.suite, tasks, self.seated) if self.seated else tasks

    @property
    def players(self) -> tuple[str, ...]:
        """The specs that the user gave: those of entrants and of given seats."""
        return (*self.entrants.values(), *self.seated.values())

    @property
    def opponents(self) -> set[str]:
        """The specs of the players whom the suite seats."""
        return {player for task in self.tasks_by_name.values() for player in task.opponents}

    @cached_property
    def matches(self) -> dict[str, tuple[str, str]]:
        """Name of every match to the two entrants that meet; empty unless tasks have seats for rivals.

        An entrant added later is the second in all its matches. Blind controls do not meet each other.
        """
        if not any(task.motive for task in self.tasks_by_name.values()):
            return {}
        names = list(self.entrants)
        pairs = [(a, b) for place, b in enumerate(names) for a in names[: place + 1]]
        seeing = [(a, b) for a, b in pairs if a not in self.controls or b not in self.controls]
        return {f"{a} vs {b}": (a, b) for a, b in seeing}

    def spec(self, entrant: str) -> str:
        """The spec of an entrant, or of the first in a match."""
        return self.entrants[self.matches.get(entrant, (entrant,))[0]]

    def rival(self, entrant: str) -> str:
        """The spec of the second in a match; empty for a single entrant."""
        return self.entrants[self.matches[entrant][1]] if entrant in self.matches else ""

    @cached_property
    def render(self) -> RenderOptions:
        overrides = TemplateOverrides.read(Path(self.templates)) if self.templates else None
        return RenderOptions(self.theme, self.size, overrides)

    @property
    def jobs(self) -> JobList:
        """Every episode. All tasks and entrants advance together, and further samples come last."""
        return JobList(self)

    def playing(self, task: Task) -> list[str]:
        """The entrants that play a task: all but blind controls where the task is not blindable.

        Of a task for pairs, the matches: an entrant meets itself unless one must win.
        """
        if task.motive is not None:
            own = task.motive != "competitive"
            return [name for name, (first, second) in self.matches.items() if own or first != second]
        return [name for name in self.entrants if task.blindable or name not in self.controls]

    def count(self, task: Task) -> int:
        return self.places(task) * self.samples

    def places(self, task: Task) -> int:
        """How many pairs of seed and seating of a task are played; every seed in all seatings."""
        if not self.limit:
            return task.episodes
        swaps = len(task.seatings)
        return min(task.episodes, -(-self.limit // swaps) * swaps)

    def seeds(self) -> Iterator[range]:
        """The seeds of each task, without its jobs, which can be millions."""
        for task in self.tasks_by_name.values():
            last, _ = task.placed(self.places(task) - 1)
            yield range(self.seed + task.first_seed, self.seed + last + 1)

    def cautions(self) -> Iterator[str]:
        """What the user must know about its limit and its seeds, one sentence each.

        A limit is a maximum: seeds beyond those of the suite have no published result to compare with.
        """
        if any(overlap(seeds, TRAINING) for seeds in self.seeds()):
            yield (
                f"seeds from {TRAINING.start:,} are those of training: a model that was trained on these "
                "games may know them."
            )
        tasks = self.tasks_by_name.items()
        short = {name: task.episodes for name, task in tasks if task.episodes < self.limit}
        if not short:
            return
        first_names = [f"{name} ({count:,})" for name, count in list(short.items())[:3]]
        names = ", ".join([*first_names, "..."] if len(short) > len(first_names) else first_names)
        yield (
            f"limit {self.limit:,} is above the number of episodes of {names}: no more are played "
            "(samples=N plays each of them N times)."
        )

    def total(self) -> int:
        return sum(len(self.playing(task)) * self.count(task) for task in self.tasks_by_name.values())

    def specs(self, job: Job) -> dict[str, str]:
        return self.seat_specs(self.tasks_by_name[job.task].seatings[job.seating], job.entrant)

    def seat_specs(self, seating: Mapping[str, str], entrant: str) -> dict[str, str]:
        players = {MODEL: self.spec(entrant), RIVAL: self.rival(entrant)}
        return {seat: players.get(player, player) for seat, player in seating.items()}

    def seats(self, job: Job) -> tuple[str, ...]:
        return entrant_seats(self.tasks_by_name[job.task], job.seating)

    def to_json(self) -> bytes:
        return orjson.dumps(self._fields(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @staticmethod
    def from_json(data: bytes) -> Plan:
        try:
            return read_json(Plan, data)
        except Invalid as error:
            raise BadFile(f"run.json is not valid {error}.") from None
        except BadOption as error:
            raise BadFile(f"run.json is not valid: {error}") from None

    def identity(self) -> str:
        """A hash of what is played, so that results of two plans are never mixed."""
        rest = self._fields()
        del rest["made_with"]
        return hash_json(rest)

    def job_hash(self, job: Job) -> str:
        """A hash of everything that determines an episode; stored with it, it binds it to this plan."""
        return hash_json([self._cell_hash(*job.cell), job.key, job.seed, job.seating, job.sample])

    @cached_property
    def jobs_hash(self) -> str:
        """A hash of everything that determines which episodes are planned."""
        # Entrants may be added to a plan of matches: the hashes of its jobs name its players.
        players = [self.suite] if self.matches else [self.suite, self.entrants, self.seated, self.controls]
        return hash_json([players, self.tasks, self.task_snapshot, self.limit, self.samples, self.seed])

    @cached_property
    def _cell_hash(self) -> Callable[[str, str], str]:
        return cache(self._hash_cell)

    def _hash_cell(self, entrant: str, task: str) -> str:
        spec, rival = self.spec(entrant), self.rival(entrant)
        specs = (spec, *filter(None, [rival]), *self.seated.values())
        folders = [self.templates, *(parse_spec(player).options.get("templates", "") for player in specs)]
        rest = [self.template_hashes.get(folder) for folder in folders] + sorted(self.seated.items())
        rest += [rival] if rival else []
        return hash_json([self.suite, self.task_snapshot.get(task), spec, self.theme, self.size, rest])

    def check_unchanged(self) -> None:
        now = _task_snapshot(self.tasks_by_name)
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
        own = (parse_spec(spec).options.get("templates", "") for spec in self.players)
        return sorted({self.templates, *own} - {""})

    def _fields(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


class JobList:
    """The jobs of a plan, made one after the other: a million of them would fill 200 MB."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return self._plan.total()

    def __iter__(self) -> Iterator[Job]:
        plan = self._plan
        cells = [(task, plan.places(task), plan.playing(task)) for task in plan.tasks_by_name.values()]
        for sample in range(plan.samples):
            for index in range(max(places for _, places, _ in cells)):
                for task, places, entrants in cells:
                    if index < places:
                        seed, seating = task.placed(index)
                        for entrant in entrants:
                            key = job_key(entrant, task.name, plan.seed + seed, seating, sample)
                            yield Job(key, entrant, task.name, plan.seed + seed, seating, sample)


def hash_json(value: Any) -> str:
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


def job_key(entrant: str, task: str, seed: int, seating: int, sample: int) -> str:
    return f"{entrant}:{task}:{seed}:{seating}" + (f":{sample}" if sample else "")


def make_plan(
    suite_name: str, entrants: Mapping[str, str], seated: Mapping[str, str] | None = None, **choices: Any
) -> Plan:
    """A plan whose tasks, games, seats, seeds and keys are checked.

    Suite and players must be typed by the user: names of the form module:attribute are imported.
    """
    import_suite(suite_name)
    if not entrants:
        raise BadOption("there are no entrants: give at least one --model.")
    bare = Plan(suite_name, dict(entrants), given_seats(seated or {}), **choices)
    for spec in bare.players:
        import_agent(spec)
    for task in bare.tasks_by_name.values():
        confirm(access.value for access in game_accesses(task.game))
        game = make(task.game)
        for seating in task.seatings:
            if set(seating) != set(game.seats):
                raise BadOption(
                    f"task {task.name!r} has the seats {sorted(seating)}, but {game.name} has "
                    f"{list(game.seats)}."
                )
    if bare.matches and len(entrants) < 2:
        raise BadOption(f"entrants meet each other in {suite_name}: give at least two --model.")
    plan = replace(
        bare,
        task_snapshot=_task_snapshot(bare.tasks_by_name),
        template_hashes={folder: _hash_templates(Path(folder)) for folder in bare.template_folders()},
        made_with=versions(),
    )
    if any(seeds.start < -(2**63) or seeds.stop > 2**63 for seeds in plan.seeds()):
        raise BadOption(f"--seed {plan.seed} leads to episode seeds that do not fit into 64 bits.")
    if plan.seed != HELD_BACK.start and any(overlap(seeds, HELD_BACK) for seeds in plan.seeds()):
        raise BadOption(
            f"seeds from {HELD_BACK.start:,} are held back for a last evaluation: give --held-back to play "
            "them."
        )
    if len({job.key for job in plan.jobs}) < len(plan.jobs):
        raise BadOption("two episodes have the same key: rename an entrant or a task that contains ':'.")
    return plan


def _task_snapshot(tasks: Mapping[str, Task]) -> dict[str, Any]:
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
    digest = blake2b(digest_size=12)
    for file in sorted(folder.glob("*.md")):
        try:
            digest.update(orjson.dumps([file.name, file.read_text("utf-8")]))
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"cannot read the template file {str(file)!r}: {error}.") from None
    return digest.hexdigest()


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    installed = {"python": platform.python_version()}
    for name in ("ludens", "numpy", "open_spiel", "Pillow"):
        try:
            installed[name] = version(name)
        except PackageNotFoundError:  # run from a source tree
            installed[name] = "not installed"
    return installed
