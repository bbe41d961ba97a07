"""Numbers over all puzzles: both kinds of overall, what each capability comes to, success against turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from ludens.core.registry import GAMES
from ludens.games.comma.dialogue import Comma
from ludens.run.cells import in_table_units
from ludens.run.stats import Estimate, macro_micro, rate
from ludens.run.task import EpisodeResult, Metric
from ludens.suites.comma.metrics import (
    ACL,
    AM,
    DISCREET,
    EFFICIENCY,
    LEAKS,
    PSR,
    SR,
    TOKENS,
    spoken,
)

SKILLS = ("memory", "grounding", "multi-step", "private")
TURNS = 10

Piles = Mapping[str, Sequence[EpisodeResult]]
Score = Callable[[Mapping[str, Estimate]], Estimate]


def macro(tasks: Mapping[str, Estimate]) -> Estimate:
    """The mean over puzzles: every puzzle counts the same."""
    return macro_micro(tasks).macro


def scores(puzzles: Sequence[str]) -> dict[str, Score]:
    """The mean over runs, and over the puzzles of each capability (those of a suite that has them all)."""
    found: dict[str, Score] = {"over runs": lambda tasks: macro_micro({p: tasks[p] for p in puzzles}).micro}
    for skill in SKILLS:
        found[skill] = _over([puzzle for puzzle in puzzles if skill in skills_of(puzzle)])
    return found


def skills_of(puzzle: str) -> tuple[str, ...]:
    """What a puzzle tests."""
    game: type[Comma[object]] = GAMES.get(f"comma/{puzzle}")  # type: ignore[type-var]
    return game.skills


def _over(puzzles: Sequence[str]) -> Score:
    return lambda tasks: macro({puzzle: tasks[puzzle] for puzzle in puzzles})


def digest(piles: Piles) -> dict[str, Estimate]:
    """Every number over the puzzles that were played, shares times 100."""
    found: dict[str, Estimate] = {}
    for metric in (SR, PSR, AM, ACL):
        both = macro_micro({name: _shown(metric, played) for name, played in piles.items()})
        found[f"{metric.name}, mean over puzzles"] = both.macro
        found[f"{metric.name}, mean over runs"] = both.micro
    every = list(chain.from_iterable(piles.values()))
    for metric in (TOKENS, EFFICIENCY, LEAKS, DISCREET):
        estimate = _shown(metric, every)
        if estimate.n:
            found[metric.name] = estimate
    for skill in SKILLS:
        some = {name: _shown(SR, played) for name, played in piles.items() if _has(skill, played)}
        if some:
            found[f"SR, {skill}"] = macro(some)
    for turns in range(1, TURNS + 1):
        found[f"SR within {turns} turn{'s' if turns > 1 else ''}"] = macro(
            {name: solved_within(played, turns) for name, played in piles.items()}
        )
    return found


def solved_within(played: Sequence[EpisodeResult], turns: int) -> Estimate:
    """The share solved, in percent, had the Solver been allowed so many turns."""
    solved = sum(one.episode.facts["solved"] and spoken(one) <= turns for one in played)
    return in_table_units(rate(solved, len(played)), SR)


def _shown(metric: Metric, played: Sequence[EpisodeResult]) -> Estimate:
    return in_table_units(metric.estimate(played), metric)


def _has(skill: str, played: Sequence[EpisodeResult]) -> bool:
    return skill in played[0].episode.facts["skills"]
