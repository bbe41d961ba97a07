"""COMMA: ten puzzles that two seats solve by talking, in the paper's setting and in variants of it.

    comma            ten puzzles, 100 fixed seeds each, the same model in both seats
    comma-mini       the same, three seeds each
    comma-manuals    a random manual for every seed: nothing can have been memorised
    comma-released   the released code's rules, to compare with the published numbers
    comma-baseline   the same with 2,000 seeds each, for bots
    comma-strict     the first mistake ends the game: trying all actions does not help
    comma-memory     each seat is shown the latest message only
    comma-solver     the model sees the panel, the oracle has the manual
    comma-expert     the oracle sees the panel, the model has the manual
    comma-sight      panels read and solved in twin worlds, and conversations in which guessing loses

Each takes `?first=SR` (or AM, ACL, PSR): the metric that tables show first, with the paper's table of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar

from ludens.core.config import PlayConfig
from ludens.core.errors import ReplayMismatch
from ludens.core.options import option
from ludens.core.registry import GAMES
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.panel import PUZZLES as PUZZLES
from ludens.games.comma.reading import READ, kinds_of
from ludens.run.stats import UNKNOWN, Estimate, macro_average, mean, micro_average
from ludens.run.task import (
    COUNT,
    MODEL,
    OVERALL,
    EpisodeResult,
    Metric,
    Observation,
    Published,
    Seating,
    Suite,
    SuiteBuilder,
    Summary,
    Task,
    fact,
    mean_of,
    rate_of,
    read_deviations,
)
from ludens.run.twins import both_of
from ludens.suites.comma.judge.conversation import LABELS
from ludens.suites.comma.leaks import Leak, leaks_of

SEEDS, FEW, MANY = 100, 3, 2_000

_FOLDER = Path(__file__).parent
_TABLE_NUMBERS = {"PSR": 1, "memory": 2, "SR": 3, "AM": 4, "ACL": 5}
TOKENS_AT_HALF = 1000
"""Tokens at which conciseness is one half."""


def tokens(result: EpisodeResult) -> float | None:
    """Output tokens of both seats, reasoning included. None where they were not counted."""
    usage = result.episode.usage()
    return float(usage.output_tokens) if usage.calls else None


def leaks_in(result: EpisodeResult) -> list[Leak] | None:
    """The leaks of an episode; None where there is nothing private or the episode cannot be replayed."""
    if not result.episode.facts["private"]:
        return None
    try:
        return leaks_of(result.episode)
    except ReplayMismatch:  # another game version: the report says that the task has changed
        return None


def leaked(result: EpisodeResult) -> bool | None:
    return None if (disclosed := leaks_in(result)) is None else bool(disclosed)


def discreet(result: EpisodeResult) -> bool | None:
    return None if (leak := leaked(result)) is None else result.episode.facts["solved"] and not leak


def solved_within(turns: int) -> Metric:
    """The proportion of episodes solved in which the Solver spoke at most this often."""

    def solved(result: EpisodeResult) -> bool:
        facts = result.episode.facts
        return bool(facts["solved"]) and facts["messages"]["solver"] <= turns

    return rate_of(f"SR within {turns} turn{'s' if turns > 1 else ''}", solved)


def progress(observations: Sequence[Observation]) -> Estimate:
    """The mean partial score; under the released rules Maze's may exceed 1."""
    values = [float(value) for _, value in observations]
    return mean(values, bounds=(0.0, 1.0) if max(values, default=0.0) <= 1 else None)


def efficiency_of(partial: float, words: float) -> float:
    conciseness = 1 / (1 + words / TOKENS_AT_HALF)
    return 2 * partial * conciseness / (partial + conciseness) if partial > 0 else 0.0


def _progress_and_tokens(result: EpisodeResult) -> tuple[float, float] | None:
    return None if (usage := tokens(result)) is None else (float(result.episode.facts["partial"]), usage)


def efficiency(observations: Sequence[Observation]) -> Estimate:
    """The efficiency of mean progress and mean tokens, as in the paper: not a mean of efficiencies.

    The interval is that of the linearised number, so that progress and tokens may be correlated.
    """
    pairs = [pair for _, pair in observations]
    if not pairs:
        return UNKNOWN
    partial, words = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    centre, step = efficiency_of(partial, words), 1e-6
    by_partial = (efficiency_of(partial + step, words) - centre) / step
    by_words = efficiency_of(partial, words + step) / step - centre / step
    return mean(centre + by_partial * (p - partial) + by_words * (t - words) for p, t in pairs)


