"""A run's folder: `run.json` is the plan, `episodes.jsonl` has one line for every finished episode.

`finished.json` says that all planned episodes were played: without it, an episode that is missing was not
played yet; with it, it was removed.

A line is appended when an episode ends, so that a killed run loses only the episodes in flight. Only one
process may write at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any, Self

import orjson

from ludens.agents import agent
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.files import write_atomically
from ludens.core.game import Game
from ludens.core.options import configure, options_of
from ludens.core.policy import Setter, make_by
from ludens.core.spec import Spec, parse_spec
from ludens.core.validation import Invalid, read_json
from ludens.core.view import Sees
from ludens.models.settings import PromptOptions, is_model
from ludens.run.line_file import LineFile, cannot
from ludens.run.plan import Job, Plan
from ludens.run.task import MODEL

EPISODES = "episodes.jsonl"
LINE_START = b'{"key":'
_SEPARATOR = b',"episode":'
"""Occurs once before the episode; inside strings its quotes would be escaped."""


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a line that precede the episode."""

    key: str
    entrant: str
    task: str
    seating: int
    sample: int
    void: bool
    job: str
    """`Plan.job_hash` of the episode's job, which binds it to `run.json`."""
    plan: str = ""
    """`Plan.jobs_hash`; empty in runs of older versions."""


@dataclass(frozen=True, slots=True)
class Record(Head):
    """One line."""

    episode: Episode = field(kw_only=True)


def write_line(head: Head, episode: bytes) -> bytes:
    """A line with an episode, given as JSON."""
    return orjson.dumps(head)[:-1] + _SEPARATOR + episode + b"}\n"


def split_line(line: bytes) -> tuple[Head, bytes]:
    """The head of a complete line, and the episode as JSON."""
    cut = line.find(_SEPARATOR)
    try:
        head = read_json(Head, line[:cut] + b"}", extra=True)
    except Invalid:
        raise BadFile("not an episode") from None
    return head, line[cut + len(_SEPARATOR) : -2]


def read_record(folder: Path, head: Head, data: bytes) -> Record:
    """The record of a line of the run in this folder."""
    try:
        episode = Episode.from_json(data)
    except BadFile as error:
        reason = str(error).rstrip(".")
        raise BadFile(f"{head.key!r} in {str(folder)!r}: {reason}; {repair_hint(folder)}") from None
    return Record(
        head.key, head.entrant, head.task, head.seating, head.sample, head.void, head.job, head.plan,
        episode=episode,
    )  # fmt: skip


def repair_hint(folder: Path) -> str:
    """How to continue with a run that has an invalid line."""
    return f"run `ludens repair {quote(str(folder))}` to set it aside."


class PlanEdited(BadFile):
    """`run.json` was edited after episodes were played."""


