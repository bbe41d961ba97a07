"""The floor plan: where surfaces, things and robots are in the picture of a scene.

Coordinates are units of 1/512 of the picture; 100 units are a metre. Surfaces stand in two rows in the order
of their places in the room, with a strip of floor in front of each, where robots stand. Pictures, paths and
cameras all use this plan, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

from ludens.games.viki.data import KINDS
from ludens.games.viki.rules import State, World
from ludens.games.viki.scene import Area, Asset, Robot, Scene

SIDE = 512
ROBOT = 42
"""Height of a robot."""
COLUMNS = 3
SURFACE = (154, 124)
"""Width and height of a surface."""
GAP = 16
"""Between columns: robots walk through."""
LEFT, TOP = 9, 10
STRIP = 72
"""Height of the floor in front of a surface."""
HEAD = 15
"""Height of the name of a surface."""
BOTTOM = TOP + 2 * (SURFACE[1] + STRIP)
"""Where the floor ends and the legend begins."""
GROUND = "ground"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a picture shows of a state."""

    robots: Mapping[str, str]
    """Robot id to the area it is in."""
    places: Mapping[str, str]
    """Asset name to the area, asset or robot it is directly in, on or held by."""
    closed: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()
    reached: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Robot id to the assets it reaches for."""

    @classmethod
    def at_start(cls, scene: Scene) -> Snapshot:
        """The start of a scene."""
        return cls(
            {robot.id: robot.place for robot in scene.robots},
            {asset.name: asset.place for asset in scene.assets},
            frozenset(asset.name for asset in scene.assets if asset.closed),
        )

    @classmethod
    def of(cls, world: World, state: State) -> Snapshot:
        """A state of the default rules."""
        return cls(
            {robot: world.areas[at] for robot, at in zip(world.robots, state.at, strict=True)},
            {asset: world.names[place] for asset, place in zip(world.assets, state.place, strict=True)},
            frozenset(asset for n, asset in enumerate(world.assets) if state.closed >> n & 1),
            frozenset(asset for n, asset in enumerate(world.assets) if state.active >> n & 1),
            {
                robot: tuple(world.assets[n] for n in queue)
                for robot, queue in zip(world.robots, state.reached, strict=True)
                if queue
            },
        )


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its top left corner."""

    x: float
    y: float
    w: float
    h: float

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the rectangle."""
        return self.x + self.w / 2, self.y + self.h / 2


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that is seen: where it is drawn, and what is drawn inside its box."""

    asset: Asset
    box: Box
    """Of the thing with its name; of the whole group for a container with contents."""
    inside: tuple[Item, ...] = ()
    low: bool = False
    """Whether its name is a line lower, so that it does not run into its neighbours'."""


