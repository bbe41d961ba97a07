"""An independent checker of the default rules: names and dicts, written from the table of rules."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ludens.games.viki.world import Scene

ARMS = {"panda": 1, "fetch": 1, "unitree_h1": 2, "stompy": 2, "unitree_go2": 0, "anymal_c": 0}
RANGE = {"panda": (0.4, 1.3), "fetch": (0.0, 1.5), "unitree_h1": (0.4, 1.8), "stompy": (0.4, 2.1)}
FURNITURE = {"cabinet", "drawer", "sink", "toaster", "fridge", "oven", "cutting board"}
HOLDERS = {"cabinet", "drawer", "sink", "toaster", "cutting board", "cardboardbox", "plate", "bowl", "tray"}
INNER_HEIGHT = {"cabinet": 1.4, "drawer": 0.7, "cardboardbox": 0.6}
COUNT = {
    "move": 1,
    "reach": 1,
    "grasp": 1,
    "place": 1,
    "open": 1,
    "close": 1,
    "interact": 1,
    "push": 2,
    "handover": 2,
}


def slow_default(scene: Scene, plan: Sequence[Mapping[str, Sequence[str]]]) -> str | None:
    """The code of the first thing that is wrong, or None."""
    s: dict[str, Any] = {
        "at": {r.id: r.place for r in scene.robots},
        "place": {a.name: a.place for a in scene.assets},
        "reached": {r.id: [] for r in scene.robots},
        "closed": {a.name for a in scene.assets if a.closed},
        "active": set(),
    }
    kind = {a.name: a.kind for a in scene.assets}
    types = {r.id: r.type for r in scene.robots}
    heights = {a.name: a.height for a in scene.areas}
    satisfied = [False] * len(scene.task.orders)

    def up(name: str) -> list[str]:
        """Everything a thing is in, from the inside out."""
        found = []
        while name in s["place"] or name in s["at"]:
            name = s["place"][name] if name in s["place"] else s["at"][name]
            found.append(name)
        return found

    def area(name: str) -> str:
        return ([name, *up(name)])[-1]

    def hands(name: str) -> str | None:
        return next((one for one in up(name) if one in types), None)

    def load(robot: str) -> list[str]:
        return [x for x, p in s["place"].items() if p == robot]

    def free(robot: str) -> int:
        return ARMS[types[robot]] - len(load(robot))

    def level(x: str) -> float:
        if kind[x] in FURNITURE and kind[x] in INNER_HEIGHT:
            return INNER_HEIGHT[kind[x]]
        for one in up(x):
            if one in kind and kind[one] in INNER_HEIGHT:
                return INNER_HEIGHT[kind[one]]
        return heights[area(x)]

    def shut(x: str) -> bool:
        return any(one in s["closed"] for one in up(x))

    def fine(robot: str, op: str, args: Sequence[str]) -> str | None:
        if any(a not in kind and a not in types and a not in heights for a in args):
            return "entity"
        dog = ARMS[types[robot]] == 0
        if (op == "move" and types[robot] == "panda") or (dog and op not in ("move", "push", "interact")):
            return "infeasible"
        if op == "push" and not dog:
            return "infeasible"
        x = args[0]
        if op == "move":
            return None
        if op == "place":
            ok = (x in heights or kind.get(x) in HOLDERS) and hands(x) is None and load(robot)
            ok = ok and area(x) == s["at"][robot] and x not in s["closed"] and not shut(x)
            if ok:
                inner = INNER_HEIGHT.get(kind.get(x, ""))
                high = inner if inner is not None else level(x) if x in kind else heights[x]
                ok = RANGE[types[robot]][0] <= high <= RANGE[types[robot]][1]
            return None if ok else "infeasible"
        if x not in kind:
            return "infeasible"
        here = area(x) == s["at"][robot]
        if op == "reach":
            ok = hands(x) in (None, robot) and not shut(x) and here and free(robot) > 0
            if ok and hands(x) is None:
                low, high = RANGE[types[robot]]
                ok = low <= level(x) <= high
        elif op == "grasp":
            ok = kind[x] not in FURNITURE and s["place"][x] not in types and hands(x) in (None, robot)
            ok = ok and x in s["reached"][robot] and here and free(robot) > 0
        elif op in ("open", "close"):
            ok = kind[x] in ("cabinet", "drawer") and here and x in s["reached"][robot] and free(robot) > 0
            ok = ok and (x in s["closed"]) == (op == "open")
        elif op == "interact":
            ok = here and x not in s["active"] and (dog or free(robot) > 0 or s["place"][x] == robot)
        elif op == "push":
            ok = kind[x] == "cardboardbox" and hands(x) is None and here
        else:
            ok = args[1] in types and args[1] != robot and s["place"][x] == robot
            ok = ok and s["at"][args[1]] == s["at"][robot] and free(args[1]) > 0
        return None if ok else "infeasible"

    def true(c: Any, state: dict[str, Any]) -> bool:
        nonlocal s
        keep, s = s, state
        result = True
        if c.place is not None:
            there = c.place in up(c.thing) if c.along else s["place"][c.thing] == c.place
            result = there == c.holds
        if c.active is not None:
            result = result and ((c.thing in s["active"]) == c.active) == c.holds
        s = keep
        return result

    if any(
        COUNT.get(action[0].strip().lower()) != len(action) - 1 for step in plan for action in step.values()
    ):
        return "format"
    for step in plan:
        spelt = {name.lower(): name for name in (*kind, *types, *heights)}
        commands = [
            (robot, action[0].strip().lower(), [spelt.get(a.strip().lower(), a) for a in action[1:]])
            for robot, action in step.items()
        ]
        for robot, op, args in commands:
            if robot not in types:
                return "entity"
            wrong = fine(robot, op, args)
            if wrong:
                return wrong
        for i, (_, one, first) in enumerate(commands):
            for _, two, second in commands[i + 1 :]:
                shared = {a for a in first if a in kind} & set(second)
                if shared and "move" not in (one, two) and not {one, two} <= {"reach", "place"}:
                    return "incompatible"
        for robot, op, args in commands:
            for other, use, names in commands:
                if robot == other or use in ("move", "handover") or names[0] not in kind:
                    continue
                around = up(names[0])
                if op in ("grasp", "close") and args[0] in around and use != "interact":
                    return "incompatible"
                if (op == "push" and args[0] in around) or (op == "move" and robot in around):
                    return "incompatible"
        for robot in types:
            taking = sum(op == "handover" and args[1] == robot for _, op, args in commands)
            left = free(robot) - taking
            if taking and left < 0:
                return "incompatible"
            for who, op, args in commands if taking else ():
                if who != robot or op == "handover" or (op == "interact" and s["place"][args[0]] == robot):
                    continue
                if op in ("move", "push", "place") or left < 1:
                    return "incompatible"
                if op in ("grasp", "open", "close") and args[0] not in s["reached"][robot][-left:]:
                    return "incompatible"
        new = copy.deepcopy(s)
        for robot, op, args in commands:
            x = args[0]
            if op == "move":
                new["at"][robot], new["reached"][robot] = area(x), []
            elif op == "reach":
                queue = [one for one in s["reached"][robot] if one != x] + [x]
                new["reached"][robot] = queue[-free(robot) :]
            elif op == "grasp":
                new["place"][x] = robot
                new["reached"][robot].remove(x)
            elif op == "place":
                for one in load(robot):
                    new["place"][one] = x
            elif op == "open":
                new["closed"].discard(x)
            elif op == "close":
                new["closed"].add(x)
            elif op == "interact":
                new["active"].add(x)
            elif op == "push":
                new["place"][x] = new["at"][robot] = area(args[1])
            else:
                new["place"][x] = args[1]
        old, s = s, new
        for robot, op, args in commands:
            for one in {robot, *args[1:]} & set(types) if op in ("grasp", "handover") else ():
                if op == "handover" and one == robot:
                    continue
                room = free(one)
                s["reached"][one] = s["reached"][one][-room:] if room > 0 else []
        if any(op == "close" for _, op, _ in commands):
            for robot in types:
                s["reached"][robot] = [x for x in s["reached"][robot] if not shut(x)]
        for number, order in enumerate(scene.task.orders):
            if satisfied[number]:
                continue
            for later in range(1, len(order)):
                if all(true(c, s) for c in order[later]):
                    for stage in order[:later]:
                        if not all(true(c, s) and true(c, old) for c in stage):
                            return "order"
            satisfied[number] = all(true(c, s) for stage in order for c in stage)
    if not all(satisfied):
        return "order"
    return None if all(true(c, s) for c in scene.task.goals) else "goal"
