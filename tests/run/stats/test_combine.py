"""Scores between anchors and averages over groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.run.stats import (
    Estimate,
    exactly,
    macro_average,
    mean,
    micro_average,
    normalised,
    rate,
)

Average = Callable[[Mapping[str, Estimate]], Estimate]
quick = settings(max_examples=40, deadline=None)


def about(mean: float, error: float, n: int = 50) -> Estimate:
    return Estimate(mean, mean - 1.959964 * error, mean + 1.959964 * error, n, error)


def test_exact_anchors_scale_the_interval() -> None:
    x = rate(8, 10)
    found = normalised(x, 0.5, 1.0)
    assert (found.mean, found.n) == pytest.approx((60, 10))
    assert (found.low, found.high) == pytest.approx((200 * x.low - 100, 200 * x.high - 100))
    assert found.standard_error == pytest.approx(200 * x.standard_error)


def test_the_high_anchor_may_be_below_the_low_one() -> None:
    found = normalised(Estimate(3, 2, 5, 10, 1), 10, 0)
    assert (found.mean, found.low, found.high) == pytest.approx((70, 50, 80))


def test_scores_stay_between_the_worst_result_and_optimal_play() -> None:
    """Two games of hanabi give 0 to 25 points; 24 are optimal."""
    wide = Estimate(12, -3, 49, 2, 2)
    assert normalised(wide, 0, 24).high == 100
    found = normalised(wide, 0, 24, (0, 25))
    assert (found.mean, found.low, found.high) == (50, 0, 100)
    # Better than the player who is called optimal.
    better = normalised(Estimate(24.5, 20, 30, 2, 2), 0, 24, (0, 25))
    assert (better.mean, better.high) == pytest.approx((24.5 / 0.24, 25 / 0.24))
    # Lower is better: optimal play has 0 mistakes.
    assert normalised(Estimate(1, -2, 4, 3, 1), 10, 0, (0, inf)).high == 100


def test_overlapping_anchors_give_intervals_as_wide_as_possible() -> None:
    found = normalised(about(1, 0.1), about(0, 1), about(1, 1))
    assert (found.mean, found.low, found.high) == (100, -inf, 100)
    bounded = normalised(about(1, 0.1), about(0, 1), about(1, 1), (-2, 7))
    assert (bounded.low, bounded.high) == (-200, 100)
    assert isnan(normalised(about(1, 0.1), 2, 2).mean)
    assert isnan(normalised(rate(0, 0), 0, 1).low)
    assert normalised(mean([0.5]), 0, 1).mean == 50


@quick
@given(st.floats(-5, 15), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_uncertain_anchors_only_widen_the_interval(x: float, ex: float, el: float, eh: float) -> None:
    sure, unsure = normalised(about(x, ex), 0, 10), normalised(about(x, ex), about(0, el), about(10, eh))
    assert unsure.low <= unsure.mean + 1e-9
    assert unsure.high >= unsure.mean - 1e-9
    assert unsure.standard_error >= sure.standard_error - 1e-9
    assert unsure.high - unsure.low >= sure.high - sure.low - 1e-6


def test_macro_weights_groups_and_micro_weights_observations() -> None:
    groups = {"easy": rate(90, 100), "hard": rate(1, 10)}
    macro, micro = macro_average(groups), micro_average(groups)
    assert macro.mean == pytest.approx(0.5)
    assert micro.mean == pytest.approx(91 / 110)
    assert macro.n == micro.n == 110
    errors = rate(90, 100).standard_error, rate(1, 10).standard_error
    assert macro.standard_error == pytest.approx(np.hypot(*errors) / 2)


@pytest.mark.parametrize("average", [macro_average, micro_average])
def test_the_average_of_one_group_is_the_group(average: Average) -> None:
    only = rate(3, 7)
    found = average({"only": only})
    assert (found.mean, found.low, found.high) == pytest.approx((only.mean, only.low, only.high))


def test_an_empty_group_makes_the_macro_average_unknown() -> None:
    groups = {"played": rate(3, 7), "never": rate(0, 0)}
    assert isnan(macro_average(groups).mean)
    assert micro_average(groups).mean == pytest.approx(3 / 7)
    assert micro_average({}).n == macro_average({}).n == 0
    assert macro_average({"a": exactly(1.0)}).mean == 1.0


@quick
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6))
def test_averages_of_rates_stay_ordered_inside_0_and_1(tallies: list[tuple[int, int]]) -> None:
    groups = {i: rate(right, right + wrong + 1) for i, (right, wrong) in enumerate(tallies)}
    for found in (macro_average(groups), micro_average(groups)):
        assert -1e-12 <= found.low <= found.mean <= found.high <= 1 + 1e-12
