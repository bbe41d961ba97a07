"""Distances between trajectories: by hand, against SciPy, and against their definition."""

from __future__ import annotations

from math import dist, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import directed_hausdorff

from ludens.games.viki.floor import distances, frechet, hausdorff, reward, rmse

LINE = [(0.0, 0.0), (10.0, 0.0), (20.0, 0.0), (30.0, 0.0), (40.0, 0.0)]

trajectories = st.lists(
    st.tuples(st.floats(0, 512, width=32), st.floats(0, 512, width=32)), min_size=5, max_size=5
)


def test_by_hand() -> None:
    lower = [(x, 3.0) for x, _ in LINE]
    assert distances(lower, LINE) == {"rmse": 3.0, "hausdorff": 3.0, "frechet": 3.0}
    one_off = [*LINE[:4], (40.0, 30.0)]
    assert rmse(one_off, LINE) == pytest.approx(sqrt(900 / 5))
    assert hausdorff(one_off, LINE) == 30.0
    # Backwards: the same points, so Hausdorff is 0; the ends pair up across the whole line in the others.
    assert hausdorff(LINE[::-1], LINE) == 0.0
    assert frechet(LINE[::-1], LINE) == 40.0
    assert rmse(LINE[::-1], LINE) == pytest.approx(sqrt((1600 + 400 + 0 + 400 + 1600) / 5))


@settings(max_examples=60, deadline=None)
@given(trajectories, trajectories)
def test_hausdorff_is_that_of_scipy(a: list[tuple[float, float]], b: list[tuple[float, float]]) -> None:
    ours = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])
    assert hausdorff(a, b) == pytest.approx(ours)


def couplings(i: int, j: int) -> list[list[tuple[int, int]]]:
    if i == 0 and j == 0:
        return [[(0, 0)]]
    before = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
    return [[*path, (i, j)] for a, b in before if a >= 0 and b >= 0 for path in couplings(a, b)]


ALL = couplings(4, 4)


@settings(max_examples=20, deadline=None)
@given(trajectories, trajectories)
def test_frechet_is_the_best_of_all_couplings(
    a: list[tuple[float, float]], b: list[tuple[float, float]]
) -> None:
    assert len(ALL) == 321  # the Delannoy number D(4, 4)
    best = min(max(dist(a[i], b[j]) for i, j in coupling) for coupling in ALL)
    assert frechet(a, b) == pytest.approx(best)


def test_reward_by_hand() -> None:
    assert reward({"rmse": 0.0, "hausdorff": 0.0, "frechet": 0.0}) == 1.0
    # RMSE counts per coordinate: 360 * sqrt(2) is where it reaches 0.
    assert reward({"rmse": 360 * sqrt(2), "hausdorff": 180.0, "frechet": 200.0}) == pytest.approx(1 / 3)
    assert reward({"rmse": 1e6, "hausdorff": 1e6, "frechet": 1e6}) == 0.0
    # In a picture of twice the size, twice the distance is worth the same.
    assert reward({"rmse": 0.0, "hausdorff": 360.0, "frechet": 400.0}, unit=0.5) == pytest.approx(2 / 3)
