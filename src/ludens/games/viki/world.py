"""The world of VIKI: robot types, things, areas and layouts (`world.toml`), scenes as plain data, and their
states."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from math import hypot
from typing import Any, NamedTuple

from ludens.core.random import Stream, stream


@dataclass(frozen=True, slots=True)
class RobotType:
    """What robots of one type are and can do."""

    name: str
    body: str
    arms: int
    mobile: bool
    pushes: bool
    reach: float
    low: float
    high: float
    primitives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing."""

    holds: bool = False
    opens: bool = False
    fixture: bool = False
    pushable: bool = False
    height: float | None = None
    group: str = "furniture"


@dataclass(frozen=True, slots=True)
class Precondition:
    """One precondition: the rule and the sentence when it is broken."""

    rule: str
    broken: str


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive: its arguments, preconditions in the order they are tested, effect."""

    name: str
    arguments: tuple[str, ...]
    text: str
    needs: tuple[str, ...]
    effect: str


@dataclass(frozen=True, slots=True)
class ReleasedNames:
    """Names that the released checker treats specially."""

    containers: frozenset[str]
    closed: frozenset[str]
    opens: frozenset[str]
    boxes: frozenset[str]


def read_tables(name: str) -> dict[str, Any]:
    """A TOML file of this package, with tuples for lists."""
    tables: dict[str, Any] = _tuples(
        tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    )
    return tables


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


_DATA = read_tables("world.toml")
ROBOTS: dict[str, RobotType] = {name: RobotType(**table) for name, table in _DATA["robots"].items()}
KINDS: dict[str, Kind] = {name: Kind(**table) for name, table in _DATA["things"].items()}
AREAS: dict[str, tuple[float, ...]] = {name: area["heights"] for name, area in _DATA["areas"].items()}
"""Names of areas, each with the heights that a layout may choose from."""
PRECONDITIONS: dict[str, Precondition] = {
    name: Precondition(**table) for name, table in _DATA["preconditions"].items()
}
PRIMITIVES: dict[str, Primitive] = {
    name: Primitive(name=name, **table) for name, table in _DATA["primitives"].items()
}
RELEASED = ReleasedNames(**{name: frozenset(names) for name, names in _DATA["released"].items()})


Action = tuple[str, ...]
"""A primitive with its arguments: `("Move", "apple")`."""
Step = dict[str, Action]
"""What each robot does in one step, by id; robots that wait are left out."""
Plan = list[Step]


@dataclass(frozen=True, slots=True)
class Area:
    """Where robots stand and things lie."""

    name: str
    x: float
    """Centre on the map, metres from the left wall."""
    y: float
    """Centre on the map, metres from the back wall."""
    width: float
    depth: float
    height: float
    """Of the surface above the floor; things that lie here are at this height."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A thing or a piece of furniture. Its kind (see `world.toml`) is its name without a number."""

    name: str
    """Unique in the scene, and the name used in texts and plans."""
    kind: str
    place: str
    """The area or the asset it is directly in or on at the start."""
    closed: bool = False
    """Only cabinets and drawers can be closed."""

    @property
    def door(self) -> str:
        """`open` or `closed`; empty where it does not open."""
        return "" if not KINDS[self.kind].opens else "closed" if self.closed else "open"


@dataclass(frozen=True, slots=True)
class Robot:
    """A robot at the start."""

    id: str
    """R1, R2, ...: no role."""
    type: str
    place: str
    """The area it stands in; a fixed arm stays there."""
    needed: bool = True
    """Whether it belongs to the best team; the others are idle."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is true of a state, or false where `holds` is False."""

    thing: str
    """The name of an asset (or the id of a robot)."""
    place: str | None = None
    """Its direct place: an apple on a plate on the table is not at the table."""
    active: bool | None = None
    """Whether it has been interacted with."""
    holds: bool = True
    along: bool = False
    """Follow places through containers and carriers instead of comparing the direct place."""


Stage = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class KitchenTask:
    """What to do: the text that players see, and the conditions that are scored."""

    text: str
    family: int
    """1 to 13."""
    template: str
    """Family and number within it: `1-2`."""
    name: str
    goals: tuple[Condition, ...]
    """All must hold at the end."""
    orders: tuple[tuple[Stage, ...], ...] = ()
    """Each is a list of stages that must come true one after the other."""

    @property
    def facts(self) -> dict[str, Any]:
        """What metrics of all games say about the task."""
        return {"family": self.family, "template": self.template}

    @property
    def conditions(self) -> list[Condition]:
        return [*self.goals, *(one for order in self.orders for stage in order for one in stage)]


