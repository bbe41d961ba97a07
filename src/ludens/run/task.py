"""Suites, tasks and metrics: a task is a game with seatings, a `PlayConfig`, seeds and metrics.

A suite is a list of tasks with published results and deliberate deviations. `MODEL` in a seating is the agent
under measurement; several seatings alternate on shared seeds, so that no seat is favoured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, Literal

import orjson

from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UnknownName, UsageError
from ludens.core.game import Game
from ludens.core.loading import load_typed
from ludens.core.options import configure, options_of
from ludens.core.policy import Setter, make_by
from ludens.core.registry import Registry, make
from ludens.core.spec import parse_spec
from ludens.core.view import RenderOptions, view_of
from ludens.run.stats import Bounds, Estimate, clustered_mean, seat_swapped, seat_swapped_rate

MODEL = "MODEL"
"""In a seating: the agent under measurement."""
RIVAL = "RIVAL"
"""In a seating: the entrant that meets the one under measurement; pairs of entrants play such a task."""

Motive = Literal["competitive", "cooperative", "mixed"]

Group = int | str
"""Episodes that belong together: the seed that they share, or their cluster (`cluster_of`)."""
Observation = tuple[Group | tuple[int, str], Any]
"""The group of an episode, or of twin worlds the seed and the cluster, and the value of a metric."""
LabelPair = tuple[str | frozenset[str], str | None]
"""The right label, or all labels that are right, and the answer; None for an unreadable one."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """One finished episode, as metrics see it."""

    key: str
    episode: Episode
    seats: tuple[str, ...]
    """The seats of the agent under measurement."""

    @property
    def seed(self) -> int:
        """The seed it was played on; swapped seatings share it."""
        return self.episode.seed


def cluster_of(episode: Episode) -> str:
    """What an episode shares with others: its cluster, or its moves where the seed decides nothing else.

    Empty if it shares nothing, or its game or pictures are not installed.
    """
    try:
        game = _game(episode.game, orjson.dumps(episode.options))
        if game.seeded:
            return game.cluster(episode.seed)
    except UsageError:
        return ""
    moves = [(move.step, move.seat, move.action) for move in episode.moves]
    return blake2b(orjson.dumps(moves), digest_size=6).hexdigest()


def groups_of(seeds: Sequence[int], clusters: Sequence[str]) -> list[Group]:
    """The group of each episode: its cluster where other seeds have it too, else its seed."""
    seeds_of: dict[str, set[int]] = {}
    for seed, cluster in zip(seeds, clusters, strict=True):
        if cluster:
            seeds_of.setdefault(cluster, set()).add(seed)
    return [
        cluster if cluster and len(seeds_of[cluster]) > 1 else seed
        for seed, cluster in zip(seeds, clusters, strict=True)
    ]


@lru_cache(maxsize=64)
def _game(name: str, options: bytes) -> Game:
    return make_by(Setter.FILE, name, **orjson.loads(options))


@dataclass(frozen=True)
class Metric:
    """A number measured over the episodes of one task.

    Results are read one episode at a time: `value` is called once per episode, `combine` on all values.
    """

    name: str
    value: Callable[[EpisodeResult], Any]
    """What `combine` needs of one episode; None if the episode does not count."""
    combine: Callable[[Sequence[Observation]], Estimate]
    percent: bool = False
    """Whether it is a proportion, shown times 100."""
    higher_is_better: bool = True
    about: str = ""
    paired: bool = True
    """Whether `value` is the metric of one episode: a number that can be compared on shared seeds."""
    twins: bool = False
    """Whether two episodes in twin worlds are one observation; `ludens.run.twins` makes such metrics."""
    labels: Callable[[EpisodeResult], Iterable[LabelPair]] | None = None
    """Truth and answer of each question of an episode, for metrics of classification."""
    bounds: Bounds | None = None
    """The smallest and the largest possible value; 0 and 1 for proportions unless others are given."""

    @property
    def limits(self) -> Bounds:
        return self.bounds or ((0.0, 1.0) if self.percent else (-inf, inf))

    def observations(self, results: Iterable[EpisodeResult]) -> list[Observation]:
        """Group and value of every episode that counts; of twins the seed, which tells the pair, and the
        cluster."""
        some = list(results)
        seeds, clusters = [one.seed for one in some], [cluster_of(one.episode) for one in some]
        groups = list(zip(seeds, clusters, strict=True)) if self.twins else groups_of(seeds, clusters)
        values = map(self.value, some)
        return [(group, value) for group, value in zip(groups, values, strict=True) if value is not None]

    def estimate(self, results: Iterable[EpisodeResult]) -> Estimate:
        return self.over(self.observations(results))

    def over(self, observations: Sequence[Observation]) -> Estimate:
        """The metric over values of episodes, with an interval within the limits."""
        return self.combine(observations).within(self.limits)

    def in_table_units(self, estimate: Estimate) -> Estimate:
        """Proportions become percent."""
        return estimate.scaled(100) if self.percent else estimate


def fact(name: str) -> Callable[[EpisodeResult], Any]:
    return lambda result: result.episode.facts[name]


def mean_of(
    name: str,
    value: Callable[[EpisodeResult], float | None],
    *,
    percent: bool = False,
    bounds: Bounds | None = None,
    **rest: Any,
) -> Metric:
    """The mean of a number; episodes for which it is None do not count.

    Swapped seatings of one seed, and episodes of one cluster, are one observation. `bounds` are the smallest
    and the largest possible value (0 and 1 for proportions): intervals stay inside, and values that are all
    equal still get one.
    """

    def combine(observations: Sequence[Observation]) -> Estimate:
        return mean_over_groups(observations, metric.limits)

    metric = Metric(name, value, combine, percent=percent, bounds=bounds, **rest)
    return metric


def rate_of(name: str, holds: Callable[[EpisodeResult], bool | None], **rest: Any) -> Metric:
    """The proportion of episodes in which something holds; those of one seed or cluster may be correlated."""

    def value(result: EpisodeResult) -> float | None:
        outcome = holds(result)
        return None if outcome is None else 1.0 if outcome else 0.0

    return Metric(name, value, partial(mean_over_groups, rate=True), percent=True, **rest)


def mean_over_groups(
    observations: Sequence[Observation], bounds: Bounds = (0.0, 1.0), rate: bool = False
) -> Estimate:
    """The mean over groups of episodes; with `rate`, the values are 0 and 1."""
    groups: dict[Any, list[float]] = {}
    for group, value in observations:
        groups.setdefault(group, []).append(value)
    if any(isinstance(group, str) for group in groups):
        return clustered_mean(groups.values(), bounds=bounds)
    if rate:
        return seat_swapped_rate([[value == 1.0 for value in values] for values in groups.values()])
    return seat_swapped(groups.values(), bounds=bounds)


def own_return(result: EpisodeResult) -> float:
    """The mean return over the seats of the agent under measurement."""
    return sum(result.episode.returns[seat] for seat in result.seats) / len(result.seats)


def won(result: EpisodeResult) -> bool:
    """Whether the agent under measurement has a higher return than all others."""
    rivals = [value for seat, value in result.episode.returns.items() if seat not in result.seats]
    return own_return(result) > max(rivals, default=0.0)


RETURN = mean_of("return", own_return)
WON = rate_of("won", won)
COUNT: Bounds = (0.0, inf)

Seating = Mapping[str, str]


@dataclass(frozen=True)
class Task:
    """One line of a suite. The first metric is the one tables show."""

    name: str
    game: str
    seatings: tuple[Seating, ...]
    episodes: int
    metrics: tuple[Metric, ...] = (RETURN,)
    config: PlayConfig = field(default_factory=PlayConfig)
    first_seed: int = 0
    blindable: bool = True
    """Whether a blind control makes sense: the picture should matter."""
    radar: tuple[str, ...] = ()
    """Counts of behaviour that reports draw in one radar chart."""
    curve: str = ""
    """Tasks with the same text here differ in one setting: reports draw them as points of one curve."""
    motive: Motive | None = None
    """Where pairs of entrants play it: against each other, for a common return, or each for its own."""

    def __post_init__(self) -> None:
        if not self.seatings or not self.metrics or self.episodes < 1:
            raise BadOption(f"task {self.name!r} needs a seating, a metric and at least one episode.")
        if not all(MODEL in seating.values() for seating in self.seatings):
            raise BadOption(f"in task {self.name!r} a seating has no seat for the model.")
        if any((RIVAL in seating.values()) != (self.motive is not None) for seating in self.seatings):
            raise BadOption(f"task {self.name!r} needs both a motive and a seat for the rival, or neither.")

    @property
    def opponents(self) -> list[str]:
        """The specs of the players in the seats that are not measured."""
        return sorted({player for seating in self.seatings for player in seating.values()} - {MODEL, RIVAL})

    def placed(self, index: int) -> tuple[int, int]:
        """Seed and seating of the episode with this index: every seed is played once in every seating."""
        return self.first_seed + index // len(self.seatings), index % len(self.seatings)


def entrant_seats(task: Task, seating: int) -> tuple[str, ...]:
    return tuple(seat for seat, player in task.seatings[seating].items() if player == MODEL)


def given_seats(players: Mapping[str, str]) -> dict[str, str]:
    """Seats that the user gives to other players than the suite seats there (`--seat`), with their specs."""
    if seat := next((seat for seat, spec in players.items() if spec == MODEL), None):
        raise BadOption(f"--seat {seat} needs the spec of a player, such as bot/oracle; {MODEL} is not one.")
    return {seat: str(parse_spec(spec)) for seat, spec in players.items()}


def reseat(suite: str, tasks: Mapping[str, Task], players: Mapping[str, str]) -> dict[str, Task]:
    """The tasks with these players in their seats.

    A seating in which no seat is left for the model is not played; the others are played on the same seeds.
    """
    if any(task.motive for task in tasks.values()):
        raise BadOption(f"all seats of {suite} belong to entrants: drop --seat.")
    for seat in players:
        having = [name for name, task in tasks.items() if seat in task.seatings[0]]
        if not having:
            seats = dict.fromkeys(seat for task in tasks.values() for seat in task.seatings[0])
            raise UnknownName(f"seat of {suite}", seat, seats)
        if lacking := [name for name in tasks if name not in having]:
            raise BadOption(
                f"{', '.join(lacking)} of {suite} {'has' if len(lacking) == 1 else 'have'} no seat {seat!r}: "
                f"choose tasks that have it with --tasks {','.join(having)}."
            )
    return {name: _reseat(task, players) for name, task in tasks.items()}


def _reseat(task: Task, players: Mapping[str, str]) -> Task:
    seatings = [{**seating, **players} for seating in task.seatings]
    indices = [index for index, seating in enumerate(seatings) if MODEL in seating.values()]
    if not indices:
        flags = " and ".join(f"--seat {seat}" for seat in players)
        raise BadOption(f"with {flags} no seat of {task.name!r} is left for the model: leave it a seat.")
    view = view_of(make(task.game), RenderOptions(), 0)
    own = {seat for index in indices for seat, player in seatings[index].items() if player == MODEL}
    return replace(
        task,
        seatings=tuple(seatings[index] for index in indices),
        episodes=sum(len(range(index, task.episodes, len(seatings))) for index in indices),
        blindable=task.blindable and any(view.offers(seat) != "text" for seat in own),
    )


@dataclass(frozen=True)
class Published:
    """A row that a publication reports, shown beside ours and marked as published."""

    source: str
    model: str
    values: Mapping[str, float]
    """Task name to the value of its first metric, in the unit our tables show; `overall` to that number."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    """Task name to the standard deviation over episodes, in the same unit."""
    further: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Task and name of another metric to its value."""