@dataclass(frozen=True)
class Floor:
    """The floor plan of one state of a scene."""

    scene: Scene
    snapshot: Snapshot
    view_from: str = ""
    """The area in which the viewer stands, who sees nothing else; empty for one who sees everything."""
    surfaces: Mapping[str, Box] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "surfaces", arranged(self.scene.areas))

    @cached_property
    def _assets(self) -> dict[str, Asset]:
        return {asset.name: asset for asset in self.scene.assets}

    @cached_property
    def _contents(self) -> dict[str, list[Asset]]:
        found: dict[str, list[Asset]] = {}
        for name, place in self.snapshot.places.items():
            if self.sees(self.area_of(name)):
                found.setdefault(place, []).append(self._assets[name])
        return found

    def sees(self, area: str) -> bool:
        """Whether what is in an area can be seen."""
        return not self.view_from or area == self.view_from

    def area_of(self, asset: str) -> str:
        """The area in which a thing is, in whatever it lies or whoever holds it."""
        place = asset
        while place in self.snapshot.places:
            place = self.snapshot.places[place]
        return self.snapshot.robots.get(place, place)

    @cached_property
    def present(self) -> tuple[Robot, ...]:
        """The robots that can be seen."""
        return tuple(robot for robot in self.scene.robots if self.sees(self.snapshot.robots[robot.id]))

    def seen_in(self, place: str) -> Sequence[Asset]:
        """What is directly in, on or held by a place, furniture first; nothing where the place is closed."""
        if place in self.snapshot.closed:
            return ()
        return sorted(self._contents.get(place, ()), key=lambda asset: not KINDS[asset.kind].fixture)

    def _span(self, asset: Asset) -> int:
        own = 1 if len(asset.name) < 11 or " " in asset.name else 2
        return own + sum(self._span(inner) for inner in self.seen_in(asset.name))

    @cached_property
    def items(self) -> dict[str, tuple[Item, ...]]:
        """The things on each surface."""
        return {area: tuple(self._flow(area, box)) for area, box in self.surfaces.items()}

    def _flow(self, area: str, box: Box) -> Iterator[Item]:
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

    def _item(self, asset: Asset, box: Box, column: int | None) -> Item:
        """The thing with its contents; `column` is where it begins, in rows so tight that names alternate."""
        inner, low = self.seen_in(asset.name), column is not None and column % 2 == 1
        if not inner:
            return Item(asset, box, (), low)
        spans, whole = [self._span(one) for one in inner], self._span(asset)
        unit, inside = box.w / whole, list[Item]()
        x = box.x + unit * (whole - sum(spans))
        for one, span in zip(inner, spans, strict=True):
            at = None if column is None else column + round((x - box.x) / unit)
            inside.append(self._item(one, Box(x, box.y, unit * span, box.h), at))
            x += unit * span
        return Item(asset, box, tuple(inside), low)

    @cached_property
    def centres(self) -> dict[str, tuple[float, float]]:
        """Where each thing on a surface is."""
        found: dict[str, tuple[float, float]] = {}

        def add(item: Item) -> None:
            found[item.asset.name] = own_box(item).centre
            for one in item.inside:
                add(one)

        for items in self.items.values():
            for item in items:
                add(item)
        return found

    @cached_property
    def robots(self) -> dict[str, tuple[float, float]]:
        """Where each robot's feet are: side by side on the strip of their area."""
        found = {}
        for area, box in self.surfaces.items():
            here = [robot.id for robot in self.present if self.snapshot.robots[robot.id] == area]
            for number, robot in enumerate(here):
                found[robot] = (box.x + box.w * (number + 0.5) / max(2, len(here)), feet(box))
        return found

    def room(self, robot: str) -> float:
        """How wide the place of a robot is: robots of one area share its strip."""
        here = sum(area == self.snapshot.robots[robot] for area in self.snapshot.robots.values())
        return SURFACE[0] / max(2, here)


def feet(surface: Box) -> float:
    """How far down the feet of robots in front of a surface are."""
    return surface.y + surface.h + STRIP - 19


def own_box(item: Item) -> Box:
    """The box of a thing without its contents: the first column of its group."""
    share = item.box.w - sum(one.box.w for one in item.inside)
    return Box(item.box.x, item.box.y, share, item.box.h)


def arranged(areas: Sequence[Area]) -> dict[str, Box]:
    """A box for each area: those at the back of the room in the upper row, from left to right as there."""
    deep = sorted(areas, key=lambda area: (area.y, area.x, area.name))
    half = ceil(len(areas) / 2)
    boxes = {}
    for row, names in enumerate((deep[:half], deep[half:])):
        for column, area in enumerate(sorted(names, key=lambda area: (area.x, area.name))):
            x = LEFT + column * (SURFACE[0] + GAP)
            boxes[area.name] = Box(x, TOP + row * (SURFACE[1] + STRIP), *SURFACE)
    return boxes


def _rows(spans: Sequence[int], columns: int) -> int:
    row, column = 0, 0
    for span in spans:
        wide = min(span, columns)
        if column + wide > columns:
            row, column = row + 1, 0
        column += wide
    return row + 1
