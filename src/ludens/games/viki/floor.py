"""The floor plan: where surfaces, things and robots are in the picture; paths of robots around furniture,
and how far two are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import combinations, pairwise
from math import ceil, dist, hypot, inf, sqrt

from ludens.games.viki.world import KINDS, ROBOTS, Area, Asset, Robot, Scene

SIDE = 512
ROBOT = 42
"""Height of a robot."""
COLUMNS = 3
GAP = 16
"""Between columns: robots walk through."""
LOWEST, _DEEPER, _SHALLOW = 96, 120, 0.7
"""Height of the box of a shallow area, and how much higher it is for each metre that an area is deeper."""
_NARROW = 0.4
"""Added to the widths of areas, of which the widths of columns are shares."""
LEFT, TOP = 9, 10
STRIP = 72
"""Height of the floor in front of a surface."""
HEAD = 15
"""Height of the name of a surface."""
BOTTOM = TOP + 392
"""Where the floor ends and the legend begins."""
GROUND = "ground"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its top left corner."""

    x: float
    y: float
    w: float
    h: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2


@dataclass(frozen=True, slots=True)
class FloorItem:
    """A thing that is seen: where it is drawn, and what is drawn inside its box."""

    asset: Asset
    box: Box
    """Of the thing with its name; of the whole group for a container with contents."""
    inside: tuple[FloorItem, ...] = ()
    low: bool = False
    """Whether its name is a line lower, so that it does not run into its neighbours'."""


@dataclass(frozen=True)
class FloorPlan:
    """The floor plan of a scene: of its start, or as it is now (`World.scene_at`)."""

    scene: Scene
    active: frozenset[str] = frozenset()
    """Assets that were interacted with."""
    reached: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Robot id to the assets it reaches for."""
    view_from: str = ""
    """The area in which the viewer stands, who sees nothing else; empty for one who sees everything."""
    surfaces: Mapping[str, Box] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "surfaces", arrange(self.scene.areas))

    @cached_property
    def places(self) -> dict[str, str]:
        """Robots and assets to where they are directly."""
        places = {robot.id: robot.place for robot in self.scene.robots}
        return places | {asset.name: asset.place for asset in self.scene.assets}

    @cached_property
    def _contents(self) -> dict[str, list[Asset]]:
        """What is seen in each place, furniture first; nothing in what is closed."""
        contents: dict[str, list[Asset]] = {}
        for asset in sorted(self.scene.assets, key=lambda asset: not KINDS[asset.kind].fixture):
            if self.sees(self.area_of(asset.name)):
                contents.setdefault(asset.place, []).append(asset)
        for asset in self.scene.assets:
            if asset.closed:
                contents.pop(asset.name, None)
        return contents

    def sees(self, area: str) -> bool:
        return not self.view_from or area == self.view_from

    def area_of(self, name: str) -> str:
        """The area in which a thing or robot is, in whatever it lies or whoever holds it."""
        while name in self.places:
            name = self.places[name]
        return name

    @cached_property
    def present(self) -> tuple[Robot, ...]:
        return tuple(robot for robot in self.scene.robots if self.sees(robot.place))

    def seen_in(self, place: str) -> Sequence[Asset]:
        """What is directly in, on or held by a place, furniture first; nothing where the place is closed."""
        return self._contents.get(place, ())

    def _span(self, asset: Asset) -> int:
        own = 1 if len(asset.name) < 11 or " " in asset.name else 2
        return own + sum(self._span(inner) for inner in self.seen_in(asset.name))

    @cached_property
    def items(self) -> dict[str, tuple[FloorItem, ...]]:
        return {area: tuple(self._flow(area, box)) for area, box in self.surfaces.items()}

    def _flow(self, area: str, box: Box) -> Iterator[FloorItem]:
        """Things in rows, as large as they fit."""
        assets = self.seen_in(area)
        spans = [self._span(asset) for asset in assets]
        columns = next((n for n in (3, 4, 5, 6) if _rows(spans, n) <= (2 if n < 5 else 3)), 7)
        rows = max(2, _rows(spans, columns))
        w, h = box.w / columns, (box.h - HEAD) / rows
        row = column = 0
        for asset, span in zip(assets, spans, strict=True):
            wide = min(span, columns)
            if column + wide > columns:
                row, column = row + 1, 0
            place = Box(box.x + column * w, box.y + HEAD + row * h, wide * w, h)
            yield self._item(asset, place, column if columns > 3 else None)
            column += wide

    def _item(self, asset: Asset, box: Box, column: int | None) -> FloorItem:
        """The thing with its contents; `column` is where it begins, in rows so tight that names alternate."""
        inner, low = self.seen_in(asset.name), column is not None and column % 2 == 1
        if not inner:
            return FloorItem(asset, box, (), low)
        spans, total = [self._span(one) for one in inner], self._span(asset)
        unit, inside = box.w / total, list[FloorItem]()
        x = box.x + unit * (total - sum(spans))
        for one, span in zip(inner, spans, strict=True):
            at = None if column is None else column + round((x - box.x) / unit)
            inside.append(self._item(one, Box(x, box.y, unit * span, box.h), at))
            x += unit * span
        return FloorItem(asset, box, tuple(inside), low)

    @cached_property
    def centres(self) -> dict[str, tuple[float, float]]:
        centres: dict[str, tuple[float, float]] = {}
        waiting = [item for items in reversed(self.items.values()) for item in reversed(items)]
        while waiting:
            item = waiting.pop()
            centres[item.asset.name] = own_box(item).centre
            waiting.extend(reversed(item.inside))
        return centres

    @cached_property
    def robots(self) -> dict[str, tuple[float, float]]:
        """Where each robot's feet are: side by side on the strip of their area."""
        feet_of = {}
        for area, box in self.surfaces.items():
            here = [robot.id for robot in self.present if robot.place == area]
            for number, robot in enumerate(here):
                feet_of[robot] = (box.x + box.w * (number + 0.5) / max(2, len(here)), feet(box))
        return feet_of

    def is_seen_in(self, name: str, area: str) -> bool:
        """Whether a thing is drawn, and in this area."""
        return name in self.centres and self.area_of(name) == area

    def room(self, robot: str) -> float:
        """How wide the place of a robot is: robots of one area share its strip."""
        area = self.places[robot]
        here = sum(other.place == area for other in self.scene.robots)
        return self.surfaces[area].w / max(2, here)


