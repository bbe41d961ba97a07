"""The default rules: a compiled scene (`World`), its states, preconditions and effects.

A state is a tuple of small integers, so that the planner can hash and compare it cheaply. A place is one
integer: areas come first, then assets, then robots. Which preconditions a primitive has, and in which order
they are tested, is declared in `world.toml`; this module says how each one is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import hypot
from typing import Literal, NamedTuple

from ludens.games.viki.data import KINDS, PRECONDITIONS, PRIMITIVES, ROBOTS
from ludens.games.viki.scene import Action, Condition, Scene, Stage

Code = Literal["format", "entity", "infeasible", "incompatible", "order", "goal", "long"]
"""Why a plan is wrong, in the order in which the reasons are tested."""


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


class Refused(Exception):
    """A step that the rules refuse; the message names robot, primitive and broken precondition."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


class World:
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
        self._known: dict[int, tuple[Condition, tuple[int, int | None]]] = {}
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

    def applicable(self, state: State, robot: int, primitive: str, args: Sequence[int | None]) -> bool:
        """Whether every precondition holds."""
        return all(test(self, state, robot, primitive, args) for _, test in _TESTS[primitive])

    def broken(self, state: State, robot: int, primitive: str, args: Sequence[int | None]) -> str | None:
        """The name of the first precondition that is broken."""
        for name, test in _TESTS[primitive]:
            if not test(self, state, robot, primitive, args):
                return name
        return None

    def number(self, name: str) -> int | None:
        """The code of a name; None when there is no such thing. Case does not matter."""
        code = self.code.get(name)
        return code if code is not None else self.folded.get(name.strip().casefold())

    def parse(self, state: State, robot_id: str, action: Action) -> tuple[int, str, list[int]]:
        """An action as numbers; `Refused` when it cannot be done in this state."""
        said = f"{robot_id} {' '.join(action)}"
        said = said if len(said) <= 120 else said[:117] + "..."
        primitive = action[0].strip().capitalize()
        if primitive not in PRIMITIVES:
            raise Refused("format", f"{said}: there is no primitive {_short(action[0])}")
        expected = PRIMITIVES[primitive].arguments
        if len(action) - 1 != len(expected):
            raise Refused("format", f"{said}: {primitive} takes {len(expected)} argument(s)")
        robot = self.number(robot_id)
        if robot is None or robot < self.first_robot:
            raise Refused("entity", f"{said}: there is no robot {_short(robot_id)}")
        robot -= self.first_robot
        args = [self.number(name) for name in action[1:]]
        name = self.broken(state, robot, primitive, args)
        if name is not None:
            code: Code = "entity" if name in ("exists", "second_exists") else "infeasible"
            x, y = (*map(_short, action[1:]), "")[:2]
            reason = PRECONDITIONS[name].broken.format(
                r=self.robots[robot], x=x, y=y, primitive=primitive, type=self.type_names[robot]
            )
            raise Refused(code, f"{said}: {reason}")
        return robot, primitive, [code for code in args if code is not None]

    def step(self, state: State, actions: Mapping[str, Action]) -> State:
        """All actions of one step, checked against the same state and applied together."""
        parsed = [self.parse(state, robot, action) for robot, action in actions.items()]
        if len({robot for robot, _, _ in parsed}) < len(parsed):
            raise Refused("format", "one robot has two actions")
        self.check_together(state, parsed)
        new = self.apply(state, parsed)
        failed = self.order_failure(state, new)
        if failed is not None:
            raise Refused("order", failed)
        return self.progress(new)

    def check_together(self, state: State, parsed: Sequence[tuple[int, str, Sequence[int]]]) -> None:
        """Refuse actions that cannot happen in the same step."""
        clash = self.clash(state, parsed)
        if clash is not None:
            raise Refused("incompatible", clash)

    def clash(self, state: State, parsed: Sequence[tuple[int, str, Sequence[int]]]) -> str | None:
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
        given = [args[1] for _, primitive, args in parsed if primitive == "Handover"]
        grasping = [robot for robot, primitive, _ in parsed if primitive == "Grasp"]
        for code in set(given):
            robot = code - self.first_robot
            if given.count(code) + grasping.count(robot) > self.free_hands(state, robot):
                return f"{self.robots[robot]} takes more things in one step than it has free hands"
        return None

    def apply(self, state: State, parsed: Iterable[tuple[int, str, Sequence[int]]]) -> State:
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
        new = State(tuple(at), tuple(reached), tuple(place), active, closed, state.done)
        return self._trimmed(new, taking, closing) if taking or closing else new

    def _trimmed(self, state: State, taking: set[int], closing: bool) -> State:
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

    def holds(self, state: State, condition: Condition) -> bool:
        """Whether a condition is true of a state."""
        code, wanted = self._codes(condition)
        true = True
        if condition.place is not None:
            if condition.along:
                true = wanted in self._chain(state, code)
            elif code >= self.first_robot:
                true = state.at[code - self.first_robot] == wanted
            else:
                true = state.place[code - self.first_asset] == wanted
            true = true is condition.holds
        if condition.active is not None and self.first_asset <= code < self.first_robot:
            is_active = bool(state.active >> (code - self.first_asset) & 1)
            true = true and (is_active == condition.active) is condition.holds
        return true

    def _codes(self, condition: Condition) -> tuple[int, int | None]:
        """The codes of the thing and of its place; looked up once for each condition object."""
        found = self._known.get(id(condition))
        if found is None or found[0] is not condition:
            place = None if condition.place is None else self.code.get(condition.place)
            found = self._known[id(condition)] = (condition, (self.code[condition.thing], place))
        return found[1]

    def _chain(self, state: State, code: int) -> list[int]:
        chain = []
        while code >= self.first_asset:
            code = (
                state.place[code - self.first_asset]
                if code < self.first_robot
                else state.at[code - self.first_robot]
            )
            chain.append(code)
        return chain

    def stage_holds(self, state: State, stage: Stage) -> bool:
        """Whether all conditions of a stage hold."""
        return all(self.holds(state, condition) for condition in stage)

    def order_failure(self, before: State, after: State) -> str | None:
        """Why a step breaks an order constraint: a stage came true before those that must come first."""
        for number, order in enumerate(self.scene.task.orders):
            if before.done >> number & 1:
                continue
            earlier = True
            for stage in order:
                now = self.stage_holds(after, stage)
                if now and not earlier:
                    return f"{tell(stage)} comes too early: {tell(order[0])} must hold a step before"
                earlier = earlier and now and self.stage_holds(before, stage)
        return None

    def progress(self, state: State) -> State:
        """The state with the order constraints marked that are satisfied now."""
        done = state.done
        for number, order in enumerate(self.scene.task.orders):
            if not done >> number & 1 and all(self.stage_holds(state, stage) for stage in order):
                done |= 1 << number
        return state if done == state.done else state._replace(done=done)

    def missing(self, state: State) -> str | None:
        """What is not reached yet, or None."""
        for number, order in enumerate(self.scene.task.orders):
            if not state.done >> number & 1:
                return "the required order was never completed: " + ", then ".join(map(tell, order))
        for goal in self.scene.task.goals:
            if not self.holds(state, goal):
                return f"the goal is not reached: {tell((goal,))} does not hold at the end"
        return None


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


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


