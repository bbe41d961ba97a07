"""The default rules: preconditions, what a step does, which actions clash, orders and goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

from ludens.games.viki.world import (
    PRECONDITIONS,
    PRIMITIVES,
    Action,
    Condition,
    Scene,
    SceneIndex,
    Stage,
    WorldState,
    short,
)

Test = Callable[[SceneIndex, WorldState, int, str, Sequence[int | None]], bool]


def _is_asset(w: SceneIndex, code: int | None) -> bool:
    return code is not None and w.first_asset <= code < w.first_robot


def _kind(w: SceneIndex, code: int | None, what: str) -> bool:
    return code is not None and _is_asset(w, code) and bool(getattr(w.kinds[code - w.first_asset], what))


def _closed(w: SceneIndex, s: WorldState, code: int | None) -> bool:
    return code is not None and _is_asset(w, code) and bool(s.closed >> (code - w.first_asset) & 1)


def _unheld(w: SceneIndex, s: WorldState, r: int, code: int) -> bool:
    return w.holder(s, code) in (None, r)


def _in_height(w: SceneIndex, s: WorldState, r: int, code: int) -> bool:
    kind = w.types[r]
    if w.holder(s, code) is not None:
        return True
    own = w.kinds[code - w.first_asset]
    height = own.height if own.fixture and own.height is not None else w.height(s, code)
    return kind.low <= height <= kind.high


def _surface_in_height(w: SceneIndex, s: WorldState, r: int, code: int) -> bool:
    return w.types[r].low <= w.surface_height(s, code) <= w.types[r].high


_HOW: dict[str, Test] = {
    "capable": lambda w, s, r, p, a: p in w.types[r].primitives,
    "exists": lambda w, s, r, p, a: a[0] is not None,
    "second_exists": lambda w, s, r, p, a: a[1] is not None,
    "asset": lambda w, s, r, p, a: _is_asset(w, a[0]),
    "second_robot": lambda w, s, r, p, a: (
        a[1] is not None and a[1] >= w.first_robot and a[1] != w.first_robot + r
    ),
    "unheld": lambda w, s, r, p, a: _unheld(w, s, r, a[0] or 0),
    "free": lambda w, s, r, p, a: (
        s.place[(a[0] or 0) - w.first_asset] < w.first_robot and _unheld(w, s, r, a[0] or 0)
    ),
    "set_down": lambda w, s, r, p, a: w.holder(s, a[0] or 0) is None,
    "uncovered": lambda w, s, r, p, a: not w.covered(s, a[0] or 0),
    "in_radius": lambda w, s, r, p, a: w.bridged[r][s.at[r]][w.area(s, a[0] or 0)],
    "in_height": lambda w, s, r, p, a: _in_height(w, s, r, a[0] or 0),
    "surface_in_height": lambda w, s, r, p, a: _surface_in_height(w, s, r, a[0] or 0),
    "free_hand": lambda w, s, r, p, a: w.free_hands(s, r) > 0,
    "reached": lambda w, s, r, p, a: (a[0] or 0) - w.first_asset in s.reached[r],
    "graspable": lambda w, s, r, p, a: not _kind(w, a[0], "fixture"),
    "together": lambda w, s, r, p, a: s.at[r] == w.area(s, a[0] or 0),
    "carrying": lambda w, s, r, p, a: w.first_robot + r in s.place,
    "carries_target": lambda w, s, r, p, a: s.place[(a[0] or 0) - w.first_asset] == w.first_robot + r,
    "receptacle": lambda w, s, r, p, a: (
        _kind(w, a[0], "holds") or (a[0] is not None and a[0] < w.first_asset)
    ),
    "not_closed": lambda w, s, r, p, a: not _closed(w, s, a[0]) and not w.covered(s, a[0] or 0),
    "openable": lambda w, s, r, p, a: _kind(w, a[0], "opens"),
    "is_closed": lambda w, s, r, p, a: _closed(w, s, a[0]),
    "is_open": lambda w, s, r, p, a: not _closed(w, s, a[0]),
    "not_active": lambda w, s, r, p, a: not s.active >> ((a[0] or 0) - w.first_asset) & 1,
    "hand_or_holding": lambda w, s, r, p, a: (
        w.types[r].arms == 0
        or w.free_hands(s, r) > 0
        or s.place[(a[0] or 0) - w.first_asset] == w.first_robot + r
    ),
    "pushable": lambda w, s, r, p, a: _kind(w, a[0], "pushable"),
    "second_free_hand": lambda w, s, r, p, a: w.free_hands(s, (a[1] or 0) - w.first_robot) > 0,
    "second_together": lambda w, s, r, p, a: s.at[r] == w.area(s, a[1] or 0),
}
TESTS: dict[str, tuple[tuple[str, Test], ...]] = {
    name: tuple((need, _HOW[need]) for need in primitive.needs) for name, primitive in PRIMITIVES.items()
}
"""Preconditions of each primitive, in the order they are tested."""

_FIXED = {"capable", "exists", "second_exists", "asset", "second_robot"}
_FIXED |= {"graspable", "receptacle", "openable", "pushable"}
FIXED = {name: tuple(test for need, test in tests if need in _FIXED) for name, tests in TESTS.items()}
"""The tests that do not depend on the state; the planner makes them once."""
CHANGING = {name: tuple(test for need, test in tests if need not in _FIXED) for name, tests in TESTS.items()}
"""The other tests."""


JointAction = tuple[int, str, Sequence[int]]
"""Robot, primitive, arguments: one of the actions of a step."""
TAKES = ("Grasp", "Push", "Close")
"""Primitives that take their target away or close it, with everything that is in or on it."""
STAYS = ("Grasp", "Close")
"""Those after which it is still in its area, where it can be interacted with."""
ACTS_ON = ("Reach", "Grasp", "Place", "Open", "Close", "Interact", "Push")
"""Primitives whose first argument must stay where it is during the step."""

Code = Literal["format", "entity", "infeasible", "incompatible", "order", "goal", "long"]
"""Why a plan is wrong, in the order in which the reasons are tested."""


class RefusedStep(Exception):
    """A step that the rules refuse; the message names robot, primitive and broken precondition."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


