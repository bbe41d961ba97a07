"""VS-Bench: eight games in two dimensions, strategic reasoning and decision-making.

`vs-bench` has both with the paper's counts; `vs-bench-mini` is a small version with two more small games;
`vs-bench-ablations` has the three games of the paper's ablations. Results of decision-making are normalised
between random and optimal play: `?anchors=paper` uses the published anchors, `?anchors=measured` our own,
`?anchors=none` shows raw returns. Predictions are asked by the rule `single`; `?predict=paper` asks as the
paper does, and shows its results.

`vs-bench-sight` is for players that must look: openings, kitchens and grids are drawn by seed, legal moves
are not listed, and episodes are played in pairs of twin worlds where a game has them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.options import option
from ludens.core.registry import make
from ludens.games.grid import GridGame
from ludens.games.pong import combined
from ludens.run.stats import Bounds, Estimate, macro_average
from ludens.run.task import (
    COUNT,
    MODEL,
    EpisodeResult,
    LabelPair,
    Metric,
    Published,
    Suite,
    SuiteBuilder,
    Summary,
    Task,
    mean_of,
    own_return,
    rate_of,
    read_deviations,
    won,
)
from ludens.run.twins import both_of, with_twins
from ludens.suites.vs_bench.kuhn import EXPLOITABILITY
from ludens.suites.vs_bench.recipes import RECIPES, RULES, recipe_of

NAMES = {"kuhn_poker": "kuhn"}
"""Shorter names of games in task names."""
REASONING, DECISIONS = "strategic reasoning", "decision-making"
GROUPS = {
    "cooperative": ("hanabi", "overcooked"),
    "competitive": ("breakthrough", "kuhn", "pong"),
    "mixed-motive": ("coin_dilemma", "monster_hunt", "battle_of_colors"),
}
"""The paper's groups of games."""
ABLATED = ("hanabi", "breakthrough", "monster_hunt")
Anchors = Mapping[str, tuple[float | Estimate, float | Estimate]]
_HERE = Path(__file__).parent


def _labels(result: EpisodeResult) -> list[LabelPair]:
    facts = result.episode.facts
    return [(frozenset(facts["truth"]), facts["predicted"] or None)]


ACCURACY = rate_of("accuracy", lambda result: bool(result.episode.returns["observer"]), labels=_labels)


def _return(low: float, high: float = inf) -> Metric:
    """The return, between the least and the most that the seats of the entrant can have on average."""
    return mean_of("return", own_return, bounds=(low, high))


LOST_OR_WON = _return(-1, 1)


def _fact(fact: str, name: str = "", bounds: Bounds = COUNT) -> Metric:
    return mean_of(
        name or fact.replace("_", " "), lambda result: float(result.episode.facts[fact]), bounds=bounds
    )


def prediction(game: str, rule: str) -> Task:
    """The task to predict moves of a game."""
    return Task(
        name=f"reason/{NAMES.get(game, game)}",
        game=f"vs-bench/predict?game={game}" + f"&rule={rule}" * (rule != RULES[0]),
        seatings=({"observer": MODEL},),
        episodes=400,
        metrics=(ACCURACY,),
        config=PlayConfig(fallback="forfeit", listed=recipe_of(game, rule).listed),
    )


def _self_play(game: str, *seats: str, metrics: tuple[Metric, ...]) -> Task:
    return Task(f"decide/{game}", game, (dict.fromkeys(seats, MODEL),), 10, metrics)


def _dilemma(game: str, behaviour: Mapping[str, str]) -> Task:
    """Self-play with counters of behaviour (figures 4 and 12): counter to its name."""
    counters = tuple(_fact(fact, name) for fact, name in behaviour.items())
    grid = make(game)
    assert isinstance(grid, GridGame)
    each = [grid.horizon * (event.red + event.blue) / 2 for event in grid.events]  # once a step at most
    earned = _return(sum(worth for worth in each if worth < 0), sum(worth for worth in each if worth > 0))
    task = _self_play(game, "red", "blue", metrics=(earned, *counters))
    return replace(task, radar=tuple(behaviour.values()))


