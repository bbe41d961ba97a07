"""A teacher for `viki/team` that knows what its seat knows.

`bot/oracle` knows the whole kitchen, so a policy that imitates it must guess. The mate plans in the kitchen
that it believes in: what it sees is as it is; what it saw earlier is where its own messages say; every other
thing of the task lies in an area of its own, within reach, and it can go there, because Move finds things
that are not in view. A recipe is a file, and a file does not choose what is imported:

    ludens train recipes/nano.toml --agent recipes.viki_mate:Mate
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.view import RenderOptions, view_of
from ludens.games.boards import pointer
from ludens.games.viki.bots import concerned, seen_in
from ludens.games.viki.closed_loop import TeamState
from ludens.games.viki.floor import HEAD, SIDE, FloorPlan
from ludens.games.viki.replies import MESSAGE, write_turn
from ludens.games.viki.rules import World
from ludens.games.viki.search import SearchLimit, shortest_plan, tidy
from ludens.games.viki.subgoals import subgoals
from ludens.games.viki.world import (
    KINDS,
    ROBOTS,
    Action,
    Area,
    Asset,
    Condition,
    KitchenTask,
    Plan,
    Robot,
    Scene,
)

UNSEEN = "?"
"""Begins the name of an area that is made up for something that is not in view."""
USUAL = ("stompy", "fetch")
"""Types that a partner who was never seen may have: between them they reach everything."""
LONGEST = 14
"""Steps of a plan that is looked for."""
MOST_STATES = 20_000
TRUSTING, TRUSTING_MORE = 3, 13
"""Steps after which a partner who could do the task alone is no longer waited for: one who holds nothing, or
who holds something."""
WAIT = "still"
"""The message of a robot that leaves the task to a partner from the first step, after its name."""
COUNTERPARTS = ("Grasp", "Place", "Interact", "Open", "Handover", "Push")
"""What a partner does again where it clashed with what the robot did. A Reach only begins something."""


def plan_in(scene: Scene) -> Plan | None:
    """A shortest plan, empty where nothing is to be done; None where none was found."""
    try:
        return shortest_plan(scene, limit=LONGEST, max_states=MOST_STATES).plan
    except SearchLimit:
        return None


def without(scene: Scene, names: Iterable[str]) -> Scene:
    """The scene with a task that does not ask for some things."""
    names = set(names)

    def kept(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        return tuple(one for one in conditions if one.thing not in names and one.place not in names)

    stages = (tuple(filter(None, map(kept, order))) for order in scene.task.orders)
    return replace(
        scene, task=replace(scene.task, goals=kept(scene.task.goals), orders=tuple(filter(None, stages)))
    )


def of_robots(scene: Scene, robots: Sequence[Robot]) -> Scene:
    """The scene with these robots only; what others hold is no longer asked for."""
    gone = {robot.id for robot in scene.robots} - {robot.id for robot in robots}
    held = [asset.name for asset in scene.assets if asset.place in gone]
    assets = tuple(asset for asset in scene.assets if asset.name not in held)
    return without(replace(scene, robots=tuple(robots), assets=assets), held)


def names_in(task: KitchenTask) -> list[str]:
    """The names of things and places in the conditions of a task."""
    names = ((one.thing, None if one.along else one.place) for one in task.conditions)
    return list(dict.fromkeys(name for pair in names for name in pair if name))


def notes_in(text: str) -> dict[str, str]:
    """What a message says of things and robots: "pear table; cabinet room open; R1 fetch room"."""
    known = sorted((*KINDS, "R1", "R2", "R3", "R4"), key=len, reverse=True)
    notes = {}
    for part in text.split("; "):
        name = next((name for name in known if part.startswith(f"{name} ")), None)
        if name is not None:
            notes[name] = part.removeprefix(name).strip()
    return notes


@dataclass
class Belief:
    """What a robot knows in a state, and the kitchen that it believes in."""

    state: TeamState
    seat: str
    floor: FloorPlan = field(init=False)
    memory: dict[str, str] = field(init=False)
    """What its own messages say, by name."""

    def __post_init__(self) -> None:
        self.floor = self.state.seen_by(self.seat)
        self.memory = {}
        for _, sender, text in self.state.messages:
            if sender == self.seat:
                self.memory |= notes_in(text)
        self.areas = {area.name for area in self.floor.scene.areas}
        self.seen = {*self.floor.centres}
        waiting = [robot.id for robot in self.floor.present]
        while waiting:
            inside = [asset.name for asset in self.floor.seen_in(waiting.pop())]
            self.seen.update(inside)
            waiting += inside
        self.used = {name for name in self.floor.active if name in self.seen}
        self.used |= {name for name, note in self.memory.items() if note.endswith(" used")}
        self.others = [robot for robot in self.floor.present if robot.id != self.seat]
        present = {robot.id for robot in self.floor.present}
        self.absent = [robot.id for robot in self.floor.scene.robots if robot.id not in present]
        self.reason = self.state.reason_for(self.seat)

    @property
    def me(self) -> Robot:
        return next(robot for robot in self.floor.present if robot.id == self.seat)

    def reached(self, robot: str, thing: str) -> bool:
        """Whether a robot in view reaches for a thing."""
        return thing in self.floor.reached.get(robot, ())

    def kitchen(self, partner: str = "") -> Scene:
        """The kitchen as believed, with robots in view and, where `partner` is a type, those that are not."""
        scene, extra = self.floor.scene, list[Area]()
        assets = {asset.name: asset for asset in scene.assets if asset.name in self.seen}

        def away(name: str) -> str:
            extra.append(Area(f"{UNSEEN}{name}", 1000.0 * (len(extra) + 1), 1000.0, 1.0, 1.0, 0.9))
            return extra[-1].name

        def add(name: str, inside: tuple[str, ...] = ()) -> None:
            if name in assets or name not in KINDS:
                return
            words = self.memory.get(name, "").removesuffix(" used")
            closed = words.endswith(" closed") or (name == "cabinet" and not words)
            place = words.removesuffix(" closed").removesuffix(" open")
            if (
                place in KINDS
                and KINDS[place].holds
                and place not in (*inside, name)
                and place not in self.seen
            ):
                add(place, (*inside, name))
            elif place not in self.areas or place == self.floor.view_from:
                place = "cabinet" if self._may_hold(assets.get("cabinet"), name) else away(name)
            assets[name] = Asset(name, name, place, closed)

        for name in names_in(scene.task):
            add(name)
        robots = [robot for robot in scene.robots if robot.id not in self.absent]
        for robot in self.absent if partner else ():
            place = self.memory.get(robot, "").partition(" ")[2]
            known = place in self.areas and place != self.floor.view_from
            robots.append(Robot(robot, partner, place if known else away(robot)))
        order = {asset.name: number for number, asset in enumerate(scene.assets)}
        return replace(
            scene,
            areas=(*scene.areas, *extra),
            assets=tuple(sorted(assets.values(), key=lambda asset: order.get(asset.name, len(order)))),
            robots=tuple(sorted(robots, key=lambda robot: robot.id)),
            task=self._task(scene.task, assets),
            plan=(),
            limit=None,
        )

    def _may_hold(self, cabinet: Asset | None, name: str) -> bool:
        """Whether something not in view may be in the closed cabinet that is: the task names that."""
        task = self.floor.scene.task
        return (
            cabinet is not None
            and cabinet.closed
            and "cabinet" in task.text
            and "cabinet" not in names_in(task)
            and not KINDS[name].fixture
            and name == task.goals[-1].thing
        )

    def _task(self, task: KitchenTask, assets: dict[str, Asset]) -> KitchenTask:
        """What is still to be done. Where a thing must be in the area of another, that is believed too."""

        def area(name: str) -> str:
            while name in assets:
                name = assets[name].place
            return name

        def believed(stage: Sequence[Condition]) -> tuple[Condition, ...]:
            anchor = next((one.place for one in stage if one.place and not one.along), None)
            return tuple(replace(one, place=area(anchor)) if one.along and anchor else one for one in stage)

        done = {one for one in task.conditions if one.active and one.thing in self.used}
        orders = (tuple(map(believed, order)) for order in task.orders if not done & {*order[-1]})
        return replace(task, goals=tuple(one for one in task.goals if one not in done), orders=tuple(orders))

    def news(self) -> str:
        """What it sees of the task and of partners and has not said yet."""
        things = {asset.name: asset for asset in self.floor.scene.assets if asset.name in self.seen}
        names = [name for name in names_in(self.floor.scene.task) if name in things]
        for name in names:
            if (place := things[name].place) in things and place not in names:
                names.append(place)
        notes = {}
        for name in names:
            asset = things[name]
            if asset.place not in {robot.id for robot in self.floor.present}:
                used = "used" if name in self.used else ""
                notes[name] = " ".join(filter(None, (asset.place, asset.door, used)))
        notes |= {robot.id: f"{robot.type} {robot.place}" for robot in self.others}
        new = (f"{name} {note}" for name, note in notes.items() if self.memory.get(name) != note)
        return "; ".join(new)[:MESSAGE]


@dataclass
class Choice:
    """What the mate does, and what it has in mind."""

    action: Action | None = None
    scene: Scene | None = None
    plan: Plan = field(default_factory=list)
    message: str = ""


def choose(belief: Belief) -> Choice:
    """The next action of a robot.

    The partner is thought to be `bot/oracle`, which plans again wherever a step was not as planned, and then
    forgets what it has reached for: so beside a partner, the mate does what such a plan has for it.
    """
    reason = belief.reason
    insists = any(f"{robot.id} {verb}" in reason for robot in belief.others for verb in COUNTERPARTS)
    if insists or "comes too early" in reason or "stands still" in reason:
        return Choice()
    choice = _beside(belief) if belief.others else _alone(belief)
    if choice.action and choice.action[0] == "Place":
        choice = _bring(belief, choice)
    action = choice.action
    if action and action[0] == "Move":
        choice.message = belief.news()
        choice.action = ("Move", action[1].removeprefix(UNSEEN))
    elif action and action[1:] and any(name.startswith(UNSEEN) for name in action):
        choice.action = tuple(name.removeprefix(UNSEEN) for name in action)
    return choice


def _bring(belief: Belief, choice: Choice) -> Choice:
    """What it does with what it holds, where a plan with time to spare would put that down elsewhere."""
    held = [asset.name for asset in belief.floor.seen_in(belief.seat)]
    wanted = [one for one in belief.floor.scene.task.conditions if one.thing in held and one.place]
    assert choice.action is not None
    if not wanted or choice.action[1] in {one.place for one in wanted}:
        return choice
    scene = of_robots(choice.scene or belief.kitchen(), [belief.me])
    rest = without(scene, [goal.thing for goal in scene.task.goals if goal.thing not in held])
    if plan := plan_in(rest):
        return _next(belief, rest, plan)
    place = wanted[0].place or ""
    here = belief.floor.view_from in (place, belief.floor.area_of(place) if place in belief.seen else "")
    return replace(choice, action=None if here else ("Move", place))


def _beside(belief: Belief) -> Choice:
    """Its part of a shortest plan of all robots in view."""
    seat, steps, scene = belief.seat, belief.state.steps, belief.kitchen()
    plan = plan_in(scene)
    if not plan:
        return _part(belief, scene) if plan is None else Choice(scene=scene)
    waited = (steps, seat, f"{seat} {WAIT}") in belief.state.messages
    held = any(belief.floor.seen_in(robot.id) for robot in belief.others)
    if (
        (steps == 0 or waited)
        and steps < (TRUSTING_MORE if held else TRUSTING)
        and not belief.floor.seen_in(seat)
    ):
        theirs = plan_in(of_robots(scene, belief.others))
        if theirs is not None and len(theirs) <= len(plan):
            return Choice(None, scene, theirs, f"{seat} {WAIT}")
    if not held and not any(belief.floor.reached.get(robot.id) for robot in belief.others):
        mine = plan_in(of_robots(scene, [belief.me]))
        if mine is not None and len(mine) <= len(plan):
            plan = mine
    action = plan[0].get(seat)
    clash = "both act" in belief.reason
    if clash and action:
        theirs_now = [name for name in action[1:] for one in belief.others if belief.reached(one.id, name)]
        rest = without(of_robots(scene, [belief.me]), theirs_now)
        if theirs_now and rest.task.goals and (other := plan_in(rest)) and other[0][seat][0] != "Interact":
            return Choice(other[0][seat], rest, other)
    if clash or not action or action[0] != "Reach" or not belief.reached(seat, action[1]):
        return Choice(action, scene, plan)
    # It has reached that already. Where partners have not begun, too, they may be planning again.
    following = plan[1].get(seat) if len(plan) > 1 else None
    begun = [step for robot in belief.others if (step := plan[0].get(robot.id))]
    ready = all(
        belief.reached(robot.id, plan[0][robot.id][-1]) for robot in belief.others if robot.id in plan[0]
    )
    again = following is None if ready else any(step[0] == "Reach" for step in begun)
    return Choice(action if again and steps % 2 == 0 else following, scene, plan)


def _alone(belief: Belief) -> Choice:
    """The first step of what it can do with nobody in view; it waits, or goes, where others must help."""
    scene = belief.kitchen()
    plan = plan_in(scene)
    if plan is None:
        return _part(belief, scene)
    known = belief.memory.get(belief.absent[0], "").partition(" ")[0] if belief.absent else ""
    if known in ROBOTS:
        kitchen = belief.kitchen(known)
        both = plan_in(kitchen)
        if both is not None and len(both) < len(plan):
            scene, plan = kitchen, tidy(kitchen, both)
    return _next(belief, scene, plan)


def _part(belief: Belief, scene: Scene) -> Choice:
    """What is left to do where it cannot do everything."""
    things = dict.fromkeys(goal.thing for goal in scene.task.goals)
    if not belief.others:
        hard = [name for name in things if plan_in(without(scene, things.keys() - {name})) is None]
        rest = without(scene, hard)
        if hard and rest.task.goals and (plan := plan_in(rest)):
            ordered = {one.thing for order in scene.task.orders for stage in order for one in stage}
            if plan[0][belief.seat][0] != "Interact" or not ordered & {*hard}:
                return _next(belief, rest, plan)
    best: tuple[Scene, Plan] | None = None
    for robot in belief.absent[:1]:
        known = belief.memory.get(robot, "").partition(" ")[0]
        for kind in (known,) if known in ROBOTS else USUAL:
            kitchen = belief.kitchen(kind)
            plan_of_all = plan_in(kitchen)
            if plan_of_all is not None and (best is None or len(plan_of_all) < len(best[1])):
                best = kitchen, plan_of_all
    if best is None:
        return Choice(scene=scene)
    kitchen, plan = best
    # A shortest plan may have steps that nobody needs. Partners wait for them: so now and then it does them.
    return _next(belief, kitchen, plan if belief.state.steps % 4 == 0 else tidy(kitchen, plan))


def _next(belief: Belief, scene: Scene, plan: Plan) -> Choice:
    """The first step of a plan that it has not done."""
    action = plan[0].get(belief.seat) if plan else None
    if action and action[0] == "Reach" and belief.reached(belief.seat, action[1]):
        action = plan[1].get(belief.seat) if len(plan) > 1 else None
    return Choice(action, scene, plan)


def thoughts(belief: Belief, choice: Choice) -> str:
    """What leads from the picture to the action: heights, what is where, what it reaches, who does what.

    "table 20: 75; pear 42: table; bowl unseen; R1 44: fetch table pear; R1 pear; R1 Grasp pear Place bowl; 5"
    """
    scene = choice.scene or belief.kitchen()
    assets = (
        replace(asset, place="unseen") if asset.place.startswith(UNSEEN) else asset for asset in scene.assets
    )
    shown = replace(scene, assets=tuple(assets), robots=belief.floor.present)
    parts = [*_heights(belief), seen_in(shown, belief.floor).strip(" ;"), _within_reach(belief)]
    if choice.plan:
        parts += [*subgoals(replace(scene, plan=tuple(choice.plan))), str(len(choice.plan))]
    return "; ".join(part for part in parts if part).replace(UNSEEN, "")


def _heights(belief: Belief) -> Iterator[str]:
    """Of the area it is in and of those that the task names, where their headings are, in centimetres."""
    named = {*names_in(belief.floor.scene.task), belief.floor.view_from}
    for area in belief.floor.scene.areas:
        if area.name in named:
            box = belief.floor.surfaces[area.name]
            at = pointer((box.x + box.w / 2) / SIDE, (box.y + HEAD / 2) / SIDE)
            yield f"{area.name} {at} {100 * area.height:.0f}"


def _within_reach(belief: Belief) -> str:
    """What it could take of the things of the task that lie here."""
    kind, scene = ROBOTS[belief.me.type], belief.kitchen()
    world = World(scene)
    start = world.start()._replace(closed=0)
    names = [
        asset.name
        for asset in concerned(scene)
        if asset.name in belief.floor.centres
        and kind.arms
        and kind.low <= world.height(start, world.code[asset.name]) <= kind.high
    ]
    return " ".join([belief.seat, *(names or ["nothing"])])


@dataclass
class Mate(Agent):
    """Plans in the kitchen that it believes in, and says what it saw where it leaves an area."""

    reason: bool = option(False, help="say first what is where, and what each robot does, for imitation")
    only: str = option(
        "", help="the seat in which it is the mate, such as R1; in the others it is bot/oracle"
    )
    silent: bool = option(False, help="send no messages, and so remember nothing")
    slips: float = option(0.0, low=0, high=1, help="share of its actions that are random ones")
    kind = "recipes.viki_mate:Mate"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, TeamState)
        if self.only and ask.seat != self.only:
            answer = state.solution(ask.seat) or ""
            return Reply(ask.format.write(answer), answer)
        belief = Belief(state, ask.seat)
        if self.slips and self.random.random() < self.slips:
            answer = view_of(self.game, RenderOptions(), 0).guess(state, ask.seat, self.random)
            return Reply(ask.format.write(answer), answer)
        choice = choose(belief)
        answer = write_turn(choice.action, "" if self.silent else choice.message)
        thought = f"<think>{thoughts(belief, choice)}</think>" if self.reason else ""
        return Reply(f"{thought}{ask.format.write(answer)}", answer)