@dataclass(frozen=True, slots=True)
class Scene:
    """A kitchen with robots and a task."""

    layout: str
    """The name of the layout: `L000` to `L119`; released data: their layout id."""
    style: int
    """Which of the 12 colour schemes of walls, floor and furniture."""
    width: float
    """Of the room, metres."""
    depth: float
    areas: tuple[Area, ...]
    assets: tuple[Asset, ...]
    robots: tuple[Robot, ...]
    task: KitchenTask
    limit: int | None = None
    """Length of the shortest plan (of their plan in released data)."""
    plan: tuple[Mapping[str, Action], ...] = field(default=())
    """A shortest plan."""

    def to_json(self) -> dict[str, Any]:
        """Plain data: dicts, lists, strings, numbers."""
        data: dict[str, Any] = _lists(asdict(self))
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scene:
        """The scene of `to_json`."""
        task = dict(data["task"])
        task["goals"] = tuple(Condition(**goal) for goal in task["goals"])
        task["orders"] = tuple(
            tuple(tuple(Condition(**one) for one in stage) for stage in order) for order in task["orders"]
        )
        rest = {name: data[name] for name in ("layout", "style", "width", "depth", "limit")}
        return cls(
            **rest,
            areas=tuple(Area(**area) for area in data["areas"]),
            assets=tuple(Asset(**asset) for asset in data["assets"]),
            robots=tuple(Robot(**robot) for robot in data["robots"]),
            task=KitchenTask(**task),
            plan=tuple({robot: tuple(action) for robot, action in step.items()} for step in data["plan"]),
        )

    @property
    def team(self) -> tuple[str, ...]:
        """The types of the needed robots, sorted, each once: the answer of level 1."""
        return tuple(sorted({robot.type for robot in self.robots if robot.needed}))


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_lists(item) for item in value]
    return value


COUNT = 120
HELD_OUT = 20
STYLES = 12
_HOMES = {
    "cabinet": ("kitchen work area", "room", "kitchen island area"),
    "drawer": ("kitchen work area", "kitchen island area", "table"),
    "sink": ("room", "kitchen work area"),
    "toaster": ("kitchen work area", "kitchen island area", "table"),
    "fridge": ("room", "kitchen work area"),
    "oven": ("kitchen work area", "room"),
    "cutting board": ("kitchen work area", "kitchen island area", "table"),
}
"""The areas in which furniture may stand."""


@dataclass(frozen=True, slots=True)
class KitchenLayout:
    """A kitchen without things and robots."""

    name: str
    width: float
    depth: float
    areas: tuple[Area, ...]
    homes: dict[str, str]
    """The area of each piece of furniture."""


@lru_cache(maxsize=COUNT)
def layout(number: int) -> KitchenLayout:
    """The layout with this number, 0 to 119.

    Areas stand on a grid with at least 1.6 m between centres, so that no arm bridges two of them. In some
    layouts table and island are one area, the table.
    """
    random = stream(number, "viki", "layout")
    step_x, step_y = 1.8 + random.below(5) * 0.1, 1.6 + random.below(5) * 0.1
    names = ["kitchen work area", "table", "room", "rack", "ground"]
    if random.random() < 0.7:
        names.append("kitchen island area")
    slots = random.sample([(column, row) for column in range(4) for row in range(3)], len(names))
    areas = tuple(
        Area(
            name=name,
            x=round(1.0 + column * step_x, 2),
            y=round(1.0 + row * step_y, 2),
            width=round(1.0 + random.below(5) * 0.1, 1),
            depth=round(0.7 + random.below(4) * 0.1, 1),
            height=random.choice(AREAS[name]),
        )
        for name, (column, row) in zip(names, slots, strict=True)
    )
    homes = {kind: random.choice([name for name in where if name in names]) for kind, where in _HOMES.items()}
    return KitchenLayout(
        name=f"L{number:03}",
        width=round(2.0 + 3 * step_x, 2),
        depth=round(2.0 + 2 * step_y, 2),
        areas=areas,
        homes=homes,
    )


class WorldState(NamedTuple):
    """Where everything is."""

    at: tuple[int, ...]
    """The area of each robot."""
    reached: tuple[tuple[int, ...], ...]
    """The assets that each robot has reached, oldest first."""
    place: tuple[int, ...]
    """The direct place of each asset: an area, an asset or the robot that holds it."""
    active: int
    """Bit set of the assets that were interacted with."""
    closed: int
    """Bit set of the assets that are closed."""
    done: int
    """Bit set of the order constraints that are satisfied."""


