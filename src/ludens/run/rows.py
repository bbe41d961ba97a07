"""One row per episode: everything that tables, lists and resuming need, computed once when it is stored.

A row is flat and JSON: `index.jsonl` of a run has one for every stored episode, with the place of its line.
Fields that have their default are left out there. Metrics are in it too; `code_hash` says by which code.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache, partial
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ludens.core.episode import Episode, Move, Status, Usage
from ludens.models.ledger import BUDGET_REACHED
from ludens.run.plan import Job, Plan
from ludens.run.task import EpisodeResult, LabelPair, Metric, Task, cluster_of, entrant_seats, suite

EPISODES = "episodes.jsonl"
"""The shard of the process that owns the run."""

STATS = ("moves", "fallbacks", "retried", "replies", "illegal", "unreadable", "late", "truncated")
"""Counts of a row that `ReplyStats` adds up."""


class Location(NamedTuple):
    """Where the line of an episode is in the folder of its run."""

    shard: str
    """Path of a file, relative to the folder."""
    offset: int
    """In bytes; in a Parquet file, the number of the row."""

    def __str__(self) -> str:
        return str(self.offset) if self.shard == EPISODES else f"{self.offset}@{self.shard}"

    @staticmethod
    def parse(text: str, shards: Iterable[str]) -> Location | None:
        """From the text of `__str__`, which is untrusted; None unless the shard is one of these."""
        number, _, shard = text.partition("@")
        valid = number.isascii() and number.isdigit() and len(number) < 16
        return Location(shard or EPISODES, int(number)) if valid and (shard or EPISODES) in shards else None


@dataclass(slots=True)
class EpisodeRow:
    """What is kept of one episode. Counts, usage and seconds are those of the entrant's seats."""

    key: str
    entrant: str
    task: str
    seed: int
    seating: int
    sample: int = 0
    status: Status = "done"
    game: str = ""
    returns: Mapping[str, float] = field(default_factory=dict)
    """Of every seat; empty for void episodes."""
    moves: int = 0
    """This and the following counts include the unfinished moves of void episodes."""
    fallbacks: int = 0
    retried: int = 0
    replies: int = 0
    """Replies of models and people; bots choose actions without replying."""
    illegal: int = 0
    unreadable: int = 0
    late: int = 0
    truncated: int = 0
    """Replies cut off by the length limit (`max_tokens`)."""
    other_fallbacks: int = 0
    """Of the seats that are not the entrant's; so is `other_usage`."""
    usage: Usage = field(default_factory=lambda: Usage(calls=0))
    other_usage: Usage = field(default_factory=lambda: Usage(calls=0))
    seconds: float = 0.0
    """Time that the entrant took for its moves."""
    error: str = ""
    remarks: Sequence[str] = ()
    values: Sequence[Any] | None = None
    """The value of each metric that is measured in the task; None for void episodes, and where a value cannot
    be written as JSON: then it is computed when the episode is read."""
    labels: Mapping[str, Mapping[LabelPair, int]] = field(default_factory=dict)
    """Metric to how often each pair of truth and answer occurs."""
    shard: str = EPISODES
    offset: int = 0
    length: int = 0
    """Bytes of the line; 0 if the episode is not stored."""
    checksum: int = 0
    """CRC-32 of the line."""
    cluster: str = ""
    """What it may share with episodes of other seeds (`cluster_of`): intervals count clusters."""

    @property
    def void(self) -> bool:
        """Whether the episode failed and is played again."""
        return self.status == "void"

    @property
    def over_budget(self) -> bool:
        """Whether the episode was cut because the budget does not cover another call."""
        return self.void and self.error.startswith(BUDGET_REACHED)

    @property
    def job(self) -> Job:
        """What was played."""
        return Job(self.key, self.entrant, self.task, self.seed, self.seating, self.sample)

    @property
    def location(self) -> Location:
        """Where its line is."""
        return Location(self.shard, self.offset)

    def to_json(self) -> bytes:
        """One line of the index; raises `TypeError` if a value of a metric cannot be written."""
        filled = {name: value for name in _NAMES if (value := getattr(self, name)) != DEFAULTS[name]}
        for name in ("usage", "other_usage"):
            if name in filled:
                filled[name] = [getattr(filled[name], part) for part in _USAGE]
        if self.values is not None:
            filled["values"] = [_encoded(value) for value in self.values]
        if self.labels:
            filled["labels"] = {
                metric: [[_listed(truth), answer, number] for (truth, answer), number in counts.items()]
                for metric, counts in self.labels.items()
            }
        return orjson.dumps(filled, option=orjson.OPT_APPEND_NEWLINE)

    @staticmethod
    def of(job: Job, **rest: Any) -> EpisodeRow:
        """The row of a job."""
        return EpisodeRow(job.key, job.entrant, job.task, job.seed, job.seating, job.sample, **rest)

    @staticmethod
    def from_dict(row: Mapping[str, Any]) -> EpisodeRow:
        """From a line of the index."""
        values = dict(row)
        for name in ("usage", "other_usage"):
            if name in values:
                values[name] = Usage(*values[name])
        if "values" in values:
            values["values"] = [decoded(value) for value in values["values"]]
        if "labels" in values:
            values["labels"] = {
                metric: dict(label_counts(pairs)) for metric, pairs in values["labels"].items()
            }
        return EpisodeRow(**values)