class PlanCheck:
    """Checks lines of `episodes.jsonl` against the plan of their run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder, self._plan = folder, plan
        self._games: dict[str, Game] = {}
        self._same: dict[tuple[str, str, str], bool] = {}
        self._known_traits: dict[tuple[str, str], tuple[Sees, bool] | None] = {}

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        return {job.key: job for job in self._plan.jobs}

    def check_head(self, head: Head, data: bytes) -> None:
        """Raise `BadFile` if a line does not belong to the plan; its episode is read only to explain why."""
        if not self._bound(head):
            try:
                episode = Episode.from_json(data)
            except BadFile:
                raise self._line_edited(head, "cannot be read") from None
            self.check(head, episode)

    def check(self, head: Head, episode: Episode) -> None:
        """Raise `BadFile` if a line does not belong to the plan, or its episode not to its job."""
        job, bound = self._jobs.get(head.key), self._bound(head)
        parts = [head.entrant, head.task, episode.seed, head.seating, *([head.sample] if head.sample else [])]
        if head.key != ":".join(map(str, parts)):
            raise self._line_edited(head, "has a key that does not match its fields")
        if job is None:
            raise self._unplanned(head)
        difference = next(self._differences(head, job, episode), "")
        if bound and difference:
            raise self._line_edited(head, f"has another {difference} than its job")
        if difference:
            raise self._plan_edited(head, f"the {difference} was another one")
        if head.plan not in ("", self._plan.jobs_hash):
            raise self._plan_edited(head, "other episodes were planned")
        if not bound:
            raise self._line_edited(head, "has the hash of another job")

    def _bound(self, head: Head) -> bool:
        job = self._jobs.get(head.key)
        return (
            job is not None
            and _job_of(head, job.seed) == job
            and head.job == self._plan.job_hash(job)
            and head.plan in ("", self._plan.jobs_hash)
        )

    def _unplanned(self, head: Head) -> BadFile:
        try:
            self._plan.check_unchanged()
        except BadOption as error:
            return BadFile(f"{head.key!r} in {str(self._folder)!r} is not planned any more: {error}")
        return self._plan_edited(head, "it is not planned there")

    def _plan_edited(self, head: Head, what: str) -> PlanEdited:
        file = str(self._folder / "run.json")
        return PlanEdited(f"{file!r} was edited after {head.key!r} was played ({what}): restore that file.")

    def _line_edited(self, head: Head, what: str) -> BadFile:
        file = str(self._folder / EPISODES)
        return BadFile(f"{file!r} was edited: {head.key!r} {what}; {repair_hint(self._folder)}")

    def _differences(self, head: Head, job: Job, episode: Episode) -> Iterator[str]:
        """The names of what differs between an episode and its job."""
        plan, task = self._plan, self._plan.task_snapshot.get(job.task)
        if task is None:
            yield "task"
            return
        try:
            game = self._game(task["game"])
            specs = self._specs(task, job)
            expected = (task["version"], task["config"])
        except (UsageError, LookupError, TypeError, AttributeError):
            yield "task"
            return
        pairs: Mapping[str, tuple[Any, Any]] = {
            "key": (_job_of(head, episode.seed), job),
            "status": (episode.status == "void", head.void),
            "game": ((episode.game, episode.options), (game.name, game.options)),
            "version": (episode.version, expected[0]),
            "config": (episode.config, expected[1]),
            "sample": (episode.sample, job.sample),
            "theme": (episode.theme, plan.theme),
            "picture size": (episode.size, plan.size),
            "start": ((episode.opening, episode.branched), ([], False)),
            "task": (set(specs), set(game.seats)),
            "seats": (set(episode.seats), set(specs)),
        }
        yield from (name for name, (ours, planned) in pairs.items() if ours != planned)
        for seat, spec in specs.items():
            if not self._same_player(spec, episode.seats.get(seat, ""), game):
                yield f"player of {seat}"
        planned = self._with_traits(episode, specs, game)
        if episode.sees not in ({}, planned.sees):
            yield "modality"
        if episode.unlimited_retries not in (None, planned.unlimited_retries):
            yield "number of retries"

    def completed(self, head: Head, episode: Episode) -> Episode:
        """An episode that belongs to the plan, with what those of older versions do not record."""
        task = self._plan.task_snapshot[head.task]
        return self._with_traits(episode, self._specs(task, head), self._game(task["game"]))

    def _specs(self, task: Mapping[str, Any], job: Job | Head) -> dict[str, str]:
        """Seat to the planned player."""
        seating = {**task["seatings"][job.seating], **self._plan.seated}
        own = self._plan.entrants[job.entrant]
        return {seat: own if who == MODEL else who for seat, who in seating.items()}

    def _with_traits(self, episode: Episode, specs: Mapping[str, str], game: Game) -> Episode:
        """The episode with what the planned players look at, and which of them retry without limit."""
        sees, unlimited = dict[str, str](), list[str]()
        for seat in game.seats:
            trait = self._traits(specs[seat], game)
            if trait is None:
                return episode
            sees[seat] = trait[0]
            unlimited += [seat] if trait[1] else []
        return replace(episode, sees=sees, unlimited_retries=unlimited)

    def _traits(self, spec: str, game: Game) -> tuple[Sees, bool] | None:
        """What a player looks at and whether it retries without limit; None if it cannot be made here."""
        key = (spec, str(game))
        if key not in self._known_traits:
            try:
                if is_model(spec):
                    self._known_traits[key] = _prompt(parse_spec(spec)).sees, False
                else:
                    player = agent(spec, game)
                    self._known_traits[key] = player.sees, player.unlimited_retries
            except UsageError:  # a missing extra, for example
                self._known_traits[key] = None
        return self._known_traits[key]

    def _game(self, spec: str) -> Game:
        if spec not in self._games:
            self._games[spec] = make_by(Setter.FILE, spec)
        return self._games[spec]

    def _same_player(self, planned: str, recorded: str, game: Game) -> bool:
        """Whether the spec in an episode can be that of the planned agent."""
        key = (planned, recorded, str(game))
        if key not in self._same:
            try:
                self._same[key] = (
                    _same_model(parse_spec(planned), parse_spec(recorded))
                    if is_model(planned)
                    else agent(planned, game).spec == recorded
                )
            except UsageError:  # a missing extra, for example
                self._same[key] = planned.partition("?")[0] == recorded.partition("?")[0]
        return self._same[key]


def _job_of(head: Head, seed: int) -> Job:
    return Job(head.key, head.entrant, head.task, seed, head.seating, head.sample)


def _same_model(planned: Spec, recorded: Spec) -> bool:
    """Whether two specs can be the same model and prompt.

    Episodes record neither defaults nor options that do not affect answers, and an address from the
    environment if one was set.
    """
    if planned.name != recorded.name or _prompt(planned) != _prompt(recorded):
        return False
    addresses = {spec.address.rstrip("/") for spec in (planned, recorded) if spec.address}
    shared = planned.options.keys() & recorded.options.keys() - options_of(PromptOptions).keys()
    return len(addresses) < 2 and all(
        _number(planned.options[name]) == _number(recorded.options[name]) for name in shared
    )


def _prompt(spec: Spec) -> PromptOptions:
    known = options_of(PromptOptions).keys() - {"templates"}
    return configure(PromptOptions, {k: v for k, v in spec.options.items() if k in known}, spec.name)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


FINISHED = "finished.json"


class Store:
    """The folder of one run, opened for writing.

    Args:
        folder: The folder.
        plan: What is played.
        durable: Whether every episode is on the disk when `add` returns; people do not play one again.
    """

    def __init__(self, folder: Path, plan: Plan, durable: bool = False) -> None:
        self.folder = folder
        self.plan = plan
        self.done: set[str] = set()
        self.voids: Counter[str] = Counter()
        self._durable = durable
        self._file: LineFile | None = None

    @classmethod
    def create(cls, folder: Path, plan: Plan, durable: bool = False) -> Self:
        """A new folder, or the existing folder of the same plan."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot("write into", folder, error) from None
        file = folder / "run.json"
        if file.exists():
            _check_same_plan(folder, plan)
        else:
            partial = folder / "run.json.part"  # left behind by a crash while it is written
            if any(other != partial for other in folder.iterdir()):
                raise BadOption(f"the folder {str(folder)!r} is not empty and contains no run.")
            try:
                write_atomically(file, plan.to_json())
            except OSError as error:
                raise cannot("write into", folder, error) from None
        return cls(folder, plan, durable)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """The folder of an existing run."""
        plan = read_plan(folder)
        plan.check_unchanged()
        return cls(folder, plan)

    def __enter__(self) -> Self:
        self._file = LineFile(self.folder / EPISODES, self._durable)
        try:
            # Two processes may have created a run in this folder at the same moment; one plan has won.
            _check_same_plan(self.folder, self.plan)
            self.done, self.voids = read_progress(self.folder, self.plan)
            if not self._complete:
                (self.folder / FINISHED).unlink(missing_ok=True)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            if self._complete:
                data = orjson.dumps({"episodes": len(self.done)}, option=orjson.OPT_APPEND_NEWLINE)
                write_atomically(self.folder / FINISHED, data)
        except OSError as failure:
            raise cannot("write into", self.folder, failure) from None
        finally:
            self._file.close()

    @property
    def _complete(self) -> bool:
        return len(self.done) == self.plan.total()

    def add(self, job: Job, episode: bytes, void: bool) -> None:
        """Append an episode, given as JSON. A key that is done is never written again."""
        assert self._file is not None, "the store is not open"
        if job.key in self.done:
            return
        hashed = self.plan.job_hash(job)
        head = Head(
            job.key, job.entrant, job.task, job.seating, job.sample, void, hashed, self.plan.jobs_hash
        )
        try:
            self._file.append(write_line(head, episode))
        except OSError as error:
            raise cannot("save an episode in", self.folder, error) from None
        if void:
            self.voids[job.key] += 1
        else:
            self.done.add(job.key)

    def pending(self) -> Iterator[Job]:
        """The jobs that are not done, in the plan's order."""
        return (job for job in self.plan.jobs if job.key not in self.done)


