"""Checking plans, by the default rules or as the released checker does, oddities included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ludens.games.viki.replies import Variant
from ludens.games.viki.rules import Code, RefusedStep, World, tell
from ludens.games.viki.world import RELEASED, ROBOTS, Action, Condition, Scene, Stage

Refusal = tuple[Code, str, int | None]
"""Why a plan is refused: code, sentence, step."""


@dataclass(eq=False, slots=True)
class _Spot:
    name: str
    closed: bool = False


@dataclass(eq=False, slots=True)
class _Thing:
    name: str
    pos: _Spot | _Thing
    held: bool = False
    active: bool = False
    inside: _Spot | None = None
    """The place of what is inside, for containers."""


@dataclass(eq=False, slots=True)
class _Bot:
    name: str
    type: str
    pos: _Spot
    arms: int
    reached: list[_Thing | _Bot] = field(default_factory=list)
    carried: list[_Thing] = field(default_factory=list)

    @property
    def free(self) -> bool:
        return self.arms > len(self.carried)


_Entity = _Thing | _Bot | _Spot
_Command = tuple[str, _Bot, list[_Entity]]


class _Fails(Exception):
    """The released checker would fail with an exception here."""


_TARGETS: dict[str, tuple[tuple[type, ...], ...]] = {
    "move": ((_Bot, _Thing, _Spot),),
    "reach": ((_Bot, _Thing),),
    "grasp": ((_Thing,),),
    "place": ((_Thing, _Spot),),
    "open": ((_Thing,),),
    "close": ((_Thing,),),
    "push": ((_Thing,), (_Thing, _Bot)),
    "handover": ((_Thing,), (_Bot,)),
    "interact": ((_Thing,),),
}
"""What each primitive acts on."""


class _Run:
    def __init__(self, scene: Scene) -> None:
        self.task = scene.task
        self.bots = {
            robot.id: _Bot(robot.id, robot.type, _Spot(robot.place), ROBOTS[robot.type].arms)
            for robot in scene.robots
        }
        self.things = {asset.name: _Thing(asset.name, _Spot(asset.place)) for asset in scene.assets}
        for asset in scene.assets:
            if asset.kind in RELEASED.containers:
                self.things[asset.name].inside = _Spot(asset.name, asset.closed)
        for thing in self.things.values():
            container = self.things.get(thing.pos.name)
            if container is not None and container.inside is not None:
                thing.pos = container.inside

    def plan(self, steps: Sequence[Mapping[str, Action]]) -> Refusal | None:
        for number, step in enumerate(steps, 1):
            for robot, action in step.items():
                if any(not piece or "<" in piece or ">" in piece for piece in ",".join(action).split(",")):
                    message = f"step {number}, {robot}: the action has an empty part or a bracket"
                    return "format", message, number
        satisfied = [False] * len(self.task.orders)
        for number, step in enumerate(steps, 1):
            try:
                refusal = self._step(number, step) or self._orders(number, satisfied)
            except _Fails as error:
                refusal = "infeasible", f"step {number}, {error}: the released checker fails on this", number
            if refusal:
                return refusal
        if not all(satisfied):
            order = self.task.orders[satisfied.index(False)]
            message = f"the required order was never completed: {', then '.join(map(tell, order))}"
            return "order", message, None
        for goal in self.task.goals:
            try:
                reached = self._holds((goal,))
            except _Fails:
                reached = False
            if not reached:
                return "goal", f"the goal is not reached: {tell((goal,))} does not hold at the end", None
        return None

    def _step(self, number: int, step: Mapping[str, Action]) -> Refusal | None:
        commands: list[_Command] = []
        for robot, action in step.items():
            primitive, *names = (piece.strip() for piece in ",".join(action).split(","))
            command = f"{robot} {' '.join([primitive, *names])}"[:120]
            primitive = primitive.lower()
            entities: list[_Entity] = []
            for name in (robot, *names):
                entity = self.bots.get(name) or self.things.get(name)
                if entity is None and primitive not in ("move", "place"):
                    return "entity", f"step {number}, {command}: there is no {name[:40]} in the scene", number
                entities.append(entity or _Spot(name))
            bot = entities[0]
            if not isinstance(bot, _Bot):
                raise _Fails(f"{command}: {robot[:40]} is not a robot")
            broken = self._broken(primitive, bot, entities[1:], command)
            if broken:
                return "infeasible", f"step {number}, {command}: {broken}", number
            commands.append((primitive, bot, entities[1:]))
        clash = self._clash(commands)
        if clash:
            return "incompatible", f"step {number}, {clash}", number
        self._apply(commands)
        return None

    def _broken(self, primitive: str, bot: _Bot, args: list[_Entity], command: str) -> str | None:
        """What the released checker finds wrong with one action."""
        if primitive.capitalize() not in ROBOTS[bot.type].primitives:
            return f"{bot.name} ({bot.type}) cannot {primitive}"
        kinds = _TARGETS[primitive]
        if len(args) != len(kinds):
            return f"{primitive} takes {len(kinds)} argument(s)"
        if any(not isinstance(arg, kind) for arg, kind in zip(args, kinds, strict=True)):
            return "the arguments are of the wrong kind"
        return next((reason for broken, reason in self._tests(primitive, bot, args, command) if broken), None)

    def _tests(self, primitive: str, bot: _Bot, args: list[Any], command: str) -> Iterator[tuple[bool, str]]:
        """The preconditions in the order they are tested: whether one is broken, and the reason."""
        x, name = args[0], args[0].name
        inside = x.inside if isinstance(x, _Thing) else None
        no_hand = not bot.free, f"{bot.name} has no free hand"
        not_moved = f"{bot.name} has not moved to {name}"
        if primitive in ("reach", "place"):
            meets = self._aligned(bot, name if isinstance(x, _Spot) else x.pos.name)
            meets = meets or (not isinstance(x, _Spot) and self._aligned(x, bot.pos.name))
            yield not meets, f"{bot.name} is not where {name} is"
        if primitive == "reach":
            if isinstance(x.pos, _Thing):
                raise _Fails(command)
            yield x.pos.closed, f"{name} is inside something closed"
        elif primitive == "place":
            yield inside is not None and inside.closed, f"{name} is closed"
            yield not bot.carried, f"{bot.name} holds nothing"
        elif primitive == "grasp":
            yield x.held, f"{name} is already held"
            yield no_hand
            yield x not in bot.reached, f"{bot.name} has not reached {name}"
        elif primitive in ("open", "close"):
            yield name not in RELEASED.opens, f"{name} does not open or close"
            yield not _at_each_other(bot, x), not_moved
            yield no_hand
            done = "open" if primitive == "open" else "closed"
            yield inside is None or inside.closed != (primitive == "open"), f"{name} is already {done}"
            yield x not in bot.reached, f"{bot.name} has not reached {name}"
        elif primitive == "handover":
            to = args[1]
            unmet = f"{bot.name} has not moved to {to.name}, nor {to.name} to {bot.name}"
            yield not _at_each_other(bot, to), unmet
            yield not bot.carried, f"{bot.name} holds nothing"
            yield not to.free, f"{to.name} has no free hand"
        elif primitive == "push":
            yield name not in RELEASED.boxes, f"{name} is not a box"
            yield not _at_each_other(bot, x), not_moved
        elif primitive == "interact":
            full = bool(ROBOTS[bot.type].arms) and x not in bot.carried and not bot.free
            yield full, f"{bot.name} has no free hand and does not hold {name}"
            yield not _at_each_other(bot, x), f"{not_moved} and does not hold it"
            yield x.active, f"{name} has already been interacted with"

    def _aligned(self, entity: _Thing | _Bot, name: str) -> bool:
        """Whether the chain of places that starts at an entity meets a name; a closed chain has no end."""
        visited: list[str] = []
        meets = False
        while True:
            here = entity.pos.name
            following = self.things.get(here) or self.bots.get(here)
            if following is None:
                return meets or here == name or entity.name == name
            if here in visited:
                return meets
            visited.append(here)
            meets = meets or here == name
            entity = following

    def _clash(self, commands: list[_Command]) -> str | None:
        named: dict[str, list[str]] = {}
        for primitive, _, args in commands:
            for arg in args:
                if arg.name in self.things:
                    named.setdefault(arg.name, []).append(primitive)
        for name, primitives in named.items():
            for one, two in combinations(primitives, 2):
                if "move" not in (one, two) and not {one, two} <= {"reach", "place"}:
                    return f"{one} and {two}: both act on {name} in one step"
        if any(primitive == "close" for primitive, _, _ in commands):
            raise _Fails("Close")
        return None

    def _apply(self, commands: list[_Command]) -> None:
        """Collect what changes, in the order of the actions; later entries replace earlier ones."""
        bots: dict[str, dict[str, Any]] = {}
        things: dict[str, dict[str, Any]] = {}
        for primitive, bot, args in commands:
            x = args[0]
            if primitive == "move":
                bots[bot.name] = {"pos": _Spot(x.name), "reached": []}
            elif primitive == "reach":
                queue = [*bot.reached, x]
                bots[bot.name] = {"reached": queue[1:] if len(bot.reached) >= bot.arms else queue}
            elif primitive == "grasp":
                if any(isinstance(one, _Bot) for one in bot.reached):
                    raise _Fails(f"{bot.name} Grasp {x.name}")
                carried = [*bot.carried, *bot.reached]
                bots[bot.name] = {"reached": [], "carried": carried}
                for thing in carried:
                    things[thing.name] = {"held": True, "pos": _Spot(bot.name)}
            elif primitive == "place":
                spot = x.inside if isinstance(x, _Thing) and x.inside is not None else x
                for thing in bot.carried:
                    things.setdefault(thing.name, {}).update(pos=spot, held=False)
                bots[bot.name] = {"carried": []}
            elif primitive == "open":
                things[x.name] = {"open": True}
            elif primitive == "interact":
                things[x.name] = {"active": True}
            elif primitive == "push":
                bots[bot.name] = {"rename": x.name}
                things[x.name] = {"rename": args[1].name}
            else:
                raise _Fails(f"{bot.name} Handover")
        for name, changes in bots.items():
            _change(self.bots[name], changes)
        for name, changes in things.items():
            if name not in self.things:
                raise _Fails(name)
            _change(self.things[name], changes)

    def _orders(self, number: int, satisfied: list[bool]) -> Refusal | None:
        for index, order in enumerate(self.task.orders):
            if satisfied[index]:
                continue
            earlier = True
            for stage in order:
                if not self._holds(stage):
                    earlier = False
                elif not earlier:
                    return "order", f"step {number}: {tell(stage)} holds before {tell(order[0])}", number
            satisfied[index] = earlier
        return None

    def _holds(self, stage: Stage) -> bool:
        return all(self._condition(condition) for condition in stage)

    def _condition(self, condition: Condition) -> bool:
        entity = self.things.get(condition.thing) or self.bots.get(condition.thing)
        if entity is None:
            raise _Fails(condition.thing)
        if condition.place is not None:
            if condition.along:
                there = self._aligned(entity, condition.place)
            else:
                there = entity.pos.name == condition.place
            if there is not condition.holds:
                return False
        if condition.active is not None:
            if isinstance(entity, _Bot):
                raise _Fails(condition.thing)
            return (entity.active == condition.active) is condition.holds
        return True


def _at_each_other(bot: _Bot, x: _Thing | _Bot) -> bool:
    return bot.pos.name == x.name or bot.name == x.pos.name


def _change(entity: _Thing | _Bot, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        if name == "rename":
            entity.pos.name = value
        elif name == "open":
            assert isinstance(entity, _Thing)
            assert entity.inside is not None
            entity.inside.closed = False
        else:
            setattr(entity, name, value)


def check_released(scene: Scene, steps: Sequence[Mapping[str, Action]]) -> Refusal | None:
    """Why the released checker refuses a plan, or None. Length is not tested."""
    return _Run(scene).plan(steps)


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """What a checker says about a plan."""

    code: Code | None
    """The first reason why the plan is wrong; None when it is right."""
    message: str
    """One sentence: the step, the robot, the primitive and what was broken. Empty when the plan is right."""
    length: int
    """Steps with at least one action."""
    step: int | None = None
    """The step that was refused, from 1."""

    @property
    def right(self) -> bool:
        """Feasible, reaches the goal, and not longer than the limit."""
        return self.code is None

    @property
    def feasible(self) -> bool:
        """Every action can be done and orders are kept."""
        return self.code in (None, "goal", "long") or (self.code == "order" and self.step is None)

    @property
    def reached(self) -> bool:
        """Feasible, and the goal holds at the end."""
        return self.code in (None, "long")


def check(scene: Scene, plan: Sequence[Mapping[str, Action]], variant: Variant = "default") -> PlanVerdict:
    """Check a plan; steps without actions do not count; more than `scene.limit` steps are too long."""
    steps = [step for step in plan if step]
    verdict = _verdict(scene, steps, variant)
    if verdict.right and scene.limit is not None and len(steps) > scene.limit:
        message = f"the plan reaches the goal in {len(steps)} steps, but {scene.limit} are enough"
        return PlanVerdict("long", message, len(steps))
    return verdict


def _verdict(scene: Scene, steps: Sequence[Mapping[str, Action]], variant: Variant) -> PlanVerdict:
    if variant == "released":
        code, message, refused = check_released(scene, steps) or (None, "", None)
        return PlanVerdict(code, message, len(steps), refused)
    world = World(scene)
    state, now = world.start(), 0
    try:
        for number, step in enumerate(steps, 1):
            now = number
            for robot, action in step.items():
                world.well_formed(robot, action)
        for number, step in enumerate(steps, 1):
            now = number
            state = world.step(state, step)
    except RefusedStep as error:
        return PlanVerdict(error.code, f"step {now}, {error.message}", len(steps), now)
    missing = world.missing(state)
    if missing is not None:
        return PlanVerdict(
            "order" if missing.startswith("the required order") else "goal", missing, len(steps)
        )
    return PlanVerdict(None, "", len(steps))


STEPS_SHARE, GOALS_SHARE = 0.2, 0.4
"""What a wrong plan can earn for its steps and for its goals; the rest is for a right one."""


def partial_credit(scene: Scene, plan: Sequence[Mapping[str, Action]]) -> float:
    """What a plan is worth by the default rules, from 0 to 1, also where it is wrong.

    Of a wrong one, the steps count that can be done before the first fault, divided by those of the plan or
    of the shortest one, whichever is longer; and the conditions (orders, and goals that did not hold at the
    start) that hold after these steps.
    """
    steps = [step for step in plan if step]
    if check(scene, steps).right:
        return 1.0
    world = World(scene)
    start = state = world.start()
    done = 0
    try:
        for step in steps:
            state = world.step(state, step)
            done += 1
    except RefusedStep:
        pass
    wanted = [goal for goal in scene.task.goals if not world.holds(start, goal)]
    held = sum(world.holds(state, goal) for goal in wanted) + state.done.bit_count()
    length = max(len(steps), scene.limit or 0, 1)
    conditions = max(len(wanted) + len(scene.task.orders), 1)
    return STEPS_SHARE * done / length + GOALS_SHARE * held / conditions