OVERALL = "overall"


@dataclass(frozen=True)
class Summary:
    """One number over several tasks, in the unit that tables show."""

    name: str
    """The summary called `OVERALL` is a column of the main table."""
    combine: Callable[[Mapping[str, Estimate]], Estimate] | None = None
    """Computes it from an estimate of each task; if None, all episodes of all tasks are one sample."""
    tasks: tuple[str, ...] = ()
    """The tasks it is computed from; all when empty."""
    complete: bool = True
    """Whether it needs all of them; if not, it uses those that were played."""
    metric: Metric | None = None
    """The metric it summarises; by default the one that tables show of each task, normalised if anchored."""

    def task_names(self, suite: Suite) -> tuple[str, ...]:
        return self.tasks or tuple(task.name for task in suite.tasks)

    def of(self, estimates: Mapping[str, Estimate], suite: Suite) -> Estimate | None:
        """The number, from estimates by task; None if tasks that it needs have none."""
        names = self.task_names(suite)
        parts = {name: estimates[name] for name in names if name in estimates}
        if self.combine is None or not parts or (self.complete and len(parts) < len(names)):
            return None
        return self.combine(parts)


@dataclass(frozen=True)
class Suite:
    """Tasks that belong together."""

    name: str
    about: str
    tasks: tuple[Task, ...]
    published: tuple[Published, ...] = ()
    deviations: tuple[str, ...] = ()
    """Where and why we depart from the paper or its released code."""
    labels: tuple[str, ...] = ()
    """What judges may call a conversation; reports count the labels."""
    summaries: tuple[Summary, ...] = ()
    anchors: Mapping[str, tuple[float | Estimate, float | Estimate]] = field(default_factory=dict)
    """Task name to (random, optimal) returns between which results are normalised to 0..100."""
    clusters: Callable[[Path], Mapping[str, str]] | None = None
    """Of a run's folder: keys of episodes to what they have in common besides their seeds, such as the person
    who played. Intervals count episodes of one cluster as one observation."""
    left_out: Callable[[Path], frozenset[str]] | None = None
    """The keys of finished episodes in the folder of a run that its results leave out."""
    references: Path | None = None
    """The file of blind baselines and upper bounds that `ludens baselines` writes; see `run.references`."""
    paper: Path | None = None
    """A file with the BibTeX entry of the publication, or several; `ludens paper` cites them."""
    deaf: bool = False
    """Whether entrants are told what matters instead of shown it: their baseline does not listen."""
    anchor: str = ""
    """The spec of the entrant whose rating is 0, where entrants meet each other."""

    @property
    def summary_metrics(self) -> list[Metric]:
        return [summary.metric for summary in self.summaries if summary.metric is not None]

    def __post_init__(self) -> None:
        names = [task.name for task in self.tasks]
        twice = next((name for name in names if names.count(name) > 1), None)
        if not names or twice:
            wrong = f"has two tasks called {twice!r}" if twice else "has no tasks"
            raise BadOption(f"the suite {self.name!r} {wrong}.")

    def limited(self, name: str, about: str, episodes: Callable[[Task], int]) -> Suite:
        """A small version of the suite: the same tasks with fewer episodes.

        A task with 0 episodes is left out; then published rows and summaries are left out too.
        """
        tasks = tuple(replace(task, episodes=few) for task in self.tasks if (few := episodes(task)))
        small = replace(self, name=name, about=about, tasks=tasks)
        return small if len(tasks) == len(self.tasks) else replace(small, published=(), summaries=())


