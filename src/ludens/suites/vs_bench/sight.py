"""VS-Bench for players that must look: `vs-bench-sight`.

The games of the paper in settings in which words and habits do not help: openings, kitchens and grids are
drawn by seed, legal moves are not listed, and episodes are played in pairs of twin worlds where a game has
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ludens.core.config import PlayConfig
from ludens.core.options import option
from ludens.run.task import (
    Metric,
    Suite,
    SuiteBuilder,
    Task,
    mean_of,
    own_return,
    read_deviations,
    won,
)
from ludens.run.twins import both_of, with_twins
from ludens.suites.vs_bench import FEW, decisions, prediction
from ludens.suites.vs_bench.recipes import RECIPES, RULES

EPISODES = 40
"""Of every game; four episodes are a pair of twin worlds in both seats."""
UNLISTED = PlayConfig(listed=False, reasons="kind")
"""Legal moves are neither listed nor named by refusals: they would tell the board, or the other's cards."""
THREE_TRIES = replace(UNLISTED, fallback="forfeit")
"""Three invalid replies in a row lose the game, so that nobody plays for who does not know the board."""

GAMES = {
    "breakthrough": "breakthrough?opening=8&twins=true",
    "overcooked": "overcooked?layout=random&notes=false&twins=true",
    "coin_dilemma": "coin_dilemma?edges=torus&twins=true",
    "monster_hunt": "monster_hunt?edges=torus&twins=true",
    "battle_of_colors": "battle_of_colors?edges=torus&twins=true",
}
"""The games with settings of their own; others are played as in the paper."""


@dataclass(frozen=True)
class Scale:
    """Mean returns between which a game is scored."""

    script: float
    """Of the best list of actions that a search has found; it is played whatever happens."""
    best: float
    """Of `bot/best`."""

    @property
    def enough(self) -> float:
        """What a player must earn in both worlds: half of the way from the script to `bot/best`."""
        return (self.script + self.best) / 2

    def metric(self) -> Metric:
        return mean_of(
            "above script",
            lambda played: (own_return(played) - self.script) / (self.best - self.script),
            percent=True,
            bounds=(-float("inf"), float("inf")),
            about="the return between that of the best list of actions, which does not depend on what "
            f"happens ({self.script:g}), and that of bot/best ({self.best:g})",
        )


SCALES = {
    "overcooked": Scale(1.2, 42.0),
    "coin_dilemma": Scale(-0.1, 19.1),
    "monster_hunt": Scale(-5.3, 88.8),
    "battle_of_colors": Scale(0.6, 37.8),
}
"""Measured by `python -m tests.suites.blind_players` over 120 episodes (`bot/best` in Overcooked: 40)."""


def _items(file: str) -> tuple[str, ...]:
    return read_deviations(Path(__file__).with_name(file))


ALONE = ("breakthrough", "pong")
"""Games whose predictions have no twins: each costs a match with search, or of many frames."""


def _pairs_of(task: Task, game: str) -> Task:
    """The predictions of a game in pairs of twin worlds."""
    if game in ALONE:
        return task
    right = both_of(lambda played: bool(played.episode.returns["observer"]))
    return replace(task, game=with_twins(task.game), metrics=(right, *task.metrics))


def _in_twin_worlds(task: Task) -> Task:
    """The task of the paper in its setting for players that look."""
    name = task.name.split("/")[1]
    if name == "hanabi":
        return replace(task, config=UNLISTED)
    if name == "breakthrough":
        both = both_of(won, "pairs of twin worlds (same words, other boards) with a win in both")
        return replace(task, game=GAMES[name], metrics=(both, *task.metrics), config=THREE_TRIES)
    if name not in SCALES:
        return task
    scale = SCALES[name]
    both = both_of(
        lambda played: own_return(played) >= scale.enough,
        f"pairs of twin worlds (same words, other pictures) with returns of at least {scale.enough:g}",
    )
    first, *rest = task.metrics
    return replace(task, game=GAMES[name], metrics=(both, first, scale.metric(), *rest))


@dataclass(frozen=True)
class VsBenchSight(SuiteBuilder):
    """Predictions and games of VS-Bench in which who does not look gets nowhere."""

    episodes: int = option(EPISODES, low=4, high=9_999_996, help="of every game but Kuhn poker and Pong")

    def build(self) -> Suite:
        reason = tuple(_pairs_of(prediction(game, RULES[0]), game) for game in RECIPES)
        decide = tuple(_in_twin_worlds(task) for task in decisions())
        own = {f"decide/{game}" for game in ("hanabi", *GAMES)}
        return Suite(
            name="vs-bench-sight",
            about="VS-Bench for players that look: boards, kitchens and grids drawn by seed, moves that are "
            "not listed, pairs of twin worlds.",
            tasks=(
                *reason,
                *(replace(task, episodes=self.episodes) if task.name in own else task for task in decide),
            ),
            deviations=tuple(item for file in ("sight.md", "deviations.md") for item in _items(file)),
            references=Path(__file__).with_name("references.toml"),
            paper=Path(__file__).with_name("paper.bib"),
        )


@dataclass(frozen=True)
class VsBenchSightMini(SuiteBuilder):
    """A few episodes of each task that is not slow."""

    def build(self) -> Suite:
        about = "vs-bench-sight in small: fewer samples, without the slow parts."
        return VsBenchSight().build().limited("vs-bench-sight-mini", about, few_in_pairs)


def few_in_pairs(task: Task) -> int:
    """Forty questions or four games; whole pairs in both seats."""
    return FEW.get(task.name, 40 if task.name.startswith("reason/") else 4)
