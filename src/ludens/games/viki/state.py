"""States, and a scene with numbered areas, assets and robots.

A state is a tuple of small integers, so that the planner can hash and compare it cheaply. A place is one
integer: areas come first, then assets, then robots.
"""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.scene import Scene


class State(NamedTuple):
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


class Numbered:
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

    def start(self) -> State:
        """The state at the start."""
        scene = self.scene
        closed = sum(1 << number for number, asset in enumerate(scene.assets) if asset.closed)
        return State(
            at=tuple(self.code[robot.place] for robot in scene.robots),
            reached=((),) * len(scene.robots),
            place=tuple(self.code[asset.place] for asset in scene.assets),
            active=0,
            closed=closed,
            done=0,
        )

    def area(self, state: State, code: int) -> int:
        """The area in which an area, asset or robot is."""
        while code >= self.first_asset:
            code = (
                state.place[code - self.first_asset]
                if code < self.first_robot
                else state.at[code - self.first_robot]
            )
        return code

    def holder(self, state: State, code: int) -> int | None:
        """The robot that holds an asset, directly or with what the asset is in."""
        while self.first_asset <= code < self.first_robot:
            code = state.place[code - self.first_asset]
        return code - self.first_robot if code >= self.first_robot else None

    def height(self, state: State, code: int) -> float:
        """The height at which an asset lies."""
        while code >= self.first_asset:
            if code >= self.first_robot:
                return self.heights[state.at[code - self.first_robot]]
            code = state.place[code - self.first_asset]
            if self.first_asset <= code < self.first_robot:
                own = self.kinds[code - self.first_asset].height
                if own is not None:
                    return own
        return self.heights[code]

    def carried(self, state: State, robot: int) -> list[int]:
        """The assets that a robot holds directly."""
        return [asset for asset, code in enumerate(state.place) if code == self.first_robot + robot]

    def free_hands(self, state: State, robot: int) -> int:
        """Arms that hold nothing."""
        return self.types[robot].arms - state.place.count(self.first_robot + robot)

    def covered(self, state: State, code: int) -> bool:
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