def feet(surface: Box) -> float:
    """How far down the feet of robots in front of a surface are."""
    return surface.y + surface.h + STRIP - 19


def own_box(item: FloorItem) -> Box:
    """The box of a thing without its contents: the first column of its group."""
    share = item.box.w - sum(one.box.w for one in item.inside)
    return Box(item.box.x, item.box.y, share, item.box.h)


def arrange(areas: Sequence[Area]) -> dict[str, Box]:
    """A box for each area, as the layout has them: three columns from left to right, in each of them areas at
    the back of the room first. Wide areas have wide columns, deep areas high boxes; the farther from the back
    wall the first area of a column is, the lower it is."""
    if not areas:
        return {}
    columns = _columns(sorted(areas, key=lambda area: (area.x, area.y, area.name)))
    weights = [_NARROW + max(area.width for area in column) for column in columns]
    room, boxes, x = SIDE - 2 * LEFT - GAP * (COLUMNS - 1), dict[str, Box](), float(LEFT)
    nearest, farthest = min(area.y for area in areas), max(area.y for area in areas)
    for column, weight in zip(columns, weights, strict=True):
        share = weight / sum(weights) if len(columns) == COLUMNS else 1 / COLUMNS
        # Gaps are where a cell of the paths is free: see `_blocked`.
        right = CELL * round((x + room * share - CELL / 2) / CELL) + CELL / 2
        right = min(right, SIDE - LEFT)
        deep = sorted(column, key=lambda area: (area.y, area.x, area.name))
        most = (BOTTOM - TOP) / len(deep) - STRIP
        heights = [min(most, LOWEST + round(_DEEPER * (area.depth - _SHALLOW))) for area in deep]
        free = BOTTOM - TOP - sum(heights) - STRIP * len(deep)
        y = float(TOP + round(free * (deep[0].y - nearest) / max(farthest - nearest, 1e-9)))
        rest = (BOTTOM - y - sum(heights) - STRIP * len(deep)) // max(1, len(deep) - 1)
        for area, height in zip(deep, heights, strict=True):
            boxes[area.name] = Box(x, y, right - x, height)
            y += height + STRIP + rest
        x = right + GAP
    return boxes