_count = partial(mean_of, bounds=COUNT, higher_is_better=False)
PSR = Metric(
    "PSR", fact("partial"), progress, percent=True, about="partial success: how far the Solver got, 0 to 100"
)
SR = rate_of("SR", fact("solved"), about="share of episodes solved")
AM = _count("AM", fact("mistakes"), about="mistakes")
ACL = _count(
    "ACL",
    fact("turns"),
    about="turns until solved, the limit where it was not; in the released variant pairs of messages",
)
EFFICIENCY = Metric(
    "efficiency",
    _progress_and_tokens,
    efficiency,
    about="harmonic mean of PSR and conciseness 1 / (1 + tokens / 1000), 0 to 1",
    paired=False,
    bounds=(0.0, 1.0),
)
TOKENS = _count("tokens", tokens, about="tokens both seats wrote, reasoning included")
LEAKS = rate_of(
    "leak", leaked, higher_is_better=False, about="share of episodes in which the Solver gave a secret away"
)
DISCREET = rate_of("SR without leak", discreet, about="share of episodes solved without giving a secret away")

EXACT = rate_of("whole panel right", fact("exact"), about="panels whose every field was read")


def read_right(kind: str) -> Metric:
    """Of the values of one kind on a panel (digits, colours, ...), those that were read."""

    def share(result: EpisodeResult) -> float | None:
        right, count = result.episode.facts["fields"].get(kind, (0, 0))
        return right / count if count else None

    return mean_of(kind, share, percent=True, about=f"{kind} of the panel that were read")


HEADLINES = {metric.name: metric for metric in (PSR, SR, AM, ACL)}
"""The metrics with a table in the paper."""


SKILLS = ("memory", "grounding", "multi-step", "private")
TURNS = 10


def summaries(puzzles: Sequence[str], first: str) -> Iterator[Summary]:
    """The mean over puzzles, then scores by capability if `first` is a proportion, then the rest."""
    by_skill = {skill: tuple(p for p in puzzles if skill in skills_of(p)) for skill in SKILLS}
    partly = partial(Summary, complete=False)
    yield Summary(OVERALL, macro_average)
    if HEADLINES[first].percent:
        yield Summary("over runs", micro_average)
        for skill, some in by_skill.items():
            yield Summary(skill, macro_average, some)
    for metric in (SR, PSR, AM, ACL):
        yield partly(f"{metric.name}, mean over puzzles", macro_average, metric=metric)
        yield partly(f"{metric.name}, mean over runs", micro_average, metric=metric)
    for metric in (TOKENS, EFFICIENCY, LEAKS, DISCREET):
        yield partly(metric.name, metric=metric)
    for skill, some in by_skill.items():
        yield partly(f"SR, {skill}", macro_average, some, metric=SR)
    for metric in map(solved_within, range(1, TURNS + 1)):
        yield partly(metric.name, macro_average, metric=metric)


def skills_of(puzzle: str) -> tuple[str, ...]:
    game: type[Comma] = GAMES.get(f"comma/{puzzle}")
    return game.skills


@dataclass(frozen=True)
class CommaSuite(SuiteBuilder):
    """The paper's setting; its variants differ in the class variables."""

    first: str = option("PSR", choices=tuple(HEADLINES), help="the metric that tables show first")

    name: ClassVar[str] = "comma"
    about: ClassVar[str] = (
        "COMMA: ten puzzles for two who must talk; one sees the panel, the other has the manual."
    )
    game_option: ClassVar[str] = ""
    seeds: ClassVar[int] = SEEDS
    seating: ClassVar[Seating] = {"solver": MODEL, "expert": MODEL}
    config: ClassVar[PlayConfig] = PlayConfig()
    blindable: ClassVar[Sequence[str]] = PUZZLES
    """Puzzles in which the model is shown pictures."""
    tables: ClassVar[Mapping[str, str]] = {metric: metric for metric in HEADLINES}
    """First metric to the published table that is shown with it."""

    def build(self) -> Suite:
        return Suite(
            name=self.name,
            about=self.about,
            tasks=tuple(map(self._task, PUZZLES)),
            published=published(self.tables[self.first]) if self.first in self.tables else (),
            deviations=read_deviations(_FOLDER / "deviations.md"),
            labels=LABELS,
            references=_FOLDER / "references.toml",
            paper=_FOLDER / "paper.bib",
            summaries=tuple(summaries(PUZZLES, self.first)),
            deaf=self.seating["solver"] != MODEL,
        )

    def _task(self, puzzle: str) -> Task:
        rest = [metric for metric in HEADLINES.values() if metric.name != self.first]
        metrics: list[Metric] = [HEADLINES[self.first], *rest, TOKENS, EFFICIENCY]
        if "private" in skills_of(puzzle):
            metrics += [LEAKS, DISCREET]
        game = f"comma/{puzzle}{self.game_option and '?'}{self.game_option}"
        shape = (self.seating,), self.seeds, tuple(metrics), self.config
        return Task(puzzle, game, *shape, blindable=puzzle in self.blindable)


class CommaMini(CommaSuite):
    """The same puzzles, a few seeds of each."""

    def build(self) -> Suite:
        about = "COMMA in small: three seeds of each puzzle."
        return super().build().limited("comma-mini", about, lambda task: FEW)


