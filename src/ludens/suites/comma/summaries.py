"""Numbers over all puzzles: both kinds of overall, scores by capability, success by number of turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ludens.core.registry import GAMES
from ludens.games.comma.dialogue import Comma
from ludens.run.stats import macro_average, micro_average
from ludens.run.task import OVERALL, Summary
from ludens.suites.comma.metrics import (
    ACL,
    AM,
    DISCREET,
    EFFICIENCY,
    HEADLINES,
    LEAKS,
    PSR,
    SR,
    TOKENS,
    solved_within,
)

SKILLS = ("memory", "grounding", "multi-step", "private")
TURNS = 10


def summaries(puzzles: Sequence[str], first: str) -> Iterator[Summary]:
    """The mean over puzzles, then scores by capability if `first` is a proportion, then the rest."""
    by_skill = {skill: tuple(p for p in puzzles if skill in skills_of(p)) for skill in SKILLS}
    played = partial(Summary, complete=False)
    yield Summary(OVERALL, macro_average)
    if HEADLINES[first].percent:
        yield Summary("over runs", micro_average)
        for skill, some in by_skill.items():
            yield Summary(skill, macro_average, some)
    for metric in (SR, PSR, AM, ACL):
        yield played(f"{metric.name}, mean over puzzles", macro_average, metric=metric)
        yield played(f"{metric.name}, mean over runs", micro_average, metric=metric)
    for metric in (TOKENS, EFFICIENCY, LEAKS, DISCREET):
        yield played(metric.name, metric=metric)
    for skill, some in by_skill.items():
        yield played(f"SR, {skill}", macro_average, some, metric=SR)
    for metric in map(solved_within, range(1, TURNS + 1)):
        yield played(metric.name, macro_average, metric=metric)


def skills_of(puzzle: str) -> tuple[str, ...]:
    """What a puzzle tests."""
    game: type[Comma] = GAMES.get(f"comma/{puzzle}")
    return game.skills