def turned(scene: Scene) -> Scene:
    """The kitchen after half a turn: all distances between areas are the same."""
    right, front = ({getattr(area, axis) for area in scene.areas} for axis in "xy")
    width, depth = min(right) + max(right), min(front) + max(front)
    areas = (replace(area, x=round(width - area.x, 2), y=round(depth - area.y, 2)) for area in scene.areas)
    return replace(scene, areas=tuple(areas))


def _columns(areas: Sequence[Area]) -> list[Sequence[Area]]:
    """Areas from left to right in at most three groups, cut where the gaps are widest."""
    if len(areas) <= COLUMNS:
        return [[area] for area in areas]
    most = max(2, ceil(len(areas) / COLUMNS))
    cuts = [
        cut
        for cut in combinations(range(1, len(areas)), COLUMNS - 1)
        if all(b - a <= most for a, b in pairwise((0, *cut, len(areas))))
    ]
    best = max(cuts, key=lambda cut: sum(areas[at].x - areas[at - 1].x for at in cut))
    return [areas[a:b] for a, b in pairwise((0, *best, len(areas)))]


def _rows(spans: Sequence[int], columns: int) -> int:
    row, column = 0, 0
    for span in spans:
        wide = min(span, columns)
        if column + wide > columns:
            row, column = row + 1, 0
        column += wide
    return row + 1


Point = tuple[float, float]

CELL = 8
MARGIN = 6
"""How far robots keep from furniture."""
_WALL = 10
_WAYS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


def path(floor: FloorPlan, robot: str, target: str) -> list[Point]:
    """The corners of the path of a robot to an area, a thing or another robot."""
    kind = next(one.type for one in floor.scene.robots if one.id == robot)
    start = floor.robots[robot]
    if not ROBOTS[kind].mobile:
        return [(start[0], start[1] - 20), floor.centres[target]]
    solid = tuple(box for area, box in floor.surfaces.items() if area != GROUND)
    return walk(solid, start, goal(floor, target))


def goal(floor: FloorPlan, target: str) -> Point:
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


def sample_path(points: Sequence[Point], count: int) -> list[Point]:
    """Points at equal distances along a path, its ends included."""
    lengths = [dist(a, b) for a, b in pairwise(points)]
    total, samples = sum(lengths), [points[0]]
    for number in range(1, count - 1):
        left, at = total * number / (count - 1), 0
        while at < len(lengths) - 1 and left > lengths[at]:
            left -= lengths[at]
            at += 1
        part = left / lengths[at] if lengths[at] else 0.0
        (ax, ay), (bx, by) = points[at], points[at + 1]
        samples.append((ax + (bx - ax) * part, ay + (by - ay) * part))
    return [*samples, points[-1]]


def straight_line(start: Point, end: Point, count: int) -> list[Point]:
    """Points at equal distances between two points, with one digit."""
    (ax, ay), (bx, by) = start, end
    parts = [number / (count - 1) for number in range(count)]
    return [(round(ax + (bx - ax) * part, 1), round(ay + (by - ay) * part, 1)) for part in parts]


def _inside(box: Box, x: float, y: float) -> bool:
    return box.x <= x <= box.x + box.w and box.y <= y <= box.y + box.h