def read_plan(folder: Path) -> Plan:
    """The plan of a run."""
    try:
        return Plan.from_json((folder / "run.json").read_bytes())
    except OSError:
        raise BadFile(f"{str(folder)!r} is not a run: it contains no run.json.") from None


def read_finished(folder: Path) -> int | None:
    """The number of episodes with which a run was finished; None if it was not."""
    try:
        episodes = orjson.loads((folder / FINISHED).read_bytes())["episodes"]
        return episodes if isinstance(episodes, int) else -1
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        return -1


def read_progress(folder: Path, plan: Plan | None = None) -> tuple[set[str], Counter[str]]:
    """The keys of the finished episodes of a run, and how often each key was void.

    If a plan is given, episodes that do not belong to it raise `BadFile`.
    """
    done: set[str] = set()
    voids: Counter[str] = Counter()
    check = PlanCheck(folder, plan) if plan is not None else None
    for head, _, data in read_lines(folder):
        if check is not None:
            check.check_head(head, data)
        if head.void:
            voids[head.key] += 1
        else:
            done.add(head.key)
    return done, voids


class LineReader:
    """Reads the episodes of a run, also while they are written: each `read` continues after the last line.

    The last line may be incomplete while another process writes it, and is left for the next `read`. Further
    lines of a key that is finished are skipped, unless `repeated` is set.
    """

    def __init__(self, folder: Path, repeated: bool = False) -> None:
        self.folder, self.path, self._repeated = folder, folder / EPISODES, repeated
        self.end = 0
        """Where in the file the next line begins."""
        self._number = 0
        self._done: set[str] = set()

    def read(self) -> Iterator[tuple[Head, int, bytes]]:
        """For every further line: its head, its offset in the file, the episode as JSON."""
        if not self.path.exists():
            return
        try:
            with self.path.open("rb") as file:
                file.seek(self.end)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    offset, self.end = self.end, self.end + len(line)
                    self._number += 1
                    head, data = self._split(line)
                    known = head.key in self._done
                    if not head.void:
                        self._done.add(head.key)
                    if self._repeated or not known:
                        yield head, offset, data
        except OSError as error:
            raise cannot("read", self.path, error) from None

    def _split(self, line: bytes) -> tuple[Head, bytes]:
        try:
            return split_line(line)
        except BadFile as error:
            where = f"line {self._number} of {str(self.path)!r}"
            raise BadFile(f"{where} is {error}; {repair_hint(self.folder)}") from None


def read_lines(folder: Path) -> Iterator[tuple[Head, int, bytes]]:
    """Every complete line of a run's episodes: its head, its offset in the file, the episode as JSON."""
    return LineReader(folder).read()


def iter_records(folder: Path) -> Iterator[Record]:
    """Every finished episode of a run, void ones included, in the order they were written."""
    return (read_record(folder, head, data) for head, _, data in read_lines(folder))


def read_records(folder: Path) -> list[Record]:
    """All of `iter_records`."""
    return list(iter_records(folder))


def _check_same_plan(folder: Path, plan: Plan) -> None:
    if read_plan(folder).identity() != plan.identity():
        raise BadOption(f"{str(folder)!r} contains another run; choose another --out or resume that run.")
