"""Shares over correlated things: hand-computed values, and intervals that cover the truth."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest

from ludens.run.stats import Estimate, pooled_share, rate
from tests.run.stats.test_coverage import covered


def moves(*counts: tuple[int, int]) -> Estimate:
    return pooled_share({"": count} for count in counts)


def test_long_games_count_for_all_their_moves() -> None:
    found = moves((3, 4), (0, 0), (1, 16))
    assert found.mean == pytest.approx(0.2)
    assert found.n == 2
    # Residuals 3 - 0.8 and 1 - 3.2 over 20 moves; n / (n - 1) is 2.
    assert found.standard_error == pytest.approx(sqrt(2 * 2 * (2.2 / 20) ** 2))


def test_the_mean_over_classes_gives_each_the_same_weight() -> None:
    boards = [{"0": (90, 90), "1": (0, 8), "2": (0, 2)}, {"0": (80, 80), "1": (10, 20)}]
    assert pooled_share(boards).mean == pytest.approx((1 + 10 / 28 + 0) / 3)


def test_single_things_have_nearly_the_interval_of_a_rate() -> None:
    found, plain = moves(*[(1, 1)] * 30, *[(0, 1)] * 70), rate(30, 100)
    assert found.mean == plain.mean
    assert (found.low, found.high) == (
        pytest.approx(plain.low, abs=3e-3),
        pytest.approx(plain.high, abs=3e-3),
    )


def test_all_or_none_is_not_certain() -> None:
    for part in (0, 7):
        found = moves(*[(part, 7)] * 10)
        assert (found.low, found.high) == (rate(part and 10, 10).low, rate(part and 10, 10).high)


def test_nothing_and_one_game_have_no_interval() -> None:
    assert isnan(moves().mean)
    assert isnan(moves((0, 0)).mean)
    one = moves((2, 4))
    assert (one.mean, one.n) == (0.5, 1)
    assert isnan(one.low)


@pytest.mark.parametrize(("share", "games"), [(0.5, 12), (0.5, 60), (0.85, 40)])
def test_intervals_cover_the_truth_where_games_differ_and_good_ones_are_longer(
    share: float, games: int
) -> None:
    def draw(dice: np.random.Generator, n: int) -> list[tuple[int, int]]:
        skill = dice.beta(4 * share, 4 * (1 - share), n)
        length = 1 + dice.poisson(2 + 8 * skill)
        return list(zip(dice.binomial(length, skill).tolist(), length.tolist(), strict=True))

    many = draw(np.random.default_rng(9), 200_000)
    truth = sum(part for part, _ in many) / sum(whole for _, whole in many)
    assert 0.91 <= covered(lambda dice: moves(*draw(dice, games)), truth, seed=4) <= 0.98