def _cell(point: Point) -> tuple[int, int]:
    return int(point[0] // CELL), int(point[1] // CELL)


@lru_cache(maxsize=256)
def _blocked(solid: tuple[Box, ...]) -> frozenset[tuple[int, int]]:
    """Cells whose centre is in or near furniture or a wall."""
    grown = [Box(b.x - MARGIN, b.y - MARGIN, b.w + 2 * MARGIN, b.h + 2 * MARGIN) for b in solid]
    cells = ((x, y) for x in range(SIDE // CELL) for y in range(SIDE // CELL))
    free = Box(_WALL, _WALL, SIDE - 2 * _WALL, BOTTOM - 2 - _WALL)
    centres = {(x, y): (CELL * (x + 0.5), CELL * (y + 0.5)) for x, y in cells}
    return frozenset(
        cell
        for cell, centre in centres.items()
        if not _inside(free, *centre) or any(_inside(box, *centre) for box in grown)
    )


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
                heappush(heap, (length + dist(there, end), there))
    cells = [end]
    while cells[-1] != start:
        cells.append(came[cells[-1]])
    return cells[::-1]


def _straightened(points: Sequence[Point], blocked: frozenset[tuple[int, int]]) -> list[Point]:
    """The path without the corners that a straight line can skip."""
    corners, at = [points[0]], 0
    while at < len(points) - 1:
        at = next(
            far
            for far in range(len(points) - 1, at, -1)
            if far == at + 1 or _clear(points[at], points[far], blocked)
        )
        corners.append(points[at])
    return corners


def _clear(a: Point, b: Point, blocked: frozenset[tuple[int, int]]) -> bool:
    steps = int(dist(a, b) // 2) + 1
    ends = (_cell(a), _cell(b))
    for step in range(steps + 1):
        cell = _cell((a[0] + (b[0] - a[0]) * step / steps, a[1] + (b[1] - a[1]) * step / steps))
        if cell in blocked and cell not in ends:
            return False
    return True


Trajectory = Sequence[Point]

SCALES = {"rmse": 360.0, "hausdorff": 360.0, "frechet": 400.0}
"""The distance in pixels at which a reward is 0."""
NAMES = tuple(SCALES)


def rmse(a: Trajectory, b: Trajectory) -> float:
    """Root of the mean squared distance between points of the same index."""
    return sqrt(sum((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in zip(a, b, strict=True)) / len(a))


def hausdorff(a: Trajectory, b: Trajectory) -> float:
    """The largest distance from a point of either to the nearest point of the other."""
    return max(max(min(dist(p, q) for q in second) for p in first) for first, second in ((a, b), (b, a)))


def frechet(a: Trajectory, b: Trajectory) -> float:
    """The shortest leash with which both can be walked point by point, neither ever going back."""
    row: list[float] = []
    for i, p in enumerate(a):
        above, row = row, []
        for j, q in enumerate(b):
            before = min(above[j] if i else inf, row[j - 1] if j else inf, above[j - 1] if i and j else inf)
            row.append(max(dist(p, q), 0.0 if not i and not j else before))
    return row[-1]


def distances(answer: Trajectory, truth: Trajectory) -> dict[str, float]:
    """All three, by name."""
    values = (rmse(answer, truth), hausdorff(answer, truth), frechet(answer, truth))
    return dict(zip(NAMES, values, strict=True))


def reward(apart: dict[str, float], unit: float = 1.0) -> float:
    """The training reward of one robot: the mean of 1 - distance / scale, each at least 0.

    The published reward measures RMSE per coordinate, which is smaller by the root of 2.

    Args:
        apart: The distances, by name.
        unit: What one of their units counts, in pixels.
    """
    return sum(max(0.0, 1 - unit * one) for one in _parts(apart)) / len(NAMES)


def most_in_both(truth: Trajectory, other: Trajectory) -> float:
    """No path has a higher sum of the rewards for two true paths.

    By the triangle inequality, which all three distances obey, a path that is close to one is far from the
    other.
    """
    return sum(max(1.0, 2 - one) for one in _parts(distances(truth, other))) / len(NAMES)


def _parts(apart: dict[str, float]) -> Iterator[float]:
    """Distances divided by their scales."""
    shrunk = {**apart, "rmse": apart["rmse"] / sqrt(2)}
    return (shrunk[name] / SCALES[name] for name in NAMES)
