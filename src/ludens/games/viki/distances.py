"""How far two trajectories are apart: RMSE, Hausdorff and discrete Frechet, and the reward made of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, sqrt

Point = tuple[float, float]
Trajectory = Sequence[Point]

SCALES = {"rmse": 360.0, "hausdorff": 360.0, "frechet": 400.0}
"""The distance in pixels at which a reward is 0."""
NAMES = tuple(SCALES)


def rmse(a: Trajectory, b: Trajectory) -> float:
    """Root of the mean squared distance between points of the same index."""
    return sqrt(sum((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in zip(a, b, strict=True)) / len(a))


def hausdorff(a: Trajectory, b: Trajectory) -> float:
    """The largest distance from a point of either to the nearest point of the other."""
    return max(max(min(_apart(p, q) for q in them) for p in us) for us, them in ((a, b), (b, a)))


def frechet(a: Trajectory, b: Trajectory) -> float:
    """The shortest leash with which both can be walked point by point, neither ever going back."""
    row: list[float] = []
    for i, p in enumerate(a):
        above, row = row, []
        for j, q in enumerate(b):
            before = min(above[j] if i else inf, row[j - 1] if j else inf, above[j - 1] if i and j else inf)
            row.append(max(_apart(p, q), 0.0 if not i and not j else before))
    return row[-1]


def distances(said: Trajectory, truth: Trajectory) -> dict[str, float]:
    """All three, by name."""
    values = (rmse(said, truth), hausdorff(said, truth), frechet(said, truth))
    return dict(zip(NAMES, values, strict=True))


def reward(apart: dict[str, float]) -> float:
    """The training reward of one robot: the mean of 1 - distance / scale, each at least 0.

    The published reward measures RMSE per coordinate, which is smaller by the root of 2.
    """
    shrunk = {**apart, "rmse": apart["rmse"] / sqrt(2)}
    return sum(max(0.0, 1 - shrunk[name] / SCALES[name]) for name in NAMES) / len(NAMES)


def _apart(p: Point, q: Point) -> float:
    return hypot(p[0] - q[0], p[1] - q[1])
