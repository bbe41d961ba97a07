"""Paths that robots take on the floor plan: around furniture, as short as the floor allows.

A search on a grid of the floor gives a shortest path, which is then pulled straight wherever nothing is in
the way. Arms that cannot move stretch out in a straight line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from math import hypot, inf

from ludens.games.viki.data import ROBOTS
from ludens.games.viki.floor import BOTTOM, GROUND, SIDE, Box, Floor, feet

Point = tuple[float, float]

CELL = 8
MARGIN = 6
"""How far robots keep from furniture."""
_WALL = 10
_WAYS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


def path(floor: Floor, robot: str, target: str) -> list[Point]:
    """The corners of the path of a robot to an area, a thing or another robot."""
    kind = next(one.type for one in floor.scene.robots if one.id == robot)
    start = floor.robots[robot]
    if not ROBOTS[kind].mobile:
        return [(start[0], start[1] - 20), floor.centres[target]]
    solid = tuple(box for area, box in floor.surfaces.items() if area != GROUND)
    return walk(solid, start, goal(floor, target))


def goal(floor: Floor, target: str) -> Point:
    """Where a robot stands that has gone to a target."""
    if target in floor.robots:
        x, y = floor.robots[target]
        return x + 24, y
    if target in floor.surfaces:
        box = floor.surfaces[target]
        return box.centre[0], feet(box)
    x, y = floor.centres[target]
    box = next(box for box in floor.surfaces.values() if _inside(box, x, y))
    return x, feet(box)


def walk(solid: Sequence[Box], start: Point, end: Point) -> list[Point]:
    """The corners of a shortest path around boxes."""
    blocked = _blocked(tuple(solid))
    cells = _search(blocked, _cell(start), _cell(end))
    points = [start, *((CELL * (x + 0.5), CELL * (y + 0.5)) for x, y in cells[1:-1]), end]
    return _straightened(points, blocked)


def sampled(points: Sequence[Point], count: int) -> list[Point]:
    """Points at equal distances along a path, its ends included."""
    lengths = [hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    whole, found = sum(lengths), [points[0]]
    for number in range(1, count - 1):
        left, at = whole * number / (count - 1), 0
        while at < len(lengths) - 1 and left > lengths[at]:
            left -= lengths[at]
            at += 1
        part = left / lengths[at] if lengths[at] else 0.0
        (ax, ay), (bx, by) = points[at], points[at + 1]
        found.append((ax + (bx - ax) * part, ay + (by - ay) * part))
    return [*found, points[-1]]


def _inside(box: Box, x: float, y: float) -> bool:
    return box.x <= x <= box.x + box.w and box.y <= y <= box.y + box.h


def _cell(point: Point) -> tuple[int, int]:
    return int(point[0] // CELL), int(point[1] // CELL)


@lru_cache(maxsize=256)
def _blocked(solid: tuple[Box, ...]) -> frozenset[tuple[int, int]]:
    """Cells whose centre is in or near furniture or a wall."""
    grown = [Box(b.x - MARGIN, b.y - MARGIN, b.w + 2 * MARGIN, b.h + 2 * MARGIN) for b in solid]
    cells = ((x, y) for x in range(SIDE // CELL) for y in range(SIDE // CELL))
    return frozenset((x, y) for x, y in cells if _taken(grown, CELL * (x + 0.5), CELL * (y + 0.5)))


def _taken(grown: Iterable[Box], x: float, y: float) -> bool:
    at_wall = not (_WALL <= x <= SIDE - _WALL and _WALL <= y <= BOTTOM - 2)
    return at_wall or any(_inside(box, x, y) for box in grown)


def _search(
    blocked: frozenset[tuple[int, int]], start: tuple[int, int], end: tuple[int, int]
) -> list[tuple[int, int]]:
    """A* with eight ways; start and end count as free."""
    best: dict[tuple[int, int], float] = {start: 0.0}
    came: dict[tuple[int, int], tuple[int, int]] = {}
    heap = [(0.0, start)]
    while heap:
        _, here = heappop(heap)
        if here == end:
            break
        for dx, dy in _WAYS:
            there = here[0] + dx, here[1] + dy
            cut = dx and dy and ((here[0] + dx, here[1]) in blocked or (here[0], here[1] + dy) in blocked)
            if (there in blocked and there != end) or cut:
                continue
            length = best[here] + hypot(dx, dy)
            if length < best.get(there, inf) - 1e-9:
                best[there], came[there] = length, here
                heappush(heap, (length + hypot(end[0] - there[0], end[1] - there[1]), there))
    cells = [end]
    while cells[-1] != start:
        cells.append(came[cells[-1]])
    return cells[::-1]


def _straightened(points: Sequence[Point], blocked: frozenset[tuple[int, int]]) -> list[Point]:
    """The path without the corners that a straight line can skip."""
    kept, at = [points[0]], 0
    while at < len(points) - 1:
        at = next(
            far
            for far in range(len(points) - 1, at, -1)
            if far == at + 1 or _clear(points[at], points[far], blocked)
        )
        kept.append(points[at])
    return kept


def _clear(a: Point, b: Point, blocked: frozenset[tuple[int, int]]) -> bool:
    steps = int(hypot(b[0] - a[0], b[1] - a[1]) // 2) + 1
    ends = (_cell(a), _cell(b))
    for step in range(steps + 1):
        cell = _cell((a[0] + (b[0] - a[0]) * step / steps, a[1] + (b[1] - a[1]) * step / steps))
        if cell in blocked and cell not in ends:
            return False
    return True
