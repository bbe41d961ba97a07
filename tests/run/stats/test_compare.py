"""Comparisons against scipy, textbook numbers and cases counted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, inf, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ludens.run.stats import (
    Comparison,
    Estimate,
    excludes_zero,
    games_needed,
    indistinguishable,
    mean,
    paired_difference,
    rate,
    seat_swapped,
    seat_swapped_rate,
)

quick = settings(max_examples=40, deadline=None)


def about(mean: float, error: float, n: int = 50) -> Estimate:
    return Estimate(mean, mean - 1.959964 * error, mean + 1.959964 * error, n, error)


def test_only_shared_keys_are_compared() -> None:
    found = paired_difference({1: 3.0, 2: 5.0, 9: 100.0}, {2: 4.0, 1: 1.0, 8: -100.0})
    assert (found.difference.mean, found.difference.n) == (1.5, 2)
    nothing = paired_difference({1: 1.0}, {2: 1.0})
    assert nothing.difference.n == 0
    assert isnan(nothing.p_value)


def test_the_sign_flip_test_is_exact_for_few_differences() -> None:
    gains = {i: float(i) for i in range(1, 7)}
    assert paired_difference(gains, dict.fromkeys(gains, 0.0)).p_value == pytest.approx(2 / 2**6)
    # Darwin's plants: Fisher counted 1,726 of 32,768 sign patterns, p = 0.0527, on these 15 differences.
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = paired_difference(dict(enumerate(darwin)), dict.fromkeys(range(15), 0.0))
    assert found.p_value == pytest.approx(0.0527, abs=0.006)
    assert found.difference.mean == pytest.approx(20.93, abs=0.01)


def test_the_sign_flip_test_agrees_with_scipy_even_on_ties() -> None:
    tenths = [-8, -9, -6, 6, 3, 8]  # added up in another order, these give other last digits
    a, b = [tenth / 10 for tenth in tenths], [0.0] * 6
    expected = scipy_stats.permutation_test(
        (tenths, b), lambda x, y: np.mean(np.subtract(x, y)), permutation_type="samples"
    )
    assert paired_difference(dict(enumerate(a)), dict(enumerate(b))).p_value == expected.pvalue


def test_random_flips_never_give_a_p_value_of_0() -> None:
    gains = {i: 1.0 + i for i in range(50)}
    assert paired_difference(gains, dict.fromkeys(gains, 0.0)).p_value == 2 / 10_000


def compared(differences: Iterable[float], bounds: tuple[float, float] | None = None) -> Comparison:
    found = dict(enumerate(differences))
    return paired_difference(found, dict.fromkeys(found, 0.0), bounds=bounds)


unit = st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0])


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.lists(unit, min_size=2, max_size=40),
        st.tuples(unit, st.integers(2, 40)).map(lambda pair: [pair[0]] * pair[1]),
        st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=20),
    ),
    st.sampled_from([None, (-1.0, 1.0)]),
)
def test_interval_and_p_value_never_disagree(
    differences: list[float], bounds: tuple[float, float] | None
) -> None:
    found = compared(differences, bounds)
    assert (found.p_value < 0.05) == excludes_zero(found.difference)
    assert found.difference.low <= found.difference.mean <= found.difference.high


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.1, 0.137, 0.14, 0.2, 0.3])
@pytest.mark.parametrize("n", [8, 20, 150, 250, 1000])
def test_interval_and_p_value_agree_near_the_limit(n: int, shift: float) -> None:
    dice = np.random.default_rng(n)
    for differences in (dice.normal(shift, 1, n), dice.choice([-1.0, 0.0, 1.0], n) + round(shift)):
        found = compared(differences)
        assert (found.p_value < 0.05) == excludes_zero(found.difference)


def test_the_interval_contains_the_differences_that_the_test_does_not_reject() -> None:
    differences = [0.3, -0.2, 0.8, 1.1, 0.4, -0.1, 0.9, 0.6]
    found = compared(differences).difference
    for end, outside in ((found.low, -1e-6), (found.high, 1e-6)):
        assert compared([x - end for x in differences]).p_value >= 0.05
        assert compared([x - end - outside for x in differences]).p_value < 0.05


def test_fewer_than_six_seeds_have_no_limits_but_the_bounds() -> None:
    few = compared([0.5, 0.6, 0.7, 0.8, 0.9])
    assert (few.difference.low, few.difference.high) == (-inf, inf)
    assert few.p_value == 2 / 32
    bounded = compared([0.5, 0.6, 0.7], (-1.0, 1.0)).difference
    assert (bounded.low, bounded.high) == (-1.0, 1.0)


def test_rare_differences_among_many_seeds_are_not_significant() -> None:
    """Student's t finds p = 0.025 for 5 wins and 1,995 draws."""
    assert not excludes_zero(compared([1.0] * 5 + [0.0] * 1995).difference)
    assert excludes_zero(compared([1.0] * 8 + [0.0] * 1992).difference)