_SHARE = ("Reach", "Place")
"""Actions of these primitives may name the same asset in one step."""

_Test = Callable[[World, State, int, str, Sequence[int | None]], bool]


def _is_asset(w: World, code: int | None) -> bool:
    return code is not None and w.first_asset <= code < w.first_robot


def _kind(w: World, code: int | None, what: str) -> bool:
    return code is not None and _is_asset(w, code) and bool(getattr(w.kinds[code - w.first_asset], what))


def _closed(w: World, s: State, code: int | None) -> bool:
    return code is not None and _is_asset(w, code) and bool(s.closed >> (code - w.first_asset) & 1)


def _unheld(w: World, s: State, r: int, code: int) -> bool:
    return w.holder(s, code) in (None, r)


def _in_height(w: World, s: State, r: int, code: int) -> bool:
    kind = w.types[r]
    if w.holder(s, code) is not None:
        return True
    own = w.kinds[code - w.first_asset]
    height = own.height if own.fixture and own.height is not None else w.height(s, code)
    return kind.low <= height <= kind.high


_HOW: dict[str, _Test] = {
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
_TESTS: dict[str, tuple[tuple[str, _Test], ...]] = {
    name: tuple((need, _HOW[need]) for need in primitive.needs) for name, primitive in PRIMITIVES.items()
}