class SuiteBuilder(ABC):
    """A suite with options: a frozen dataclass whose fields are made with `option`."""

    @abstractmethod
    def build(self) -> Suite:
        """The suite with these options."""


SUITES = Registry("suite", "ludens.suites")


def suite(name: str) -> Suite:
    """The registered suite of this name; `NAME?option=value` where a suite has options.

    Names come from files too (`run.json`), so nothing is imported here: see `import_suite`.
    """
    options, entry = parse_spec(name).options, _registered(name)
    if not isinstance(entry, Suite):
        return configure(entry, options, parse_spec(name).name).build()
    if options:
        raise BadOption(f"the suite {entry.name} has no options.")
    return entry


def suite_options(name: str) -> Mapping[str, Field[Any]]:
    entry = _registered(name)
    return {} if isinstance(entry, Suite) else options_of(entry)


def _registered(name: str) -> Suite | type[SuiteBuilder]:
    path = parse_spec(name).name
    if ":" in path and path not in SUITES.names():
        raise BadFile(
            f"the suite {path!r} is not registered, and a file may not choose what is imported: "
            f"name it yourself with --suite {path}."
        )
    entry = SUITES.get(path)
    if isinstance(entry, Suite) or (isinstance(entry, type) and issubclass(entry, SuiteBuilder)):
        return entry
    raise BadFile(f"{path!r} is neither a Suite nor a SuiteBuilder class.")


def import_suite(name: str) -> None:
    """Import the suite behind "module:attribute" and register it in this process.

    Only for names that the user typed; other names are left to `suite`.
    """
    path = parse_spec(name).name if name else ""
    if ":" in path:
        load_typed("suite", path)
        SUITES.register(path, path)


def read_published(file: Path, source: str) -> tuple[Published, ...]:
    """Rows from a TOML file: one table a model, task names as keys."""
    import tomllib

    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(Published(source, model, values) for model, values in data.items())


def read_deviations(file: Path) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in file.read_text(encoding="utf-8").split("\n- ")[1:])
