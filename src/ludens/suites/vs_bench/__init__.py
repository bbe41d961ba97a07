"""VS-Bench: eight games in two dimensions, strategic reasoning and decision-making.

`vs-bench` holds both with the paper's counts; `vs-bench-mini` is a quick look with the two smallest games
beside them. Results of decision-making are normalised between random and optimal play: `?anchors=paper` takes
the published anchors, `?anchors=measured` our own, `?anchors=none` shows raw returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ludens.core.errors import UnknownName
from ludens.core.table import Table
from ludens.run.stats import Classification, Estimate, classification, macro_micro
from ludens.run.task import MODEL, RETURN, Metric, Played, Suite, Task, mean_of, rate_of, read_published
from ludens.suites.vs_bench.anchors import MEASURED, PAPER
from ludens.suites.vs_bench.deviations import DEVIATIONS
from ludens.suites.vs_bench.kuhn import EXPLOITABILITY
from ludens.suites.vs_bench.recipes import RECIPES

_HERE = Path(__file__).parent
SOURCE = "VS-Bench, tables 1 and 2"
NAMES = {"kuhn_poker": "kuhn"}
Anchors = Mapping[str, tuple[float | Estimate, float | Estimate]]


def _right(played: Played) -> bool:
    return bool(played.episode.returns["observer"])


def _confusion(played: Sequence[Played]) -> Classification:
    facts = [one.episode.facts for one in played]
    return classification([(frozenset(f["truth"]), f["predicted"] or None) for f in facts])


ACCURACY = replace(rate_of("accuracy", _right), classes=_confusion)


def _fact(name: str, **rest: bool) -> Metric:
    return mean_of(name, lambda played: float(played.episode.facts[name]), **rest)


def _reason(game: str) -> Task:
    return Task(
        name=f"reason/{NAMES.get(game, game)}",
        game=f"vs-bench/predict?game={game}",
        seatings=({"observer": MODEL},),
        episodes=400,
        metrics=(ACCURACY,),
        table=Table(fallback="forfeit"),
    )


def _self_play(game: str, *seats: str, metrics: tuple[Metric, ...]) -> Task:
    return Task(f"decide/{game}", game, (dict.fromkeys(seats, MODEL),), 10, metrics)


def _decide() -> tuple[Task, ...]:
    sides = ({"black": MODEL, "white": "bot/mcts"}, {"black": "bot/mcts", "white": MODEL})
    return (
        _self_play("hanabi", "player_0", "player_1", metrics=(_fact("final"), _fact("fireworks"))),
        _self_play("overcooked", "chef_0", "chef_1", metrics=(RETURN, _fact("soups_delivered"))),
        Task("decide/breakthrough", "breakthrough", sides, 20, (RETURN,)),
        Task("decide/kuhn", "vs-bench/kuhn", ({"player": MODEL},), 300, (EXPLOITABILITY,)),
        Task("decide/pong", "pong", ({"player": MODEL},), 10, (_fact("combined"), _fact("decisions"))),
        _self_play(
            "coin_dilemma",
            "red",
            "blue",
            metrics=(RETURN, *map(_both, (("cooperated", "own_coin"), ("defected", "other_coin")))),
        ),
        _self_play(
            "monster_hunt",
            "red",
            "blue",
            metrics=(
                RETURN,
                *map(_both, (("apples", "apple"), ("caught alone", "alone"))),
                _fact("together"),
            ),
        ),
        _self_play(
            "battle_of_colors",
            "red",
            "blue",
            metrics=(RETURN, _fact("both_red"), _fact("both_blue"), _fact("different")),
        ),
    )


def _both(names: tuple[str, str]) -> Metric:
    """What both players did together, counted over an episode."""
    shown, fact = names

    def count(played: Played) -> float:
        return float(sum(played.episode.facts[f"{seat}_{fact}"] for seat in ("red", "blue")))

    return mean_of(shown, count)


def _overall(values: Mapping[str, Estimate]) -> Estimate:
    return macro_micro(dict(values)).macro


def vs_bench(anchors: str = "paper") -> Suite:
    """Both dimensions of all eight games, with the paper's counts."""
    choices: dict[str, Anchors] = {"paper": PAPER, "measured": MEASURED, "none": {}}
    if anchors not in choices:
        raise UnknownName("anchors", anchors, choices)
    return Suite(
        name="vs-bench",
        about="Eight games: predict the other's next move (400 samples each), and play.",
        tasks=(*map(_reason, RECIPES), *_decide()),
        published=read_published(_HERE / "published.toml", SOURCE) if anchors == "paper" else (),
        deviations=DEVIATIONS,
        anchors=choices[anchors],
        overall=_overall if anchors != "none" else None,
    )


def vs_bench_mini(anchors: str = "paper") -> Suite:
    """A tenth of everything but the slow games, and the two smallest games in their place."""
    whole = vs_bench(anchors)
    quick = [task for task in whole.tasks if "pong" not in task.name and task.name != "reason/breakthrough"]
    small = tuple(
        replace(task, episodes=max(len(task.seatings) * 2, task.episodes // 10))
        if task.name != "decide/kuhn"
        else replace(task, episodes=60)
        for task in quick
    )
    extra = (
        _self_play("tiny_hanabi", "player_0", "player_1", metrics=(_fact("final"), _fact("fireworks"))),
        Task(
            "decide/tic_tac_toe",
            "tic_tac_toe",
            ({"x": MODEL, "o": "bot/mcts"}, {"x": "bot/mcts", "o": MODEL}),
            10,
            (RETURN,),
        ),
    )
    about = "A quick look at VS-Bench: fewer samples, the slow games left out, two tiny ones added."
    return replace(
        whole, name="vs-bench-mini", about=about, tasks=(*small, *extra), published=(), overall=None
    )