class SceneIndex:
    """A scene with numbered areas, assets and robots."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.areas = [area.name for area in scene.areas]
        self.assets = [asset.name for asset in scene.assets]
        self.robots = [robot.id for robot in scene.robots]
        self.first_asset = len(self.areas)
        self.first_robot = self.first_asset + len(self.assets)
        names = [*self.areas, *self.assets, *self.robots]
        self.names = names
        self.code = {name: code for code, name in reversed(list(enumerate(names)))}
        self.folded = {name.casefold(): code for name, code in self.code.items()}
        self.kinds = [KINDS[asset.kind] for asset in scene.assets]
        self.types = [ROBOTS[robot.type] for robot in scene.robots]
        self.type_names = [robot.type for robot in scene.robots]
        self.heights = [area.height for area in scene.areas]
        apart = [[hypot(one.x - two.x, one.y - two.y) for two in scene.areas] for one in scene.areas]
        self.bridged = [[[far <= kind.reach for far in row] for row in apart] for kind in self.types]

    def start(self) -> WorldState:
        scene = self.scene
        closed = sum(1 << number for number, asset in enumerate(scene.assets) if asset.closed)
        return WorldState(
            at=tuple(self.code[robot.place] for robot in scene.robots),
            reached=((),) * len(scene.robots),
            place=tuple(self.code[asset.place] for asset in scene.assets),
            active=0,
            closed=closed,
            done=0,
        )

    def scene_at(self, state: WorldState) -> Scene:
        """The scene with robots and assets as they are in a state."""
        scene, closed = self.scene, state.closed
        robots = zip(scene.robots, state.at, strict=True)
        assets = enumerate(zip(scene.assets, state.place, strict=True))
        return replace(
            scene,
            robots=tuple(replace(robot, place=self.areas[at]) for robot, at in robots),
            assets=tuple(
                replace(asset, place=self.names[place], closed=bool(closed >> n & 1))
                for n, (asset, place) in assets
            ),
        )

    def area(self, state: WorldState, code: int) -> int:
        """The area in which an area, asset or robot is."""
        while code >= self.first_asset:
            code = (
                state.place[code - self.first_asset]
                if code < self.first_robot
                else state.at[code - self.first_robot]
            )
        return code

    def holder(self, state: WorldState, code: int) -> int | None:
        """The robot that holds an asset, directly or with what the asset is in."""
        while self.first_asset <= code < self.first_robot:
            code = state.place[code - self.first_asset]
        return code - self.first_robot if code >= self.first_robot else None

    def height(self, state: WorldState, code: int) -> float:
        while code >= self.first_asset:
            if code >= self.first_robot:
                return self.heights[state.at[code - self.first_robot]]
            code = state.place[code - self.first_asset]
            if self.first_asset <= code < self.first_robot:
                own = self.kinds[code - self.first_asset].height
                if own is not None:
                    return own
        return self.heights[code]

    def surface_height(self, state: WorldState, code: int) -> float:
        """How high a thing lies that is put into or onto an area or asset."""
        if self.first_asset <= code < self.first_robot:
            own = self.kinds[code - self.first_asset].height
            if own is not None:
                return own
        return self.height(state, code)

    def chain(self, state: WorldState, code: int) -> list[int]:
        """The place of a thing or robot, the place of that, and so on to the area."""
        chain = []
        while code >= self.first_asset:
            code = (
                state.place[code - self.first_asset]
                if code < self.first_robot
                else state.at[code - self.first_robot]
            )
            chain.append(code)
        return chain

    def carried(self, state: WorldState, robot: int) -> list[int]:
        return [asset for asset, code in enumerate(state.place) if code == self.first_robot + robot]

    def free_hands(self, state: WorldState, robot: int) -> int:
        return self.types[robot].arms - state.place.count(self.first_robot + robot)

    def covered(self, state: WorldState, code: int) -> bool:
        """Whether an asset is inside something closed."""
        while self.first_asset <= code < self.first_robot:
            code = state.place[code - self.first_asset]
            if self.first_asset <= code < self.first_robot and state.closed >> (code - self.first_asset) & 1:
                return True
        return False

    def number(self, name: str) -> int | None:
        """The code of a name; None when there is no such thing. Case does not matter."""
        code = self.code.get(name)
        return code if code is not None else self.folded.get(name.strip().casefold())


def random_action(scene: Scene, kind: str, random: Stream) -> Action:
    """A random primitive of a robot type with names of the scene."""
    primitive = PRIMITIVES[random.choice(ROBOTS[kind].primitives)]
    things = [asset.name for asset in scene.assets]
    places = [*things, *(area.name for area in scene.areas)]
    names = {"thing": things, "box": things, "robot": [robot.id for robot in scene.robots]}
    return (primitive.name, *(random.choice(names.get(argument, places)) for argument in primitive.arguments))


def short(name: str) -> str:
    """A name of a player for a message, of at most 40 characters."""
    return name if len(name) <= 40 else name[:37] + "..."
