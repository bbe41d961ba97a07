"""A scene: everything that pictures, checker, planner and prompts need to know, as plain data.

`Scene` holds a layout (areas on a map), assets (things and furniture), robots and one task. It is immutable
and converts to and from JSON: `Scene.from_json(scene.to_json()) == scene`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

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
class Task:
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
    task: Task
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
            task=Task(**task),
            plan=tuple({robot: tuple(action) for robot, action in step.items()} for step in data["plan"]),
        )

    def active(self) -> Scene:
        """The same scene with the needed robots only."""
        return replace(self, robots=tuple(robot for robot in self.robots if robot.needed))

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