_NAMES = tuple(f.name for f in fields(EpisodeRow))
_USAGE = tuple(f.name for f in fields(Usage))
_BARE = EpisodeRow("", "", "", 0, 0)
_ALWAYS = object()
DEFAULTS = {
    f.name: _ALWAYS if f.default is f.default_factory is MISSING else getattr(_BARE, f.name)
    for f in fields(EpisodeRow)
}
"""What need not be written of a row; fields without a default are always written."""


class Outcome(NamedTuple):
    """A played job."""

    row: EpisodeRow
    data: bytes = b""
    """The episode as JSON; empty if a worker has stored it, or there is nothing to store."""


def unplayed(job: Job, error: str) -> Outcome:
    """The outcome of a job that was lost: void, and nothing is stored."""
    return Outcome(EpisodeRow.of(job, status="void", error=error))


def _listed(truth: str | frozenset[str]) -> str | list[str]:
    return truth if isinstance(truth, str) else sorted(truth)


def label_counts(pairs: Iterable[tuple[Any, Any, int]]) -> Iterator[tuple[LabelPair, int]]:
    """Pairs of truth and answer with their number, as the index has them."""
    for truth, answer, number in pairs:
        yield (truth if isinstance(truth, str) else frozenset(truth), answer), number


def _encoded(value: Any) -> Any:
    """A value in JSON from which `decoded` makes an equal one; raises `TypeError` for other objects."""
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and isfinite(value)):
        return value
    if kind is float:
        return {"float": str(value)}
    if kind is list:
        return [_encoded(part) for part in value]
    if kind in (tuple, frozenset):
        return {kind.__name__: [_encoded(part) for part in (value if kind is tuple else sorted(value))]}
    if kind is dict and all(type(name) is str for name in value):
        return {"dict": {name: _encoded(part) for name, part in value.items()}}
    raise TypeError(f"a value of type {kind.__name__} is not kept")


_KINDS = {"tuple": tuple, "frozenset": frozenset}


def decoded(value: Any) -> Any:
    """What `_encoded` was given."""
    if isinstance(value, list):
        return [decoded(part) for part in value]
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    if kind == "float":
        return float(inner)
    if kind == "dict":
        return {name: decoded(part) for name, part in inner.items()}
    return _KINDS[kind](decoded(part) for part in inner)


def count_replies(moves: Iterable[Move]) -> Counter[str]:
    """The fields of `ReplyStats` for some moves."""
    counts: Counter[str] = Counter()
    for move in moves:
        counts["moves"] += 1
        counts["fallbacks"] += move.verdict == "fallback"
        counts["retried"] += move.verdict == "retried"
        for attempt in move.tries:
            counts["replies"] += 1
            counts["truncated"] += attempt.finish == "length"
            if attempt.verdict != "ok":
                counts[attempt.verdict] += 1
    return counts


