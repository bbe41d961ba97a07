"""Kuhn poker by twelve questions: equilibria lose nothing but noise, a coin flip what theory says."""

from __future__ import annotations

import asyncio
from math import isnan

import numpy as np
import pytest

from ludens.agents import agent
from ludens.games.kuhn_poker import INFOSETS, equilibrium, exploitability
from ludens.loop import play
from ludens.run.task import EpisodeResult
from ludens.suites.vs_bench.kuhn import (
    EXPLOITABILITY,
    SEAT,
    KuhnQuestions,
    answers_of,
    exploitabilities,
    interval,
)


def asked(spec: str, times: int, first: int = 0) -> list[EpisodeResult]:
    game = KuhnQuestions()
    player = agent(spec, game)

    async def all_of_them() -> list[EpisodeResult]:
        seeds = range(first, first + times * len(INFOSETS))
        return [EpisodeResult(str(seed), await play(game, {SEAT: player}, seed), (SEAT,)) for seed in seeds]

    return asyncio.run(all_of_them())


def test_seeds_run_through_all_twelve_questions() -> None:
    answers = answers_of(EXPLOITABILITY.observations(asked("bot/random", 25)))
    assert set(answers) == set(INFOSETS)
    assert {len(bets) for bets in answers.values()} == {25}


@pytest.mark.parametrize("alpha", ["0", "0.16666666666666666", "0.3333333333333333"])
def test_equilibria_are_hardly_exploitable(alpha: str) -> None:
    played = asked(f"bot/equilibrium?alpha={alpha}", 25)
    found = EXPLOITABILITY.estimate(played)
    assert -0.1 < found.mean < 0  # noise of 25 answers: 0.03 to 0.04 on average
    assert found.low <= found.mean <= found.high == pytest.approx(0, abs=0.02)


POLICIES = {
    "coin": np.full(12, 0.5),
    "equilibrium": np.array([equilibrium(1 / 6)[infoset] for infoset in INFOSETS]),
    "between": np.array([0.7 * equilibrium(1 / 6)[infoset] + 0.15 for infoset in INFOSETS]),
    "bold": np.full(12, 0.9),
}


@pytest.mark.parametrize(
    "name", ["between", *(pytest.param(p, marks=pytest.mark.slow) for p in POLICIES if p != "between")]
)
def test_intervals_hold_the_truth_in_95_of_100_cases(name: str) -> None:
    """25 answers a question, 100 times; with the mirrored bootstrap 87 to 92 of 100 held it."""
    policy, dice = POLICIES[name], np.random.default_rng(7)
    truth, held = float(exploitabilities(policy)), 0
    for seed in range(100):
        answers = [[True] * bets + [False] * (25 - bets) for bets in dice.binomial(25, policy)]
        found = interval(answers, seed)
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    assert held >= 93


def test_many_policies_are_as_exploitable_as_open_spiel_says() -> None:
    policies = np.random.default_rng(0).random((40, 12))
    theirs = [exploitability(dict(zip(INFOSETS, policy, strict=True))) for policy in policies]
    assert exploitabilities(policies) == pytest.approx(theirs)


def test_a_coin_flip_loses_what_theory_says() -> None:
    found = EXPLOITABILITY.estimate(asked("bot/random", 100, first=12_000))
    assert found.mean == pytest.approx(-0.4583, abs=0.06)
    assert found.low < -0.4583 < found.high
    assert found.n == 100 * len(INFOSETS)


def test_nothing_is_said_before_all_twelve_were_asked() -> None:
    played = asked("bot/random", 1)
    assert isnan(EXPLOITABILITY.estimate(played[:11]).mean)
    assert not isnan(EXPLOITABILITY.estimate(played).mean)


def test_the_interval_is_the_same_every_time() -> None:
    played = asked("bot/random", 5)
    assert EXPLOITABILITY.estimate(played) == EXPLOITABILITY.estimate(played)
