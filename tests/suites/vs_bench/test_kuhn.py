"""Kuhn poker by twelve questions: equilibria lose nothing but noise, a coin flip what theory says."""

from __future__ import annotations

import asyncio
from math import isnan

import pytest

from ludens.agents import agent
from ludens.games.kuhn_poker.rules import INFOSETS
from ludens.loop import play
from ludens.run.task import EpisodeResult
from ludens.suites.vs_bench.kuhn import EXPLOITABILITY, SEAT, KuhnQuestions, answers_of


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