class RowMaker:
    """Makes the rows of episodes.

    Args:
        tasks: The tasks of a run by name.
        extra: Metrics that only summaries of the suite use; measured in every task.
    """

    def __init__(self, tasks: Mapping[str, Task], extra: Sequence[Metric] = ()) -> None:
        self.tasks = tasks
        # The task's metrics first, and in place of others of the same name.
        self.metrics_of = {
            name: tuple({m.name: m for m in (*task.metrics, *extra, *task.metrics)}.values())
            for name, task in tasks.items()
        }

    @staticmethod
    def of(plan: Plan) -> RowMaker:
        """With the tasks and metrics of the plan's suite."""
        return RowMaker(plan.tasks_by_name, suite(plan.suite).summary_metrics)

    def make(self, job: Job, episode: Episode) -> EpisodeRow:
        """The row of an episode, not yet stored. Metrics that fail are computed when it is read."""
        row = self._facts(job, episode)
        if not row.void:
            try:
                self.measure(row, episode)
                row.to_json()
            except Exception:  # a metric may fail; the episode is still worth keeping
                row.values, row.labels = None, {}
        return row

    def measure(self, row: EpisodeRow, episode: Episode) -> None:
        """Compute the metrics of an episode that is not void."""
        result = EpisodeResult(row.key, episode, entrant_seats(self.tasks[row.task], row.seating))
        metrics_of_task = self.metrics_of[row.task]
        row.labels = {m.name: Counter(m.labels(result)) for m in metrics_of_task if m.labels is not None}
        row.values = [_value(metric, result) for metric in metrics_of_task]

    def _facts(self, job: Job, episode: Episode) -> EpisodeRow:
        seats = entrant_seats(self.tasks[job.task], job.seating)
        moves = [move for move in (*episode.moves, *episode.unfinished) if move.seat in seats]
        usage = other_usage = Usage(calls=0)
        for seat in episode.seats:
            if seat in seats:
                usage += episode.usage(seat)
            else:
                other_usage += episode.usage(seat)
        counts = count_replies(moves)
        void = episode.status == "void"
        fallbacks = sum(move.verdict == "fallback" for move in episode.moves if move.seat not in seats)
        return EpisodeRow.of(
            job, status=episode.status, game=episode.game,
            returns={} if void else episode.returns, **counts, other_fallbacks=fallbacks, usage=usage,
            other_usage=other_usage, seconds=round(sum(move.ms for move in moves) / 1000, 3),
            error=episode.error, remarks=tuple(episode.remarks), cluster="" if void else cluster_of(episode),
        )  # fmt: skip


def _value(metric: Metric, result: EpisodeResult) -> Any:
    """The value of an episode; one that is a number is a plain one, which every format can write."""
    value = metric.value(result)
    return float(value) if metric.paired and value is not None else value


_SOURCES = ("core", "games", "suites", "run/task.py", "run/rows.py")
_SUFFIXES = (".py", ".md", ".toml", ".json", ".txt")


def code_hash(maker: RowMaker) -> str:
    """A hash of the code that decides what is in rows: games, suites, and modules that define metrics."""
    metrics = [metric for some in maker.metrics_of.values() for metric in some]
    functions = (part for metric in metrics for part in (metric.value, metric.labels))
    modules = {name for part in functions for name in _modules(part)}
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(modules))
    names = {task: [metric.name for metric in some] for task, some in maker.metrics_of.items()}
    digest = blake2b(orjson.dumps(names), digest_size=12)
    root = Path(__file__).parents[1]
    digest.update(_source_hash(root))
    for file in files:
        if file is not None and root not in (path := Path(file)).parents and path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _modules(value: Any) -> Iterator[str]:
    """The modules of a function and of the functions that it is made of."""
    if isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _modules(part)
    elif callable(value):
        yield str(getattr(value, "__module__", ""))
        for cell in getattr(value, "__closure__", None) or ():
            yield from _modules(cell.cell_contents)


@lru_cache(maxsize=1)
def _source_hash(root: Path) -> bytes:
    digest = blake2b(digest_size=16)
    for source in _SOURCES:
        path = root / source
        files = (
            [str(path)]
            if path.is_file()
            else [os.path.join(d, n) for d, _, names in os.walk(path) for n in names]
        )
        for file in sorted(files):
            if file.endswith(_SUFFIXES):
                digest.update(f"{file.removeprefix(str(root))}\n".encode())
                with open(file, "rb") as source_file:
                    digest.update(source_file.read())
    return digest.digest()
