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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ludens.core.config import PlayConfig
from ludens.core.options import option
from ludens.games.comma.panel import PUZZLES as PUZZLES
from ludens.games.comma.reading import READ, kinds_of
from ludens.run.task import (
    MODEL,
    Metric,
    Published,
    Seating,
    Suite,
    SuiteBuilder,
    Task,
    fact,
    rate_of,
    read_deviations,
)
from ludens.run.twins import both_of
from ludens.suites.comma.judge.conversation import LABELS
from ludens.suites.comma.metrics import (
    DISCREET,
    EFFICIENCY,
    EXACT,
    HEADLINES,
    LEAKS,
    TOKENS,
    read_right,
    skills_of,
    summaries,
)

SEEDS, FEW, MANY = 100, 3, 2_000

_FOLDER = Path(__file__).parent
_TABLE_NUMBERS = {"PSR": 1, "memory": 2, "SR": 3, "AM": 4, "ACL": 5}


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
        game, seen = f"comma/{puzzle}{self.game_option and '?'}{self.game_option}", puzzle in self.blindable
        shape = (self.seating,), self.seeds, tuple(metrics), self.config
        return Task(puzzle, game, *shape, blindable=seen)


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
"""Puzzles that a pair cannot solve without looking: who types every amount finds the right one in ATM."""
_TALK = "mistakes=1&manual=random"
_FAIR = {"wire": "&balanced=true"}
"""Options of puzzles in which the manual alone would tell the likely action: half of the panels of Wire."""


@dataclass(frozen=True)
class CommaSight(SuiteBuilder):
    """Panels read and solved in twin worlds, and conversations that the first mistake ends, each with a
    random manual."""

    episodes: int = option(SEEDS, low=2, high=9_999_998, help="of every task; two panels are a pair")

    def build(self) -> Suite:
        seen = (both_of(fact("right")), rate_of("right", fact("right"), about="panels solved at once"))
        solved = HEADLINES["SR"]
        told = (solved, *(metric for metric in HEADLINES.values() if metric is not solved))
        alone, pair = {"solver": MODEL}, {"solver": MODEL, "expert": MODEL}
        panels = [
            Task(f"panel/{name}", f"comma/panel?puzzle={name}&twins=true", (alone,), self.episodes, seen)
            for name in PUZZLES
        ]
        talks = [
            Task(f"talk/{name}", f"comma/{name}?{_TALK}{_FAIR.get(name, '')}", (pair,), self.episodes, told)
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
