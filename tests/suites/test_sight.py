"""Suites whose tasks need sight: words tell nothing, episodes are pairs, and blind players get nowhere."""

from __future__ import annotations

import pytest

from ludens.agents import BEST, agent
from ludens.core.registry import make
from ludens.core.twins import TwinGame
from ludens.run.references import references_of
from ludens.run.task import MODEL, Task, suite
from ludens.suites import CATALOGUE
from tests.suites.blind_players import Scripted, blind_players, episodes, steady, third

SIGHT = [name for name in CATALOGUE if name.startswith(("vs-bench-sight", "playground-sight"))]
TASKS = [(name, task) for name in SIGHT for task in suite(name).tasks]


def named(name: str, task: str) -> Task:
    return next(one for one in suite(name).tasks if one.name == task)


@pytest.mark.parametrize(("name", "task"), TASKS, ids=[f"{name}:{task.name}" for name, task in TASKS])
def test_twins_are_played_in_whole_pairs_and_without_lists_that_tell_them_apart(
    name: str, task: Task
) -> None:
    game = make(task.game)
    if not isinstance(game, TwinGame) or not game.twins:
        return
    assert task.metrics[0].twins
    assert not task.metrics[1].twins
    assert task.episodes % (2 * len(task.seatings)) == 0
    if not game.actions_told:
        assert (task.config.listed, task.config.reasons) == (False, "kind")


def test_whole_games_begin_with_openings_and_both_sides_play_them() -> None:
    for task in suite("playground-sight").tasks:
        if len(task.seatings[0]) == 2:
            assert make(task.game).options["opening"] > 0
            seats = [seat for seating in task.seatings for seat, who in seating.items() if who == MODEL]
            assert set(seats) == set(make(task.game).seats)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if "-sight" in name])
def test_stored_blind_baselines_are_below_a_third_of_the_way_to_the_best(name: str) -> None:
    whole = suite(name)
    stored = references_of(whole, whole.tasks)
    shares = {task.name: stored[task.name].blind_share(task.metrics[0]) for task in whole.tasks}
    assert {task: share for task, share in shares.items() if not share <= 1 / 3} == {}


def test_hanabi_does_not_list_hints() -> None:
    assert not named("vs-bench-sight", "decide/hanabi").config.listed


def test_settings_of_the_papers_are_unchanged() -> None:
    games = {task.name: task.game for name in ("vs-bench", "playground") for task in suite(name).tasks}
    for task, game in games.items():
        if task.startswith("decide/") and task != "decide/kuhn":
            assert game == task.removeprefix("decide/")
        if task.startswith("e2e/"):
            assert game == task.removeprefix("e2e/")


@pytest.mark.parametrize("game", ["overcooked", "coin_dilemma", "monster_hunt", "battle_of_colors"])
def test_a_list_of_actions_is_enough_in_no_pair(game: str) -> None:
    task = named("vs-bench-sight", f"decide/{game}")
    scripts = steady(make(task.game), 50)
    for script in (scripts[0], scripts[len(scripts) // 2]):
        both, *_ = (metric.estimate(list(episodes(task, Scripted(script), 8))) for metric in task.metrics[:1])
        assert (both.mean, both.n) == (0.0, 4)


def test_the_best_player_is_good_in_both_worlds() -> None:
    for game in ("overcooked", "coin_dilemma", "battle_of_colors"):
        task = named("vs-bench-sight", f"decide/{game}")
        played = list(episodes(task, agent(BEST, make(task.game)), 4))
        assert task.metrics[0].estimate(played).mean >= 0.5


ATTACKED = {
    "vs-bench-sight": ("overcooked", "coin_dilemma", "monster_hunt", "battle_of_colors", "breakthrough"),
    "playground-sight": ("tic_tac_toe", "reversi", "gomoku", "chess"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "game"), [(name, game) for name, games in ATTACKED.items() for game in games]
)
def test_no_blind_player_comes_a_third_of_the_way_from_chance_to_the_best(name: str, game: str) -> None:
    task = named(name, f"{'decide' if name == 'vs-bench-sight' else 'e2e'}/{game}")
    players = blind_players(task, 200 if game not in ("reversi", "gomoku", "chess", "breakthrough") else 0)
    results = {player: list(episodes(task, made, 60)) for player, made in players.items()}
    chance = next(iter(results.values()))
    upper = list(episodes(task, agent(BEST, make(task.game)), 4))
    for metric in task.metrics[:2]:
        bound = third(metric.estimate(chance).mean, metric.estimate(upper).mean)
        for player, played in results.items():
            assert metric.estimate(played).mean <= bound, (player, metric.name)
