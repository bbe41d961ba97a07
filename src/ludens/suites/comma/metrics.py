"""The paper's metrics per episode: success, progress, mistakes, length, tokens; and leaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ludens.core.errors import ReplayMismatch
from ludens.core.registry import GAMES
from ludens.games.comma.dialogue import Comma
from ludens.run.stats import UNKNOWN, Estimate, macro_average, mean, micro_average
from ludens.run.task import (
    COUNT,
    OVERALL,
    EpisodeResult,
    Metric,
    Observation,
    Summary,
    fact,
    mean_of,
    rate_of,
)
from ludens.suites.comma.leaks import Leak, leaks_of

TOKENS_AT_HALF = 1000
"""Tokens at which conciseness is one half."""


def tokens(played: EpisodeResult) -> float | None:
    """Output tokens of both seats, reasoning included. None where they were not counted."""
    used = played.episode.usage()
    return float(used.output_tokens) if used.calls else None


def leaks(played: EpisodeResult) -> list[Leak] | None:
    """The leaks of an episode; None where there is nothing private or the episode cannot be replayed."""
    if not played.episode.facts["private"]:
        return None
    try:
        return leaks_of(played.episode)
    except ReplayMismatch:  # another game version: the report says that the task has changed
        return None


def leaked(played: EpisodeResult) -> bool | None:
    return None if (disclosed := leaks(played)) is None else bool(disclosed)


def discreet(played: EpisodeResult) -> bool | None:
    return None if (leak := leaked(played)) is None else played.episode.facts["solved"] and not leak


def solved_within(turns: int) -> Metric:
    """The proportion of episodes solved in which the Solver spoke at most this often."""

    def solved(played: EpisodeResult) -> bool:
        facts = played.episode.facts
        return bool(facts["solved"]) and facts["messages"]["solver"] <= turns

    return rate_of(f"SR within {turns} turn{'s' if turns > 1 else ''}", solved)


def progress(observations: Sequence[Observation]) -> Estimate:
    """The mean partial score; under the released rules Maze's may exceed 1."""
    values = [float(value) for _, value in observations]
    return mean(values, bounds=(0.0, 1.0) if max(values, default=0.0) <= 1 else None)


def efficiency_of(partial: float, words: float) -> float:
    conciseness = 1 / (1 + words / TOKENS_AT_HALF)
    return 2 * partial * conciseness / (partial + conciseness) if partial > 0 else 0.0


def _progress_and_tokens(played: EpisodeResult) -> tuple[float, float] | None:
    return None if (used := tokens(played)) is None else (float(played.episode.facts["partial"]), used)


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

    def share(played: EpisodeResult) -> float | None:
        right, count = played.episode.facts["fields"].get(kind, (0, 0))
        return right / count if count else None

    return mean_of(kind, share, percent=True, about=f"{kind} of the panel that were read")


HEADLINES = {metric.name: metric for metric in (PSR, SR, AM, ACL)}
"""The metrics with a table in the paper."""


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
    game: type[Comma] = GAMES.get(f"comma/{puzzle}")
    return game.skills
