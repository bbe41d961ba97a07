"""Who plays the other seats."""

from __future__ import annotations

from collections import Counter
from typing import Any

import ludens
from ludens.games.spy.game import CLUE, DECISION
from ludens.train.recipe import Opponents
from ludens.train.rollout import League

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
