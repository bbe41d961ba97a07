"""Rates and means against scipy, textbook numbers and properties of intervals."""

from __future__ import annotations

import subprocess
import sys
from math import inf, isclose, isfinite, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ludens.run.stats import (
    Estimate,
    mean,
    rate,
    student,
)

quick = settings(max_examples=40, deadline=None)
values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def same(a: Estimate, b: Estimate) -> bool:
    """Equal, where NaN equals NaN."""
    return repr(a) == repr(b)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 9, 30, 1000])
def test_quantiles_of_student_are_those_of_scipy(n: int) -> None:
    assert student(n) == pytest.approx(scipy_stats.t.ppf(0.975, n - 1), rel=1e-10)  # scipy 1.15 is less exact


def test_importing_the_module_loads_no_scipy() -> None:
    code = "import sys, ludens.run.stats; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (15, 148, 0.0624, 0.1605)],
)
def test_wilson_intervals_known_from_the_literature(successes: int, n: int, low: float, high: float) -> None:
    found = rate(successes, n)
    assert (found.mean, found.n) == (successes / n, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@quick
@given(st.integers(0, 500), st.integers(0, 500))
def test_a_rate_is_ordered_inside_0_and_1_mirrors_and_agrees_with_scipy(right: int, wrong: int) -> None:
    n = right + wrong
    found, mirrored = rate(right, n), rate(wrong, n)
    if n == 0:
        assert same(found, Estimate(nan, nan, nan, 0, nan))
        return
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high
    assert found.standard_error > 0
    assert isclose(found.low, 1 - mirrored.high, abs_tol=1e-12)
    scipy = scipy_stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((scipy.low, scipy.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(11, 10), (-1, 10), (0, -1)])
def test_an_impossible_rate_is_an_error(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes in"):
        rate(successes, n)


def test_a_large_symmetric_sample_agrees_with_students_t() -> None:
    sample = np.random.default_rng(1).normal(3, 2, 1000)
    low, high = scipy_stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    found = mean(sample)
    assert found.mean == pytest.approx(sample.mean())
    assert found.standard_error == pytest.approx(scipy_stats.sem(sample))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_the_interval_of_a_skewed_sample_is_skewed() -> None:
    found = mean(np.random.default_rng(2).exponential(size=40))
    assert found.high - found.mean > 1.1 * (found.mean - found.low)


def test_a_bootstrap_stays_inside_the_sample() -> None:
    found = mean([0.1] * 10 + [0.7])
    assert 0.1 <= found.low < found.mean < found.high <= 0.7


def test_ten_values_get_nearly_the_width_of_students_t() -> None:
    """2.26 standard errors on either side; a bootstrap without the widening has 1.86."""
    found = mean(range(10))
    assert 2.1 < (found.high - found.low) / (2 * found.standard_error) < 2.4


def test_few_values_get_students_t() -> None:
    found = mean([1.0, 3.0])
    assert (found.mean, found.standard_error) == pytest.approx((2.0, 1.0))
    assert found.high - 2 == 2 - found.low == pytest.approx(12.7062, abs=1e-4)


def test_no_value_one_value_and_equal_values() -> None:
    assert same(mean([]), Estimate(nan, nan, nan, 0, nan))
    assert same(mean([4.0]), Estimate(4.0, nan, nan, 1, nan))
    assert mean([4.0] * 9) == Estimate(4.0, 4.0, 4.0, 9, 0.0)
    assert mean([0.1] * 9).low == pytest.approx(0.1)


def test_equal_values_with_bounds_have_an_interval() -> None:
    wins, expected = mean([1.0] * 10, bounds=(-1, 1)), rate(10, 10)
    assert (wins.low, wins.high) == pytest.approx((2 * expected.low - 1, 1.0))
    assert wins.standard_error == pytest.approx(2 * expected.standard_error)
    assert mean([2.0, 2.0], bounds=(2.0, 2.0)).low == 2.0


def test_the_interval_stays_inside_the_bounds() -> None:
    free, held = mean([1.0, 1.0, -1.0]), mean([1.0, 1.0, -1.0], bounds=(-1, 1))
    assert free.low < -1 < held.low
    assert free.high > 1 > held.high


@pytest.mark.parametrize("bad", [[nan, 1.0], [inf]])
def test_values_that_are_not_finite_are_an_error(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        mean(bad)


def test_values_outside_their_bounds_are_an_error() -> None:
    with pytest.raises(ValueError, match="outside"):
        mean([0.0, 2.0], bounds=(0, 1))


@quick
@given(values, st.randoms(use_true_random=False), st.integers(0, 5))
def test_a_mean_is_deterministic_and_independent_of_order(
    sample: list[float], dice: Random, seed: int
) -> None:
    shuffled = list(sample)
    dice.shuffle(shuffled)
    found = mean(sample, seed=seed)
    assert found.low <= found.mean <= found.high
    assert isfinite(found.low)
    assert isfinite(found.high)
    assert mean(shuffled, seed=seed) == found


@quick
@given(st.lists(st.integers(-3, 3), min_size=8, max_size=20))
def test_a_mean_is_equivariant_to_shift_and_scale(sample: list[int]) -> None:
    found, moved = mean(sample), mean([10 * value + 7 for value in sample])
    assert moved.low == pytest.approx(10 * found.low + 7, abs=1e-6)
    assert moved.high == pytest.approx(10 * found.high + 7, abs=1e-6)


def test_ten_thousand_values() -> None:
    found = mean(np.random.default_rng(3).exponential(size=10_000))
    assert found.low < 1 < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.standard_error, rel=0.06)


def test_numbers_of_numpy_become_plain_ones() -> None:
    found = Estimate(np.float64(1), np.float32(0), np.float64(2), np.int64(3), np.float64(0.5))  # type: ignore[arg-type]
    for estimate in (found, found.scaled(np.float64(2)), found.within((np.float64(0.5), np.float64(1.5)))):
        numbers = (estimate.mean, estimate.low, estimate.high, estimate.standard_error)
        assert {type(number) for number in numbers} == {float}
        assert type(estimate.n) is int


@quick
@given(st.lists(st.floats(0, 25), min_size=2, max_size=7))
def test_the_interval_of_few_values_stays_within_their_bounds(sample: list[float]) -> None:
    found = mean(sample, bounds=(0, 25))
    assert 0 <= found.low <= found.mean <= found.high <= 25
    assert mean(sample, bounds=(0, inf)).low >= 0
    assert found.standard_error == pytest.approx(mean(sample, bounds=(0, 25)).standard_error)


def test_within_bounds_that_are_far_away_few_values_have_students_interval() -> None:
    sample = [9.0, 11.0, 10.0, 12.0]
    far, free = mean(sample, bounds=(-1e6, 1e6)), mean(sample)
    assert (far.low, far.high) == pytest.approx((free.low, free.high), rel=1e-3)
    near = mean(sample, bounds=(0, 12.5))
    assert free.high > 12.5 > near.high > near.mean


def test_an_unknown_interval_stays_unknown_within_bounds() -> None:
    assert same(mean([0.5]).within((0, 1)), mean([0.5]))
    outside = Estimate(3.0, 2.0, 5.0, 4, 1.0)
    assert (outside.within((0, 1)).low, outside.within((0, 1)).high) == (2.0, 3.0)