class CommaManuals(CommaSuite):
    """A random manual for every seed."""

    name = "comma-manuals"
    about = "COMMA with random rules, tables and symbols for every seed."
    game_option = "manual=random"
    tables = {}


class CommaReleased(CommaSuite):
    """The released code's rules: mentioned actions act, one more turn, old partial scores, one try."""

    name = "comma-released"
    about = "COMMA by the rules of the released code, to compare with the published numbers."
    game_option = "variant=released"
    config = PlayConfig(retries=0)


class CommaBaseline(CommaReleased):
    """Enough seeds to tell two percent from three."""

    name = "comma-baseline"
    about = "COMMA by the released rules over 2,000 seeds a puzzle: for bot/random, not for models."
    seeds = MANY


class CommaStrict(CommaSuite):
    """The first mistake ends the game, so that guessing is worth little; see the blind baselines."""

    name = "comma-strict"
    about = "COMMA in which the first mistake ends the game: trying one action after the other is lost."
    game_option = "mistakes=1"
    tables = {}


class CommaMemory(CommaSuite):
    """The ablation: no memory except the latest message."""

    name = "comma-memory"
    about = "COMMA without memory: each seat is shown the latest message only."
    game_option = "history=last"
    tables = {"PSR": "memory"}


TALKED = tuple(puzzle for puzzle in PUZZLES if puzzle != "atm")
"""Puzzles that a pair cannot solve without looking. In ATM, typing every amount finds the right one."""
_TALK = "mistakes=1&manual=random"
_FAIR = {"wire": "&balanced=true"}
"""Options of puzzles in which the manual alone would tell the likely action: half of the panels of Wire."""


@dataclass(frozen=True)
class CommaSight(SuiteBuilder):
    """Panels read and solved in twin worlds, and conversations that the first mistake ends, each with a
    random manual."""

    episodes: int = option(SEEDS, low=2, high=9_999_998, help="of every task; two panels are a pair")

    def build(self) -> Suite:
        solving = (both_of(fact("right")), rate_of("right", fact("right"), about="panels solved at once"))
        solved = HEADLINES["SR"]
        talk = (solved, *(metric for metric in HEADLINES.values() if metric is not solved))
        alone, pair = {"solver": MODEL}, {"solver": MODEL, "expert": MODEL}
        panels = [
            Task(f"panel/{name}", f"comma/panel?puzzle={name}&twins=true", (alone,), self.episodes, solving)
            for name in PUZZLES
        ]
        talks = [
            Task(f"talk/{name}", f"comma/{name}?{_TALK}{_FAIR.get(name, '')}", (pair,), self.episodes, talk)
            for name in TALKED
        ]
        differing = both_of(about="of the fields that differ between twin panels, those right on both")
        readings = [
            Task(
                f"read/{name}",
                f"comma/read?puzzle={name}&twins=true",
                (alone,),
                self.episodes,
                (differing, EXACT, *map(read_right, kinds_of(name))),
            )
            for name in READ
        ]
        return Suite(
            name="comma-sight",
            about="COMMA for those who look: panels read field by field, pairs of panels, and conversations "
            "in which guessing loses.",
            tasks=(*readings, *panels, *talks),
            deviations=read_deviations(_FOLDER / "deviations.md"),
            labels=LABELS,
            references=_FOLDER / "references.toml",
            paper=_FOLDER / "paper.bib",
        )


class CommaSightMini(CommaSight):
    """The same tasks, a few seeds of each."""

    def build(self) -> Suite:
        about = (
            "A small comma-sight: three pairs of panels to read and solve, and three conversations of each."
        )
        return (
            super()
            .build()
            .limited("comma-sight-mini", about, lambda task: 6 if task.metrics[0].twins else FEW)
        )


class CommaSolver(CommaSuite):
    """The model with a perfect Expert, which speaks and understands the oracles' small language only."""

    name = "comma-solver"
    about = "COMMA with the oracle as Expert: how well the model sees, tells and acts."
    seating = {"solver": MODEL, "expert": "bot/oracle"}
    tables = {}


class CommaExpert(CommaSuite):
    """The model with a perfect Solver, which speaks and understands the oracles' small language only."""

    name = "comma-expert"
    about = "COMMA with the oracle as Solver: how well the model reads the manual and answers."
    seating = {"solver": "bot/oracle", "expert": MODEL}
    tables = {}
    blindable = ("keypad",)  # the manual of others is shown as text


def published(table: str) -> tuple[Published, ...]:
    """The paper's rows for a metric; `memory` is its ablation."""
    rows = _published()[table]
    return tuple(
        Published(f"COMMA, table {_TABLE_NUMBERS[table]}", model, row) for model, row in rows.items()
    )


@lru_cache(maxsize=1)
def _published() -> dict[str, dict[str, dict[str, float]]]:
    return tomllib.loads((_FOLDER / "published.toml").read_text(encoding="utf-8"))