_COIN = {
    "red_own_coin": "red own",
    "red_other_coin": "red other's",
    "blue_other_coin": "blue other's",
    "blue_own_coin": "blue own",
}
_HUNT = {
    "red_apple": "red apples",
    "red_alone": "red alone",
    "together": "together",
    "blue_alone": "blue alone",
    "blue_apple": "blue apples",
}
_BATTLE = {"both_red": "both red", "both_blue": "both blue", "different": "different"}


def _fireworks(most: float) -> tuple[Metric, ...]:
    return tuple(_fact(fact, bounds=(0.0, most)) for fact in ("final", "fireworks"))


def decisions() -> tuple[Task, ...]:
    """The tasks to play each game."""
    sides = ({"black": MODEL, "white": "bot/mcts"}, {"black": "bot/mcts", "white": MODEL})
    pong = (
        _fact("combined", bounds=(combined(0, 0), 100.0)),
        _fact("right_points", "points"),
        _fact("decisions"),
    )
    return (
        _self_play("hanabi", "player_0", "player_1", metrics=_fireworks(25)),
        _self_play("overcooked", "chef_0", "chef_1", metrics=(_return(0), _fact("soups_delivered"))),
        Task("decide/breakthrough", "breakthrough", sides, 20, (LOST_OR_WON,)),
        Task("decide/kuhn", "vs-bench/kuhn", ({"player": MODEL},), 300, (EXPLOITABILITY,)),
        Task("decide/pong", "pong", ({"player": MODEL},), 10, pong),
        _dilemma("coin_dilemma", _COIN),
        _dilemma("monster_hunt", _HUNT),
        _dilemma("battle_of_colors", _BATTLE),
    )


def _mean(name: str, tasks: Sequence[Task]) -> Summary:
    """The unweighted mean over games, as in the paper's column "overall"."""
    return Summary(name, macro_average, tuple(task.name for task in tasks))


def _means(name: str, tasks: Sequence[Task]) -> tuple[Summary, ...]:
    by_game = {task.name.split("/")[1]: task for task in tasks}
    groups = {group: [by_game[game] for game in by_game if game in games] for group, games in GROUPS.items()}
    return _mean(name, tasks), *(_mean(f"{name}, {group}", some) for group, some in groups.items())


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / name).read_text(encoding="utf-8"))


_ANCHORS = _read("anchors.toml")
PAPER: dict[str, tuple[float, float]] = {task: (low, high) for task, (low, high) in _ANCHORS["paper"].items()}
MEASURED = {task: (Estimate(*low), Estimate(*high)) for task, (low, high) in _ANCHORS["measured"].items()}

_RAW = {
    "hanabi final": "decide/hanabi",
    "overcooked": "decide/overcooked",
    "breakthrough": "decide/breakthrough",
    "kuhn": "decide/kuhn",
    "coin_dilemma": "decide/coin_dilemma",
    "monster_hunt": "decide/monster_hunt",
    "battle_of_colors": "decide/battle_of_colors",
}
"""Table 4's columns and our tasks. Pong's combined score is that of table 2. Table 4's column of Pong's game
score is 1.5 for nearly everybody, the random player and the optimal one included, so that it cannot be the
points; it is not shown."""
_FURTHER = {"hanabi fireworks": ("decide/hanabi", "fireworks"), "pong steps": ("decide/pong", "decisions")}
"""Table 4's columns of other metrics."""