class World(SceneIndex):
    """A scene with its rules."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        task = scene.task
        self._goals = [self.test(goal) for goal in task.goals]
        self._orders = [[[self.test(one) for one in stage] for stage in order] for order in task.orders]
        self._every_order = (1 << len(self._orders)) - 1

    def broken(self, state: WorldState, robot: int, primitive: str, args: Sequence[int | None]) -> str | None:
        """The name of the first precondition that is broken."""
        for name, test in TESTS[primitive]:
            if not test(self, state, robot, primitive, args):
                return name
        return None

    def well_formed(self, robot_id: str, action: Action) -> tuple[str, str]:
        """The action in words, and its primitive; `RefusedStep` when it is no call of a primitive."""
        command = f"{robot_id} {' '.join(action)}"
        command = command if len(command) <= 120 else command[:117] + "..."
        primitive = action[0].strip().capitalize() if action else ""
        if primitive not in PRIMITIVES:
            raise RefusedStep("format", f"{command}: there is no primitive {short(primitive)}")
        expected = PRIMITIVES[primitive].arguments
        if len(action) - 1 != len(expected):
            raise RefusedStep("format", f"{command}: {primitive} takes {len(expected)} argument(s)")
        return command, primitive

    def parse(self, state: WorldState, robot_id: str, action: Action) -> tuple[int, str, list[int]]:
        """An action as numbers; `RefusedStep` when it cannot be done in this state."""
        command, primitive = self.well_formed(robot_id, action)
        robot = self.number(robot_id)
        if robot is None or robot < self.first_robot:
            raise RefusedStep("entity", f"{command}: there is no robot {short(robot_id)}")
        robot -= self.first_robot
        args = [self.number(name) for name in action[1:]]
        name = self.broken(state, robot, primitive, args)
        if name is not None:
            code: Code = "entity" if name in ("exists", "second_exists") else "infeasible"
            x, y = (*map(short, action[1:]), "")[:2]
            reason = PRECONDITIONS[name].broken.format(
                r=self.robots[robot], x=x, y=y, primitive=primitive, type=self.type_names[robot]
            )
            raise RefusedStep(code, f"{command}: {reason}")
        return robot, primitive, [code for code in args if code is not None]

    def step(self, state: WorldState, actions: Mapping[str, Action]) -> WorldState:
        """All actions of one step, checked against the same state and applied together."""
        parsed = [self.parse(state, robot, action) for robot, action in actions.items()]
        if len({robot for robot, _, _ in parsed}) < len(parsed):
            raise RefusedStep("format", "one robot has two actions")
        if (clash := self.clash(state, parsed)) is not None:
            raise RefusedStep("incompatible", clash)
        new = self.apply(state, parsed)
        if (failure := self.order_failure(state, new)) is not None:
            raise RefusedStep("order", failure)
        return self.progress(new)

    def run(self, state: WorldState, steps: Iterable[Mapping[str, Action]]) -> WorldState:
        """The state after several steps; `RefusedStep` at the first that the rules refuse."""
        for step in steps:
            state = self.step(state, step)
        return state

    def clash(self, state: WorldState, parsed: Sequence[JointAction]) -> str | None:
        """Why actions cannot happen in the same step, or None."""
        for (one, first, args), (two, second, others) in combinations(parsed, 2):
            if first == "Move" or second == "Move" or (first in _SHARE and second in _SHARE):
                continue
            for code in args:
                if self.first_asset <= code < self.first_robot and code in others:
                    return (
                        f"{self.robots[one]} {first} and {self.robots[two]} {second}: "
                        f"both act on {self.names[code]} in one step"
                    )
        return self._taken_away(state, parsed) or self._received(state, parsed)

    def _taken_away(self, state: WorldState, parsed: Sequence[JointAction]) -> str | None:
        """Why the result would depend on who is first: one robot takes away what another acts on."""
        taken = [(robot, name, self.taken(robot, name, args)) for robot, name, args in parsed]
        if not any(code is not None for _, _, code in taken):
            return None
        for two, second, others in parsed:
            if second not in ACTS_ON:
                continue
            inside = self.chain(state, others[0])
            for one, first, code in taken:
                if one == two or code not in inside or (first in STAYS and second == "Interact"):
                    continue
                where = "in the hands of" if first == "Move" else "in or on"
                target = self.names[others[0]]
                return (
                    f"{self.robots[one]} {first} and {self.robots[two]} {second} {target}: {target} is "
                    f"{where} {self.names[code]}, so the result would depend on who is first"
                )
        return None

    def taken(self, robot: int, primitive: str, args: Sequence[int]) -> int | None:
        """What an action takes away or closes, with everything in it; the robot itself where it moves."""
        if primitive == "Move":
            return self.first_robot + robot
        return args[0] if primitive in TAKES else None

    def _received(self, state: WorldState, parsed: Sequence[JointAction]) -> str | None:
        """Why a robot cannot receive what others hand over to it."""
        given = [action for action in parsed if action[1] == "Handover"]
        for code in dict.fromkeys(args[1] for _, _, args in given):
            robot = code - self.first_robot
            own = [action for action in given if action[2][1] == code]
            if len(own) > self.free_hands(state, robot):
                return f"{self.robots[robot]} takes more things in one step than it has free hands"
            for one, primitive, args in parsed:
                if one != robot:
                    continue
                if primitive in ("Move", "Push"):
                    return f"{self.robots[robot]} {primitive}: a robot that receives a thing stands still"
                if primitive == "Place":
                    return f"{self.robots[robot]} Place: a robot that receives a thing puts nothing down"
                if self.broken(self.apply(state, own), robot, primitive, args) is not None:
                    return f"{self.robots[robot]} {primitive}: the hand is needed for what it receives"
        return None

    def apply(self, state: WorldState, parsed: Iterable[JointAction]) -> WorldState:
        """The state after actions whose preconditions hold; orders are not updated."""
        at, reached, place = list(state.at), list(state.reached), list(state.place)
        active, closed, taking, closing = state.active, state.closed, set[int](), False
        first = self.first_asset
        for robot, primitive, args in parsed:
            hand = self.first_robot + robot
            if primitive == "Move":
                at[robot], reached[robot] = self.area(state, args[0]), ()
            elif primitive == "Reach":
                asset = args[0] - first
                queue = (*(one for one in state.reached[robot] if one != asset), asset)
                reached[robot] = queue[-self.free_hands(state, robot) :]
            elif primitive == "Grasp":
                asset = args[0] - first
                place[asset] = hand
                reached[robot] = tuple(one for one in state.reached[robot] if one != asset)
                taking.add(robot)
            elif primitive == "Place":
                for asset, code in enumerate(state.place):
                    if code == hand:
                        place[asset] = args[0]
            elif primitive == "Open":
                closed &= ~(1 << args[0] - first)
            elif primitive == "Close":
                closed |= 1 << args[0] - first
                closing = True
            elif primitive == "Interact":
                active |= 1 << args[0] - first
            elif primitive == "Push":
                at[robot] = place[args[0] - first] = self.area(state, args[1])
            else:
                place[args[0] - first] = args[1]
                taking.add(args[1] - self.first_robot)
        new = WorldState(tuple(at), tuple(reached), tuple(place), active, closed, state.done)
        return self._trimmed(new, taking, closing) if taking or closing else new

    def _trimmed(self, state: WorldState, taking: set[int], closing: bool) -> WorldState:
        """Forget reached things for which there is no free hand, or that are now inside something closed."""
        reached = list(state.reached)
        for robot in taking:
            free = self.free_hands(state, robot)
            reached[robot] = reached[robot][-free:] if free > 0 else ()
        if closing:
            reached = [
                tuple(one for one in queue if not self.covered(state, self.first_asset + one))
                for queue in reached
            ]
        return state._replace(reached=tuple(reached))

    def holds(self, state: WorldState, condition: Condition) -> bool:
        return self.test(condition)(state)

    def test(self, condition: Condition) -> Callable[[WorldState], bool]:
        """The function that says whether a condition is true; the planner asks for the same ones often."""
        code = self.code[condition.thing]
        place = None if condition.place is None else self.code.get(condition.place)
        asset = code - self.first_asset
        if code >= self.first_asset and code < self.first_robot and condition.holds and not condition.along:
            if condition.active is None and place is not None:
                return lambda state: state.place[asset] == place
            if condition.active and condition.place is None:
                return lambda state: bool(state.active >> asset & 1)
        return lambda state: self._true(state, condition, code, place)

    def _true(self, state: WorldState, condition: Condition, code: int, wanted: int | None) -> bool:
        true = True
        if condition.place is not None:
            if condition.along:
                true = wanted in self.chain(state, code)
            elif code >= self.first_robot:
                true = state.at[code - self.first_robot] == wanted
            else:
                true = state.place[code - self.first_asset] == wanted
            true = true is condition.holds
        if condition.active is not None and self.first_asset <= code < self.first_robot:
            is_active = bool(state.active >> (code - self.first_asset) & 1)
            true = true and (is_active == condition.active) is condition.holds
        return true

    def order_failure(self, before: WorldState, after: WorldState) -> str | None:
        """Why a step breaks an order constraint: a stage came true before those that must come first."""
        early = self.early_stage(before, after)
        if early is None:
            return None
        order = self.scene.task.orders[early[0]]
        return f"{tell(order[early[1]])} comes too early: {tell(order[0])} must hold a step before"

    def early_stage(self, before: WorldState, after: WorldState) -> tuple[int, int] | None:
        """The numbers of the order and of the stage that comes too early."""
        for number, order in enumerate(self._orders):
            if before.done >> number & 1:
                continue
            earlier = True
            for place, stage in enumerate(order):
                now = _all(stage, after)
                if now and not earlier:
                    return number, place
                earlier = earlier and now and _all(stage, before)
        return None

    def progress(self, state: WorldState) -> WorldState:
        """The state with the order constraints marked that are satisfied now."""
        done = state.done
        for number, order in enumerate(self._orders):
            if not done >> number & 1 and all(_all(stage, state) for stage in order):
                done |= 1 << number
        return state if done == state.done else state._replace(done=done)

    def reached(self, state: WorldState) -> bool:
        return state.done == self._every_order and _all(self._goals, state)

    def missing(self, state: WorldState) -> str | None:
        for number, order in enumerate(self.scene.task.orders):
            if not state.done >> number & 1:
                return "the required order was never completed: " + ", then ".join(map(tell, order))
        for goal, holds in zip(self.scene.task.goals, self._goals, strict=True):
            if not holds(state):
                return f"the goal is not reached: {tell((goal,))} does not hold at the end"
        return None


def _all(stage: Sequence[Callable[[WorldState], bool]], state: WorldState) -> bool:
    return all(holds(state) for holds in stage)


def tell(stage: Stage) -> str:
    """The conditions of a stage in words."""
    words = []
    for condition in stage:
        no = "" if condition.holds else "not "
        if condition.place is not None:
            words.append(f"{condition.thing} {no}at {condition.place}")
        if condition.active is not None:
            words.append(f"{condition.thing} {no}{'' if condition.active else 'not '}activated")
    return " and ".join(words)


_SHARE = ("Reach", "Place")
"""Actions of these primitives may name the same asset in one step."""