def test_equal_differences_within_bounds_have_an_interval() -> None:
    assert compared([1.0] * 8, (-1.0, 1.0)).difference == mean([1.0] * 8, bounds=(-1.0, 1.0))
    assert compared([0.0] * 8, (-1.0, 1.0)).difference == mean([0.0] * 8, bounds=(-1.0, 1.0))
    small = compared([0.1] * 8, (-1.0, 1.0)).difference
    assert small.low == small.high == pytest.approx(0.1)


@pytest.mark.parametrize("n", [20, 100, 400])
def test_the_sign_flip_test_agrees_with_students_t(n: int) -> None:
    difference = np.random.default_rng(n).normal(0.2, 1, n)
    found = paired_difference(dict(enumerate(difference)), dict.fromkeys(range(n), 0.0))
    assert found.p_value == pytest.approx(scipy_stats.ttest_1samp(difference, 0).pvalue, abs=0.02)


@pytest.mark.parametrize(
    ("differences", "p"), [([0.0] * 5, 1.0), ([1.0], 1.0), ([0.0, 0.0, 2.0], 1.0), ([0.1] * 300, 2 / 10_000)]
)
def test_p_values_of_constant_differences(differences: list[float], p: float) -> None:
    zeros = dict.fromkeys(range(len(differences)), 0.0)
    assert paired_difference(dict(enumerate(differences)), zeros).p_value == p


@quick
@given(st.dictionaries(st.integers(0, 40), st.integers(-5, 5), min_size=2, max_size=30), st.integers(0, 3))
def test_a_swapped_comparison_has_the_opposite_sign(a: dict[int, float], seed: int) -> None:
    b = {key: float(key % 3) for key in reversed(a)}
    one, other = paired_difference(a, b, seed=seed), paired_difference(b, a, seed=seed)
    assert one.difference.mean == -other.difference.mean
    assert one.p_value == other.p_value
    assert 0 < one.p_value <= 1
    assert paired_difference(dict(reversed(a.items())), b, seed=seed) == one


def test_swapped_seats_cancel_the_advantage_of_a_seat() -> None:
    skill = np.random.default_rng(4).normal(0.1, 0.05, 60)
    pairs = [(s + 1, s - 1) for s in skill]
    found, careless = seat_swapped(pairs), mean([result for pair in pairs for result in pair])
    assert found.mean == pytest.approx(careless.mean)
    assert found.n == 60
    assert found.high - found.low < 0.1 * (careless.high - careless.low)


def test_swapped_seats_on_one_deal_count_once() -> None:
    luck = np.random.default_rng(5).normal(0, 1, 60)
    found = seat_swapped([(deal, deal) for deal in luck])
    assert found == mean(luck)
    assert seat_swapped([(1, 1)] * 5, bounds=(0, 1)).low == pytest.approx(rate(5, 5).low)


def test_equal_deals_still_have_an_interval() -> None:
    found = seat_swapped([(1, -1), (1, -1)])
    assert (found.mean, found.n) == (0, 2)
    assert found.low < -0.5 < 0.5 < found.high
    assert seat_swapped([(1, 1), (1, 1)]) == mean([1, 1])


def test_correlated_episodes_of_a_deal_count_once() -> None:
    deals = [[True, True]] * 12 + [[False, False]] * 8
    found, once = seat_swapped_rate(deals), rate(12, 20)
    assert (found.mean, found.n) == (once.mean, 40)
    # 20 deals estimate their own effect, which costs one of them: 20/19.
    assert found.high - found.low == pytest.approx(once.high - once.low, rel=0.03)
    assert found.standard_error == pytest.approx(once.standard_error, rel=0.03)


def test_the_design_effect_is_at_least_1() -> None:
    assert seat_swapped_rate([[True, False]] * 10) == rate(10, 20)
    assert seat_swapped_rate([[True], [False], [True]]) == rate(2, 3)
    assert seat_swapped_rate([[True, True]] * 4) == rate(8, 8)
    assert seat_swapped_rate([[True, False]]) == rate(1, 2)
    assert seat_swapped_rate([[], [True]]) == rate(1, 1)
    assert isnan(seat_swapped_rate([]).mean)


