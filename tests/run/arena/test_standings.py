"""Standings of matches: cycles, groups that never met, what sight is worth, and the page of a run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludens.run.arena.ratings import RatedGame
from ludens.run.arena.standings import MatchGame, RatingColumn, Standings, alpha_rank
from ludens.run.plan import make_plan
from ludens.run.report import render
from ludens.run.report.arena import arena_charts, arena_tables
from ludens.run.results import Results, load_results
from ludens.run.stats import exactly
from tests.support.runs import found, played

TASK = "tic_tac_toe"
COLUMN = RatingColumn(TASK, (TASK,))
SUITE = "arena?games=tic_tac_toe,tiny_hanabi&rounds=3&listed=true"
NAMES = {"a": "bot/first", "b": "bot/best", "bot/random": "bot/random"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("arena")
    asyncio.run(played(folder, make_plan(SUITE, NAMES)))
    return load_results([folder])


def with_games(results: Results, games: list[RatedGame]) -> Standings:
    """Standings of other games than those that were played."""
    made, nowhere = Standings(results.suites[0], 199), Any
    vars(made)["games"] = {TASK: [MatchGame(game, nowhere, nowhere, (0, 0, 0)) for game in games]}  # type: ignore[arg-type]
    names = {name for game in games for name in (game.first, game.second)}
    vars(made)["specs"] = {name: NAMES.get(name, "bot/first") for name in names}
    return made


def often(first: str, second: str, chance: float, seeds: int = 30) -> list[RatedGame]:
    random = np.random.default_rng(4)
    wins = random.random((seeds, 2)) < chance
    return [
        RatedGame(first, second, float(wins[seed, seating]), TASK, seed, seating)
        for seed in range(seeds)
        for seating in (0, 1)
    ]


def test_a_cycle_is_reported_and_an_order_is_not(results: Results) -> None:
    round_about = often("a", "b", 0.8) + often("b", "c", 0.8) + often("c", "a", 0.8)
    [cycle] = with_games(results, round_about).cycles(COLUMN)
    assert cycle.names in (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))
    assert cycle.p_value < 0.05
    assert all(score > 0.6 for score in cycle.scores)
    assert not with_games(results, often("a", "b", 0.8) + often("b", "c", 0.8) + often("a", "c", 0.8)).cycles(
        COLUMN
    )
    even = often("a", "b", 0.5) + often("b", "c", 0.5) + often("c", "a", 0.5)
    assert not with_games(results, even).cycles(COLUMN)


def test_groups_that_never_met_are_reported(results: Results) -> None:
    made = with_games(results, often("a", "bot/random", 0.6) + often("c", "d", 0.6))
    [warning] = [line for line in made.warnings if "no games connect" in line]
    assert "2 groups" in warning
    assert "a, bot/random; c, d" in warning


def test_sight_is_worth_what_a_model_is_above_its_control(results: Results) -> None:
    games = (
        often("m", "m (blind)", 0.9) + often("m", "bot/random", 0.9) + often("m (blind)", "bot/random", 0.5)
    )
    made = with_games(results, games)
    made.specs.update({"m": "nano", "m (blind)": "nano?blind=true"})
    worth = made.sight(COLUMN)["m"]
    assert worth.low > 100
    assert worth.mean == pytest.approx(
        made.ratings(COLUMN).rating("m").mean - made.ratings(COLUMN).rating("m (blind)").mean
    )
    assert not [line for line in made.warnings if "blind control" in line]
    alike = with_games(results, often("m", "m (blind)", 0.5) + often("m", "bot/random", 0.5))
    alike.specs.update({"m": "nano", "m (blind)": "nano?blind=true"})
    assert "m is not significantly above its blind control" in " ".join(alike.warnings)


def test_alpha_rank_of_rock_paper_scissors_is_even_and_of_a_winner_is_not() -> None:
    beats = {("r", "s"), ("s", "p"), ("p", "r")}
    names = ("r", "p", "s")
    even = {(a, b): exactly(1.0 if (a, b) in beats else 0.5 if a == b else 0.0) for a in names for b in names}
    assert alpha_rank(names, even) == pytest.approx(dict.fromkeys(names, 1 / 3))
    one = {(a, b): exactly(1.0 if a == "r" else 0.0) for a in names for b in names}
    assert alpha_rank(names, one)["r"] == pytest.approx(1, abs=1e-3)
    del one["p", "s"]
    assert alpha_rank(names, one) == {}


@pytest.mark.parametrize("count", [2, 3, 7])
def test_alpha_rank_is_that_of_open_spiel(count: int) -> None:
    pytest.importorskip("matplotlib")
    from open_spiel.python.egt import alpharank

    names = [f"player {number}" for number in range(count)]
    for seed in range(10):
        table = np.random.default_rng(seed).integers(0, 11, (count, count)) / 10
        table[0, -1], table[-1, 0] = 0.0, 1.0  # as wide as OpenSpiel is given it
        returns = {(a, b): exactly(table[i, j]) for i, a in enumerate(names) for j, b in enumerate(names)}
        with np.errstate(over="ignore"):
            expected = alpharank.compute([table], alpha=100)[2]
        assert list(alpha_rank(names, returns).values()) == pytest.approx(expected.tolist(), abs=1e-9)


def test_self_play_less_cross_play_is_paired_on_seeds(results: Results) -> None:
    made = Standings(results.suites[0])
    [together] = made.cross_play
    own = together.self_play["a"]
    rows = {row.players: row.cells["tiny_hanabi"] for row in results.suites[0].rows}
    means = {pair: cell.metrics["return"].mean for pair, cell in rows.items()}
    expected = means["a", "a"] - (means["a", "b"] + means["a", "bot/random"]) / 2
    assert own.mean == pytest.approx(expected)
    assert own.n == 3


def test_tables_and_charts_have_every_entrant(results: Results) -> None:
    [suite] = results.suites
    titles = {table.title: table for table in arena_tables(suite)}
    assert {"Ratings", "Cross-play: tiny_hanabi", "Head to head", "Replies"} <= titles.keys()
    assert titles["Ratings"].rows[0].entries[0] == "b"
    assert {*NAMES} == {row.entries[0] for row in titles["Ratings"].rows}
    for chart in arena_charts(suite):
        for name in NAMES:
            assert name in chart.description
    assert b"Ratings" in render(results, "latex")


async def test_worker_processes_play_the_same_games(tmp_path: Path, results: Results) -> None:
    [folder] = results.plans
    await played(tmp_path, make_plan(SUITE, NAMES), concurrency=4, workers=2)
    assert found(tmp_path) == found(folder)


async def test_two_runs_are_rated_together(tmp_path: Path, results: Results) -> None:
    [folder] = results.plans
    await played(tmp_path / "other", make_plan(SUITE, {"a": "bot/best", "bot/random": "bot/random"}))
    made = Standings(load_results([folder, tmp_path / "other"]).suites[0])
    assert made.specs.keys() == {f"a ({folder.name})", "a (other)", "b", "bot/random"}
    assert set(made.ratings(COLUMN).rated) == made.specs.keys()
    assert made.ratings(COLUMN).strength("a (other)") > made.ratings(COLUMN).strength(f"a ({folder.name})")
