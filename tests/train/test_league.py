"""Who plays the other seats."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ludens
from ludens.games.spy.game import CLUE, DECISION
from ludens.train.league import League, Population
from ludens.train.recipe import Opponents, PopulationOptions

NO_POLICY: Any = None
"""Bots need none."""
SPY, CIVILIANS = {"spy": "bot/blunt"}, {"civilian": "bot/blunt"}


def drawn(*opponents: Opponents, stage: str = "") -> Counter[str]:
    league = League(ludens.make("spy"), NO_POLICY, opponents, seed=0)
    return Counter(" ".join(league.job(seed, 0, stage).players) for seed in range(300))


def test_arrangements_are_drawn_by_weight() -> None:
    count = drawn(Opponents(SPY, weight=2), Opponents(CIVILIANS))
    assert count["spy"] + count["civilian"] == 300
    assert 170 < count["spy"] < 230


def test_all_samples_of_a_seed_have_the_same_players() -> None:
    league = League(ludens.make("spy"), NO_POLICY, [Opponents(SPY), Opponents({})], seed=0)
    for seed in range(20):
        assert league.job(seed, 0).players == league.job(seed, 1).players


def test_a_stage_may_have_its_own_opponents() -> None:
    staged = Opponents(SPY, stage=DECISION), Opponents(CIVILIANS, stage=CLUE)
    assert drawn(*staged, stage=DECISION) == {"spy": 300}
    assert drawn(*staged, stage=CLUE) == {"civilian": 300}
    assert set(drawn(*staged, Opponents({}), stage=CLUE)) == {"civilian", ""}
    assert drawn(staged[0], stage=CLUE) == {"": 300}  # the learner has all seats


def test_past_selves_that_win_are_met_more_often() -> None:
    population = Population(PopulationOptions(size=3, prefer="hard"))
    for member in (0, 10, 20, 30):
        gone = population.add(member)
    assert (population.members, gone) == ([0, 20, 30], [10]), "the first one stays"
    population.record([("0 spy", 1.0)] * 20 + [("20 spy", 0.0)] * 20)
    assert population.beaten(0, "spy") > 0.9 > population.beaten(30, "spy") > population.beaten(20, "spy")
    met = Counter(population.draw("spy", "seed", number) for number in range(300))
    assert met[20] > met[30] > met[0] > 0
    even = Counter(population.draw("civilian", "seed", number) for number in range(300))
    assert min(even.values()) > 70, "other roles have results of their own"
    population.options = PopulationOptions(prefer="even")
    met = Counter(population.draw("spy", "seed", number) for number in range(300))
    assert met[30] > 2 * max(met[0], met[20]), "one that is never beaten teaches nothing"


@pytest.mark.slow
def test_a_run_with_past_selves_goes_on_as_it_would_have(tmp_path: Path) -> None:
    """Members, results and what is drawn are those of a run that was not stopped."""
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from ludens.train.loop import Trainer
    from tests.support.tiny_training import policy, recipe

    chosen = recipe(
        run={"iterations": 4},
        population={"every": 1, "size": 3},
        opponents=[{"players": {"o": "past"}}, {"players": {"x": "past"}}],
    )
    whole = Trainer(chosen, policy(), tmp_path / "whole")
    asyncio.run(whole.run())
    assert whole.league.population.members == [0, 3, 4]
    assert sum(games for _, games in whole.league.population.results.values()) > 10

    class Stopped(Exception):
        pass

    def stop(measured: dict[str, float]) -> None:
        if measured["iteration"] == 3:
            raise Stopped

    first = Trainer(chosen, policy(), tmp_path / "stopped")
    with pytest.raises(Stopped):
        asyncio.run(first.run(stop))
    second = Trainer(chosen, policy(), tmp_path / "stopped")
    second.resume(second.checkpoints.all()[-1])
    assert second.iteration == 2
    asyncio.run(second.run())
    assert second.league.state() == whole.league.state()
    for one, other in zip(whole.policy.parameters(), second.policy.parameters(), strict=True):
        assert bool((one == other).all())