def published(anchors: str, predict: str) -> tuple[Published, ...]:
    """Table 1 for the paper's rule of prediction; table 2 for its anchors, table 4 for raw returns."""
    reason = 1 if predict == "paper" else None
    tables = {"paper": (reason, 2), "none": (reason, 4), "measured": (reason,)}[anchors]
    source = _source(tables)
    normalised, raw = _read("published.toml"), _read("published_raw.toml")
    rows = []
    for model in {**normalised, **raw}:
        row, columns = normalised.get(model, {}), raw.get(model, {})
        values = _only(row, "reason/") if reason else {}
        if anchors == "paper":
            values |= _only(row, "decide/")
        if anchors == "none":
            values |= {_RAW[column]: value for column, value in columns.items() if column in _RAW}
            values |= _only(row, "decide/pong")
        if values:
            more = columns if anchors != "measured" else {}
            further = {_FURTHER[column]: value for column, value in more.items() if column in _FURTHER}
            rows.append(Published(source, model, values, _deviations(anchors, model), further))
    return tuple(rows)


def _source(tables: tuple[int | None, ...]) -> str:
    numbers = [str(table) for table in tables if table]
    return f"VS-Bench, table{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"


def _deviations(anchors: str, model: str) -> dict[str, float]:
    """The standard deviations of table 2 or 4; Pong's combined score has those of table 2 in both."""
    tables = _read("published_deviations.toml")
    if anchors == "none":
        raw = {task: value for task, value in tables["raw"].get(model, {}).items() if task in PAPER}
        return raw | _only(tables["normalised"].get(model, {}), "decide/pong")
    kind = {"paper": "normalised", "ablations": "ablations"}.get(anchors, "")
    return dict(tables[kind].get(model, {})) if kind else {}


def ablations(anchors: str, predict: str) -> tuple[Published, ...]:
    """Tables 5 and 6, one row per model and setting: 5 with the paper's rule, 6 with its anchors."""
    reason, decide = predict == "paper", anchors == "paper"
    source = _source((5 if reason else None, 6 if decide else None))
    rows = []
    for model, row in _read("published_ablations.toml").items():
        values = {**(_only(row, "reason/") if reason else {}), **(_only(row, "decide/") if decide else {})}
        if values:
            rows.append(Published(source, model, values, _deviations("ablations", model) if decide else {}))
    return tuple(rows)


def _only(values: Mapping[str, float], start: str) -> dict[str, float]:
    return {task: value for task, value in values.items() if task.startswith(start)}


FEW = {"reason/breakthrough": 0, "reason/pong": 0, "decide/pong": 0, "decide/kuhn": 60}
"""Episodes in small suites: slow tasks are left out; Kuhn poker needs several answers to each question."""
CHOICES: Mapping[str, Anchors] = {"paper": PAPER, "measured": MEASURED, "none": {}}


@dataclass(frozen=True)
class VsBench(SuiteBuilder):
    """Both dimensions of all eight games, with the paper's counts."""

    anchors: str = option(
        "paper",
        choices=tuple(CHOICES),
        help="normalise between the published anchors, those measured here, or not at all",
    )

    predict: str = option(
        RULES[0],
        choices=RULES,
        help="ask for predictable actions only, or as the paper does (needed to compare with its table 1)",
    )

    def build(self) -> Suite:
        reason, decide = tuple(prediction(game, self.predict) for game in RECIPES), decisions()
        raw = self.anchors == "none"
        summaries = (*_means(REASONING, reason), *(() if raw else _means(DECISIONS, decide)))
        return Suite(
            name="vs-bench",
            about="Eight games: predict the other's next move (400 samples each), and play.",
            tasks=(*reason, *decide),
            published=published(self.anchors, self.predict),
            deviations=read_deviations(_HERE / "deviations.md"),
            anchors=CHOICES[self.anchors],
            references=_HERE / "references.toml",
            paper=_HERE / "paper.bib",
            summaries=summaries,
        )


@dataclass(frozen=True)
class VsBenchAblations(VsBench):
    """The games of tables 5 and 6: the effect of pictures and of reasoning aloud."""

    def build(self) -> Suite:
        full = super().build()
        return replace(
            full,
            name="vs-bench-ablations",
            about="A card game, a board game and a video game, to be run with --modality and --style.",
            tasks=tuple(task for task in full.tasks if task.name.split("/")[1] in ABLATED),
            published=ablations(self.anchors, self.predict),
            summaries=(),
        )