def test_intervals_over_correlated_deals_cover_the_truth() -> None:
    dice = np.random.default_rng(7)
    inside = careless = 0
    for _ in range(400):
        deals = [list(dice.random(2) < hard) for hard in dice.choice([0.1, 0.9], 25)]
        found, plain = seat_swapped_rate(deals), rate(int(sum(map(sum, deals))), 50)
        inside += found.low <= 0.5 <= found.high
        careless += plain.low <= 0.5 <= plain.high
    assert inside / 400 > 0.92 > 0.88 > careless / 400


def test_games_needed_for_two_rates_agrees_with_the_textbook() -> None:
    # 385 a group for 50% against 60% at 95% and 80% power, by the variances 0.25 and 0.24.
    a, b = about(0.5, (0.25 / 20) ** 0.5, 20), about(0.6, (0.24 / 20) ** 0.5, 20)
    expected = ceil((1.959964 + 0.841621) ** 2 * 0.49 / 0.01)
    assert games_needed(a, b) == games_needed(b, a) == expected - 20 == 365
    assert games_needed(rate(10, 20), rate(12, 20)) == pytest.approx(365, rel=0.05)


def test_games_needed_is_the_smallest_sufficient_number() -> None:
    a, b = about(1.0, 0.5, 10), about(1.6, 0.3, 40)
    more = games_needed(a, b)
    assert more is not None

    def power(games: int) -> float:
        spread = (
            a.n * a.standard_error**2 / (a.n + games) + b.n * b.standard_error**2 / (b.n + games)
        ) ** 0.5
        return float(scipy_stats.norm.cdf(0.6 / spread - 1.959964))

    assert power(more) >= 0.8 > power(more - 1)


def test_games_needed_for_equal_means_is_unknown() -> None:
    assert games_needed(about(1, 0.1), about(1, 0.2)) is None
    assert games_needed(rate(0, 0), rate(3, 4)) is None
    assert games_needed(mean([1.0]), mean([2.0])) is None


def test_games_needed_is_0_for_a_significant_difference() -> None:
    assert games_needed(rate(10, 100), rate(90, 100)) == 0
    assert games_needed(about(1.0, 0.1), 0.0) == 0


def test_games_needed_against_a_number_counts_one_side() -> None:
    assert games_needed(about(0.1, 0.1, 100), 0.0) == ceil((1.959964 + 0.841621) ** 2 * 100) - 100


def answers(right: int, total: int, name: str) -> dict[tuple[str, int], bool]:
    return {(name, number): number < right for number in range(total)}


def test_indistinguishable_when_pictures_do_not_help() -> None:
    tripped, sentence = indistinguishable(answers(26, 50, "image"), answers(24, 50, "blind"))
    assert tripped
    assert sentence == (
        "accuracy 52.0% with pictures (26/50) is not distinguishable from 48.0% blind (24/50), p = 0.842."
    )


@pytest.mark.parametrize(
    ("image", "blind", "side"), [((45, 50), (20, 50), "above"), ((20, 50), (45, 50), "below")]
)
def test_distinguishable_when_pictures_help(
    image: tuple[int, int], blind: tuple[int, int], side: str
) -> None:
    tripped, sentence = indistinguishable(answers(*image, "image"), answers(*blind, "blind"))
    assert not tripped
    assert f"({image[0]}/50) is {side} " in sentence
    assert "p < 0.001" in sentence


def test_shared_questions_are_compared_in_pairs() -> None:
    # Half the questions are easy either way; of the rest only the pictures help: 8 to 0, McNemar's p = 2/256.
    easy = dict.fromkeys(range(20), True)
    image = {**easy, **{key: key < 28 for key in range(20, 40)}}
    blind = {**easy, **dict.fromkeys(range(20, 40), False)}
    tripped, sentence = indistinguishable(image, blind)
    assert not tripped
    assert "shared episodes, p = 0.008." in sentence
    assert indistinguishable(answers(28, 40, "image"), answers(20, 40, "blind"))[0]
    assert indistinguishable(image, image)[0]


@pytest.mark.parametrize(("gained", "lost"), [(1, 0), (1, 1), (7, 1), (2, 11), (5, 7), (40, 31), (31, 40)])
def test_pairs_are_as_likely_as_scipy_says(gained: int, lost: int) -> None:
    image = {key: key < gained for key in range(gained + lost)}
    _, sentence = indistinguishable(image, {key: not right for key, right in image.items()})
    assert f"p = {scipy_stats.binomtest(gained, gained + lost).pvalue:.3f}." in sentence


def test_questions_that_are_not_shared_are_compared_by_fisher() -> None:
    _, sentence = indistinguishable(answers(8, 10, "image"), answers(4, 10, "blind"))
    assert f"p = {scipy_stats.fisher_exact([[8, 2], [4, 6]]).pvalue:.3f}." in sentence
    assert indistinguishable({}, answers(1, 10, "blind"))[0]
