"""Paths: they avoid furniture, and are about as short as a visibility graph (SciPy's Dijkstra) allows."""

from __future__ import annotations

from itertools import pairwise
from math import dist

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ludens.games.viki.floor import MARGIN, Box, FloorPlan, Point, feet, path, sample_path
from tests.games.viki.hand_kitchen import SCENE

FLOOR = FloorPlan(SCENE)
SOLID = [box for area, box in FLOOR.surfaces.items() if area != "ground"]
TRIPS = [
    (robot, target)
    for robot in ("R1", "R3", "R4")
    for target in ("kiwi", "bowl", "sink", "cabinet", "cardboardbox", "table")
]


def inside(box: Box, point: Point, grow: float) -> bool:
    return box.x - grow < point[0] < box.x + box.w + grow and box.y - grow < point[1] < box.y + box.h + grow


def clear(a: Point, b: Point, grow: float) -> bool:
    steps = int(dist(a, b)) + 1
    points = [(a[0] + (b[0] - a[0]) * n / steps, a[1] + (b[1] - a[1]) * n / steps) for n in range(steps + 1)]
    return not any(inside(box, point, grow) for box in SOLID for point in points)


def shortest(start: Point, end: Point) -> float:
    """The length of a shortest way around the furniture, grown by the margin."""
    corners = [(box.x + dx, box.y + dy) for box in SOLID for dx in (-MARGIN, box.w + MARGIN)
               for dy in (-MARGIN, box.h + MARGIN)]  # fmt: skip
    nodes = [start, end, *corners]
    graph = np.zeros((len(nodes), len(nodes)))
    for i, a in enumerate(nodes):
        for j, b in enumerate(nodes):
            if i < j and clear(a, b, MARGIN - 0.5):
                graph[i, j] = dist(a, b)
    return float(dijkstra(graph, directed=False, indices=0)[1])


def length(points: list[Point]) -> float:
    return sum(dist(a, b) for a, b in pairwise(points))


@pytest.mark.parametrize(("robot", "target"), TRIPS)
def test_around_furniture_and_short(robot: str, target: str) -> None:
    points = path(FLOOR, robot, target)
    assert points[0] == FLOOR.robots[robot]
    assert all(clear(a, b, 0) for a, b in pairwise(points))
    assert length(points) <= 1.06 * shortest(points[0], points[-1]) + 8


def test_where_paths_end() -> None:
    x, _ = FLOOR.centres["bowl"]
    assert path(FLOOR, "R1", "bowl")[-1] == (x, feet(FLOOR.surfaces["rack"]))
    table = FLOOR.surfaces["table"]
    assert path(FLOOR, "R3", "table")[-1] == (table.x + table.w / 2, feet(table))


def test_a_fixed_arm_stretches_straight() -> None:
    x, y = FLOOR.robots["R2"]
    assert path(FLOOR, "R2", "apple") == [(x, y - 20), FLOOR.centres["apple"]]


def test_points_at_equal_distances() -> None:
    corner = [(0.0, 0.0), (100.0, 0.0), (100.0, 60.0)]
    assert sample_path(corner, 5) == [(0, 0), (40, 0), (80, 0), (100, 20), (100, 60)]
    assert sample_path([(0.0, 0.0), (8.0, 0.0)], 5) == [(0, 0), (2, 0), (4, 0), (6, 0), (8, 0)]
    assert sample_path([(3.0, 3.0), (3.0, 3.0)], 5) == [(3, 3)] * 5
