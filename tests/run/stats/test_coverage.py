"""Coverage: 95% intervals contain the truth in 95% of simulated experiments. Seeds are fixed.

The share found in 400 experiments strays from the true one by 1.1 points (one standard deviation).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ludens.run.stats import (
    Estimate,
    games_needed,
    indistinguishable,
    macro_average,
    mean,
    micro_average,
    normalised,
    paired_difference,
    rate,
)

EXPERIMENTS = 400

Draw = Callable[[np.random.Generator, int], np.ndarray]


def covered(experiment: Callable[[np.random.Generator], Estimate], truth: float, seed: int) -> float:
    dice = np.random.default_rng(seed)
    found = [experiment(dice) for _ in range(EXPERIMENTS)]
    return sum(one.low <= truth <= one.high for one in found) / EXPERIMENTS


@pytest.mark.parametrize(("p", "n"), [(0.5, 20), (0.7, 100), (0.1, 50), (0.97, 100)])
def test_rates(p: float, n: int) -> None:
    assert 0.92 <= covered(lambda dice: rate(int(dice.binomial(n, p)), n), p, seed=1) <= 0.98


DRAWS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda dice, n: dice.normal(2, 3, n), 2.0),
    "counts": (lambda dice, n: dice.poisson(1.5, n).astype(float), 1.5),
    "wins": (lambda dice, n: np.where(dice.random(n) < 0.65, 1.0, -1.0), 0.3),
    "skewed": (lambda dice, n: dice.exponential(1, n), 1.0),
}


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("normal", 5),
        ("normal", 10),
        pytest.param("counts", 30, marks=pytest.mark.slow),
        pytest.param("wins", 30, marks=pytest.mark.slow),
        pytest.param("skewed", 60, marks=pytest.mark.slow),
    ],
)
def test_means(name: str, n: int) -> None:
    draw, truth = DRAWS[name]
    # Over 2,000 experiments: 94.9, 93.9, 94.3, 96.5 and 94.1%; the plain BCa bootstrap has 90% for ten.
    assert 0.91 <= covered(lambda dice: mean(draw(dice, n)), truth, seed=2) <= 0.98


@pytest.mark.parametrize("n", [3, 5, 7])
def test_few_values_between_bounds(n: int) -> None:
    """Student's interval, cut at the bounds, covers 62% to 88% of the truths of the second kind."""
    assert covered(lambda dice: mean(dice.beta(2, 5, n), bounds=(0, 1)), 2 / 7, seed=7) >= 0.91
    assert covered(lambda dice: mean(dice.binomial(1, 0.3, n), bounds=(0, 1)), 0.3, seed=8) >= 0.91


@pytest.mark.slow
def test_shared_seeds() -> None:
    """Shared luck cancels: the interval is short, and still covers the truth."""

    def experiment(dice: np.random.Generator) -> Estimate:
        luck = dice.normal(0, 10, 25)
        a, b = luck + dice.normal(0.5, 1, 25), luck + dice.normal(0, 1, 25)
        found = paired_difference(dict(enumerate(a)), dict(enumerate(b))).difference
        assert found.high - found.low < 3
        return found

    assert 0.92 <= covered(experiment, 0.5, seed=3) <= 0.98


@pytest.mark.parametrize("anchor_games", [20, 400])
@pytest.mark.parametrize("x", [-1.0, 2.0, 6.0])
def test_normalised_scores(x: float, anchor_games: int) -> None:
    """Anchors 0 and 4 are measured too: with few games most of the uncertainty is theirs."""

    def measured(dice: np.random.Generator, truth: float, n: int) -> Estimate:
        error = 2 / np.sqrt(n)
        found = float(dice.normal(truth, error))
        return Estimate(found, found - 1.96 * error, found + 1.96 * error, n, error)

    def experiment(dice: np.random.Generator) -> Estimate:
        return normalised(
            measured(dice, x, 50), measured(dice, 0, anchor_games), measured(dice, 4, anchor_games)
        )

    assert 0.925 <= covered(experiment, 25 * x, seed=4) <= 0.975


def test_the_standard_error_of_a_normalised_score_is_its_spread() -> None:
    dice = np.random.default_rng(5)
    error = 0.2
    parts = dice.normal([3.0, 0.0, 4.0], error, (20_000, 3))
    scores = 100 * (parts[:, 0] - parts[:, 1]) / (parts[:, 2] - parts[:, 1])
    x, low, high = (Estimate(m, m - 1.96 * error, m + 1.96 * error, 100, error) for m in (3.0, 0.0, 4.0))
    found = normalised(x, low, high)
    assert found.standard_error == pytest.approx(scores.std(), rel=0.03)
    assert found.low == pytest.approx(np.quantile(scores, 0.025), abs=0.8)
    assert found.high == pytest.approx(np.quantile(scores, 0.975), abs=0.8)


def test_averages_over_games() -> None:
    tasks = [(0.95, 20), (0.5, 40), (0.1, 80)]

    def groups(dice: np.random.Generator) -> dict[int, Estimate]:
        return {i: rate(int(dice.binomial(n, p)), n) for i, (p, n) in enumerate(tasks)}

    macro = sum(p for p, _ in tasks) / 3
    micro = sum(p * n for p, n in tasks) / 140
    assert 0.92 <= covered(lambda dice: macro_average(groups(dice)), macro, seed=6) <= 0.985
    assert 0.92 <= covered(lambda dice: micro_average(groups(dice)), micro, seed=6) <= 0.985


def test_games_needed_gives_the_requested_power() -> None:
    seen = rate(50, 100), rate(60, 100)
    more = games_needed(*seen)
    assert more is not None
    dice, n = np.random.default_rng(7), 100 + more
    told = 0
    for a, b in zip(dice.binomial(n, 0.5, EXPERIMENTS), dice.binomial(n, 0.6, EXPERIMENTS), strict=True):
        told += games_needed(rate(int(a), n), rate(int(b), n)) == 0
    assert 0.75 <= told / EXPERIMENTS <= 0.86


def test_the_false_positive_rate_is_at_most_5_percent() -> None:
    """Equal players, and pictures that do not matter, are significant in at most 1 of 20."""
    dice = np.random.default_rng(8)
    differences = dice.normal(0, 1, (EXPERIMENTS, 7))
    wrong = sum(
        paired_difference(dict(enumerate(row)), dict.fromkeys(range(7), 0.0)).p_value < 0.05
        for row in differences
    )
    assert 0.025 <= wrong / EXPERIMENTS <= 0.075
    pairs = dice.binomial(60, 0.4, (EXPERIMENTS, 2))
    found = 0
    for a, b in pairs:
        image = {("image", number): number < a for number in range(60)}
        blind = {("blind", number): number < b for number in range(60)}
        found += not indistinguishable(image, blind)[0]
    assert found / EXPERIMENTS <= 0.06