@dataclass(frozen=True)
class VsBenchMini(VsBench):
    """A tenth of everything except the slow games, and two smaller games in their place."""

    def build(self) -> Suite:
        about = "VS-Bench in small: fewer samples, without the slow games, with two small ones added."
        small = super().build()
        small = small.limited(
            "vs-bench-mini", about, lambda task: FEW.get(task.name, max(4, task.episodes // 10))
        )
        hanabi = _self_play("tiny_hanabi", "player_0", "player_1", metrics=_fireworks(6))
        opponent = "bot/mcts?simulations=1000"
        sides = ({"x": MODEL, "o": opponent}, {"x": opponent, "o": MODEL})
        tic_tac_toe = Task("decide/tic_tac_toe", "tic_tac_toe", sides, 10, (LOST_OR_WON,))
        return replace(small, tasks=(*small.tasks, replace(hanabi, episodes=4), tic_tac_toe))


SIGHT_EPISODES = 40
"""Of every game; four episodes are a pair of twin worlds in both seats."""
UNLISTED = PlayConfig(listed=False, reasons="kind")
"""Legal moves are neither listed nor named by refusals: they would tell the board, or the other's cards."""
THREE_TRIES = replace(UNLISTED, fallback="forfeit")
"""Three invalid replies in a row lose the game: no fallback plays for a player that does not look."""

SIGHT_GAMES = {
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
            lambda result: (own_return(result) - self.script) / (self.best - self.script),
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


ALONE = ("breakthrough", "pong")
"""Games whose predictions have no twins: each costs a match with search, or of many frames."""


def _pairs_of(task: Task, game: str) -> Task:
    """The predictions of a game in pairs of twin worlds."""
    if game in ALONE:
        return task
    right = both_of(lambda result: bool(result.episode.returns["observer"]))
    return replace(task, game=with_twins(task.game), metrics=(right, *task.metrics))


def _in_twin_worlds(task: Task) -> Task:
    """The task of the paper in its setting for players that look."""
    name = task.name.split("/")[1]
    if name == "hanabi":
        return replace(task, config=UNLISTED)
    if name == "breakthrough":
        both = both_of(won, "pairs of twin worlds (same words, other boards) with a win in both")
        return replace(task, game=SIGHT_GAMES[name], metrics=(both, *task.metrics), config=THREE_TRIES)
    if name not in SCALES:
        return task
    scale = SCALES[name]
    both = both_of(
        lambda result: own_return(result) >= scale.enough,
        f"pairs of twin worlds (same words, other pictures) with returns of at least {scale.enough:g}",
    )
    first, *rest = task.metrics
    return replace(task, game=SIGHT_GAMES[name], metrics=(both, first, scale.metric(), *rest))


@dataclass(frozen=True)
class VsBenchSight(SuiteBuilder):
    """Predictions and games of VS-Bench in which a player that does not look has no success."""

    episodes: int = option(
        SIGHT_EPISODES, low=4, high=9_999_996, help="of every game but Kuhn poker and Pong"
    )

    def build(self) -> Suite:
        reason = tuple(_pairs_of(prediction(game, RULES[0]), game) for game in RECIPES)
        decide = tuple(_in_twin_worlds(task) for task in decisions())
        own = {f"decide/{game}" for game in ("hanabi", *SIGHT_GAMES)}
        return Suite(
            name="vs-bench-sight",
            about="VS-Bench for players that look: boards, kitchens and grids drawn by seed, moves that are "
            "not listed, pairs of twin worlds.",
            tasks=(
                *reason,
                *(replace(task, episodes=self.episodes) if task.name in own else task for task in decide),
            ),
            deviations=tuple(
                item for file in ("sight.md", "deviations.md") for item in read_deviations(_HERE / file)
            ),
            references=_HERE / "references.toml",
            paper=_HERE / "paper.bib",
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
