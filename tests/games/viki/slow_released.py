"""An independent model of the released checker: tables of names and numbered places.

Places are numbers into a table of names, because the released checker shares them. `CRASH` stands for an
exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ludens.games.viki.world import Scene

CRASH = "crash"
ARMS = {"panda": 1, "fetch": 1, "unitree_h1": 2, "stompy": 2, "unitree_go2": 0, "anymal_c": 0}
HAND = {"reach", "grasp", "place", "open", "close", "interact", "handover"}
CAN = {
    t: (HAND if n else {"push", "interact"}) | (set() if t == "panda" else {"move"}) for t, n in ARMS.items()
}
CONTAINERS = {"plate", "cabinet", "drawer", "bowl", "sink", "toaster", "tray", "cardboardbox"}


def slow_released(scene: Scene, plan: Sequence[Mapping[str, Sequence[str]]]) -> str | None:
    """The code of the first thing that is wrong, `CRASH`, or None."""
    try:
        return _Model(scene).run(plan)
    except _Crash:
        return CRASH


class _Crash(Exception):
    pass


class _Model:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.label: list[str] = []  # the name of each place
        self.shut: list[bool | None] = []  # None: the place is an asset and cannot be closed
        self.type = {r.id: r.type for r in scene.robots}
        self.pos: dict[str, int] = {}
        self.inner: dict[str, int] = {}  # the place inside a container
        self.self_place: dict[str, int] = {}  # the place that an asset itself is
        self.grabbed: set[str] = set()
        self.used: set[str] = set()
        self.reached: dict[str, list[str]] = {r.id: [] for r in scene.robots}
        self.load: dict[str, list[str]] = {r.id: [] for r in scene.robots}
        for r in scene.robots:
            self.pos[r.id] = self.spot(r.place)
        for a in scene.assets:
            if a.kind in CONTAINERS:
                self.inner[a.name] = self.spot(a.name, a.closed)
            self.self_place[a.name] = self.spot(a.name, None)
        for a in scene.assets:
            self.pos[a.name] = self.inner[a.place] if a.place in self.inner else self.spot(a.place)

    def spot(self, name: str, shut: bool | None = False) -> int:
        self.label.append(name)
        self.shut.append(shut)
        return len(self.label) - 1

    def name(self, asset: str) -> str:
        """The current name of an asset: pushing a box that lies on a plain asset renames that asset."""
        return self.label[self.self_place[asset]] if asset in self.self_place else asset

    def where(self, who: str) -> str:
        return self.label[self.pos[who]]

    def meets(self, who: str, wanted: str) -> bool:
        here = self.where(who)
        trail = []
        while here in self.self_place or here in self.type:
            if here in trail:
                return wanted in trail
            trail.append(here)
            who, here = here, self.where(here)
        return wanted in (*trail, here, self.name(who))

    def side_by_side(self, one: str, two: str) -> bool:
        return self.meets(one, self.where(two)) or self.meets(two, self.where(one))

    def exact(self, robot: str, x: str) -> bool:
        return self.where(robot) == self.name(x) or self.where(x) == robot

    def spare(self, robot: str) -> bool:
        return len(self.load[robot]) < ARMS[self.type[robot]]

    def run(self, plan: Sequence[Mapping[str, Sequence[str]]]) -> str | None:
        texts = [[(r, ",".join(a).split(",")) for r, a in step.items()] for step in plan]
        if any(part == "" or set(part) & set("<>") for step in texts for _, parts in step for part in parts):
            return "format"
        satisfied = [False for _ in self.scene.task.orders]
        for step in texts:
            commands = []
            for robot, parts in step:
                op, *args = [part.strip() for part in parts]
                op = op.lower()
                for one in [robot, *args]:
                    if one not in self.type and one not in self.self_place and op not in ("move", "place"):
                        return "entity"
                if robot not in self.type:
                    raise _Crash
                if not self.allowed(robot, op, args):
                    return "infeasible"
                commands.append((robot, op, args))
            uses = [(self.name(a), op) for _, op, args in commands for a in args]
            uses = [(a, op) for a, op in uses if a in self.self_place]
            for i, (x, one) in enumerate(uses):
                for y, two in uses[i + 1 :]:
                    if x == y and "move" not in (one, two) and {one, two} - {"reach", "place"}:
                        return "incompatible"
            if any(op == "close" for _, op, _ in commands):
                raise _Crash
            self.do(commands)
            for number, order in enumerate(self.scene.task.orders):
                if satisfied[number]:
                    continue
                flags = [all(self.true(c) for c in stage) for stage in order]
                if sorted(flags, reverse=True) != flags:
                    return "order"
                satisfied[number] = all(flags)
        if not all(satisfied):
            return "order"
        return None if all(self.true(c) for c in self.scene.task.goals) else "goal"

    def allowed(self, robot: str, op: str, args: list[str]) -> bool:
        if op not in CAN[self.type[robot]]:
            return False
        if len(args) != (2 if op in ("push", "handover") else 1):
            return False
        x = args[0]
        asset = x in self.self_place and x not in self.type
        if op == "move":
            return True
        if op == "reach":
            if not self.side_by_side(robot, x):
                return False
            shut = self.shut[self.pos[x]]
            if shut is None:
                raise _Crash
            return not shut
        if op == "place":
            if x in self.type:
                return False
            near = self.side_by_side(robot, x) if asset else self.meets(robot, x)
            blocked = asset and x in self.inner and self.shut[self.inner[x]]
            return near and not blocked and bool(self.load[robot])
        if not asset:
            return False
        if op == "grasp":
            return x not in self.grabbed and self.spare(robot) and x in self.reached[robot]
        if op in ("open", "close"):
            named = self.name(x) in ("cabinet", "drawer", "kitchen cabinet", "kitchen drawer")
            right = x in self.inner and self.shut[self.inner[x]] == (op == "open")
            return named and self.exact(robot, x) and self.spare(robot) and right and x in self.reached[robot]
        if op == "interact":
            able = ARMS[self.type[robot]] == 0 or x in self.load[robot] or self.spare(robot)
            return able and self.exact(robot, x) and x not in self.used
        if op == "push":
            return self.name(x) in ("box", "cardboardbox") and self.exact(robot, x)
        y = args[1]
        if y not in self.type:
            return False
        near = self.where(robot) == y or self.where(y) == robot
        return near and bool(self.load[robot]) and self.spare(y)

    def do(self, commands: list[tuple[str, str, list[str]]]) -> None:
        robots: list[Any] = []
        assets: dict[str, list[Any]] = {}
        for robot, op, args in commands:
            x = args[0]
            if op == "move":
                robots.append((robot, "pos", self.spot(self.name(x))))
                robots.append((robot, "reached", []))
            elif op == "reach":
                old = self.reached[robot]
                keep = old if len(old) < ARMS[self.type[robot]] else old[1:]
                robots.append((robot, "reached", [*keep, x]))
            elif op == "grasp":
                if any(one in self.type for one in self.reached[robot]):
                    raise _Crash
                load = self.load[robot] + self.reached[robot]
                robots += [(robot, "reached", []), (robot, "load", load)]
                for one in load:
                    assets[self.name(one)] = [("pos", self.spot(robot)), ("grab", True)]
            elif op == "place":
                spot = self.inner.get(x, self.self_place[x]) if x in self.self_place else self.spot(x)
                for one in self.load[robot]:
                    assets.setdefault(self.name(one), []).extend([("pos", spot), ("grab", False)])
                robots.append((robot, "load", []))
            elif op == "open":
                assets[self.name(x)] = [("open", None)]
            elif op == "interact":
                assets[self.name(x)] = [("use", None)]
            elif op == "push":
                robots.append((robot, "rename", self.name(x)))
                to = args[1]
                assets[self.name(x)] = [("rename", self.name(to) if to in self.self_place else to)]
            else:
                raise _Crash
        for robot, what, value in robots:
            if what == "rename":
                self.label[self.pos[robot]] = value
            else:
                {"pos": self.pos, "reached": self.reached, "load": self.load}[what][robot] = value
        for asset, changes in assets.items():
            if asset not in self.self_place:
                raise _Crash
            for what, value in changes:
                if what == "pos":
                    self.pos[asset] = value
                elif what == "grab":
                    (self.grabbed.add if value else self.grabbed.discard)(asset)
                elif what == "open":
                    self.shut[self.inner[asset]] = False
                elif what == "use":
                    self.used.add(asset)
                else:
                    self.label[self.pos[asset]] = value

    def true(self, c: Any) -> bool:
        if c.place is not None:
            there = self.meets(c.thing, c.place) if c.along else self.where(c.thing) == c.place
            if there != c.holds:
                return False
        return c.active is None or ((c.thing in self.used) == c.active) == c.holds
