"""Overcooked: two chefs cook onion soup together and share the reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

from ludens.core.clock import REALTIME_HELP, read_interval
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.twins import TwinGame

FLOOR, COUNTER, POT, ONIONS, DISHES, HATCH = ".XPODS"

LAYOUTS = {
    "cramped_room": ("XXPXX", "O..2O", "X1..X", "XDXSX"),
    "asymmetric_advantages": ("XXXXXXXXX", "O.XSXOX.S", "X...P.1.X", "X2..P...X", "XXXDXDXXX"),
    "coordination_ring": ("XXXPX", "X.1.P", "D2X.X", "O...X", "XOSXX"),
    "forced_coordination": ("XXXPX", "O.X1P", "O2X.X", "D.X.X", "XXXSX"),
    "counter_circuit": ("XXXPPXXX", "X..2...X", "D.XXXX.S", "X..1...X", "XXXOOXXX"),
}
"""`1` and `2` are the floor cells on which chef_0 and chef_1 start."""
RANDOM = "random"
"""The layout that is drawn by seed."""


class Kitchen:
    """A parsed layout."""

    def __init__(self, rows: tuple[str, ...]) -> None:
        self.rows, self.width = rows, len(rows[0])
        cells = "".join(rows)
        self.starts = cells.index("1"), cells.index("2")
        self.tiles = cells.replace("1", FLOOR).replace("2", FLOOR)
        self.pots = self.all(POT)
        self.steps = {"UP": -self.width, "DOWN": self.width, "RIGHT": 1, "LEFT": -1}
        """The offset in cell numbers of a step in each direction."""

    def all(self, tile: str) -> tuple[int, ...]:
        return tuple(cell for cell, kind in enumerate(self.tiles) if kind == tile)

    def name(self, cell: int) -> str:
        row, column = divmod(cell, self.width)
        return f"{'ABCDEFGHI'[row]}{column + 1}"

    def turned(self) -> Kitchen:
        """The kitchen after half a turn: what was at the top is at the bottom, left is right."""
        return _parsed(tuple(row[::-1] for row in reversed(self.rows)))


_parsed = lru_cache(maxsize=4096)(Kitchen)


def kitchen(layout: str) -> Kitchen:
    return _parsed(LAYOUTS[layout])


def shared(place: Kitchen) -> bool:
    """Whether both chefs can reach every type of tile, so that nothing must be handed over."""
    for start in place.starts:
        visited, edge = {start}, {start}
        while edge:
            edge = {cell + step for cell in edge for step in place.steps.values()} - visited
            edge = {cell for cell in edge if place.tiles[cell] == FLOOR}
            visited |= edge
        reached = {place.tiles[cell + step] for cell in visited for step in place.steps.values()}
        if not reached >= {POT, ONIONS, DISHES, HATCH}:
            return False
    return True


SHARED = tuple(name for name in LAYOUTS if shared(kitchen(name)))


def random_kitchen(random: Stream) -> Kitchen:
    """The floor of a layout with everything else in other places: each chef can still reach all of it."""
    while True:
        base = kitchen(random.choice(SHARED))
        floor = base.all(FLOOR)
        beside = {cell + step for cell in floor for step in base.steps.values()}.difference(floor)
        stations = [tile for tile in base.tiles if tile not in (FLOOR, COUNTER)]
        cells = [FLOOR if tile == FLOOR else COUNTER for tile in base.tiles]
        for cell, tile in zip(random.sample(sorted(beside), len(stations)), stations, strict=True):
            cells[cell] = tile
        for cell, chef in zip(random.sample(floor, 2), "12", strict=True):
            cells[cell] = chef
        rows = ["".join(cells[at : at + base.width]) for at in range(0, len(cells), base.width)]
        place = _parsed(tuple(rows))
        if shared(place):
            return place


ACTIONS = Legal(("UP", "DOWN", "RIGHT", "LEFT", "STAY", "INTERACT"))
POT_HOLDS, COOK_STEPS = 3, 5

NOTHING, ONION, DISH = "", "onion", "dish"
SOUPS = ("soup of 1 onion", "soup of 2 onions", "soup of 3 onions")

EVENTS = (
    "onions_potted", "dishes_taken", "dishes_useful", "pots_started", "soups_plated", "soups_delivered",
    "weak_soups_delivered",
)  # fmt: skip
"""The effects of an INTERACT. A useful dish is one that earns points; a weak soup is one that does not."""
CookingEvent = tuple[int, str]
"""Chef number and effect."""


class Chef(NamedTuple):
    """A chef's cell, direction and held object."""

    cell: int
    facing: str
    holds: str = NOTHING


class Pot(NamedTuple):
    """The onions in a pot and the steps they have cooked; -1 until it is started."""

    onions: int = 0
    cooked: int = -1

    @property
    def open(self) -> bool:
        """Whether another onion may go in."""
        return self.cooked < 0 and self.onions < POT_HOLDS

    @property
    def ready(self) -> bool:
        return self.cooked == COOK_STEPS


class KitchenSnapshot(NamedTuple):
    """The visible state of the kitchen at one step."""

    chefs: tuple[Chef, ...]
    pots: tuple[Pot, ...]
    counters: tuple[tuple[int, str], ...] = ()


def opening(place: Kitchen) -> KitchenSnapshot:
    return KitchenSnapshot(tuple(Chef(cell, "UP") for cell in place.starts), (Pot(),) * len(place.pots))


def random_opening(place: Kitchen, random: Stream) -> KitchenSnapshot:
    """A first snapshot drawn at random: cells, directions, hands, pots, and up to two things on counters."""
    floor = place.all(FLOOR)
    things = (NOTHING, NOTHING, ONION, DISH, SOUPS[-1])
    chefs = tuple(
        Chef(cell, random.choice(tuple(place.steps)), random.choice(things))
        for cell in random.sample(floor, len(place.starts))
    )
    begun = (*(Pot(onions) for onions in range(POT_HOLDS + 1)), Pot(POT_HOLDS, random.between(0, COOK_STEPS)))
    pots = tuple(random.choice(begun) for _ in place.pots)
    counters = random.sample(place.all(COUNTER), random.between(0, 2))
    lying = sorted((cell, random.choice((ONION, DISH))) for cell in counters)
    return KitchenSnapshot(chefs, pots, tuple(lying))


_OPPOSITE = {"UP": "DOWN", "DOWN": "UP", "LEFT": "RIGHT", "RIGHT": "LEFT"}


def turned(place: Kitchen, snapshot: KitchenSnapshot) -> KitchenSnapshot:
    """The same snapshot in the kitchen after half a turn."""
    last = len(place.tiles) - 1
    chefs = tuple(Chef(last - chef.cell, _OPPOSITE[chef.facing], chef.holds) for chef in snapshot.chefs)
    counters = tuple(sorted((last - cell, lying) for cell, lying in snapshot.counters))
    return KitchenSnapshot(chefs, snapshot.pots[::-1], counters)


def after(
    place: Kitchen, snapshot: KitchenSnapshot, actions: Sequence[str], strict: bool = False
) -> tuple[KitchenSnapshot, list[CookingEvent]]:
    """The next snapshot, and the events of this step; `strict` is the released rule (see `_useful`)."""
    events: list[CookingEvent] = []
    now = snapshot
    for number, action in enumerate(actions):
        if action == "INTERACT":
            now = _interact(place, now, number, snapshot.pots, strict, events)
    pots = tuple(Pot(onions, cooked + (0 <= cooked < COOK_STEPS)) for onions, cooked in now.pots)
    return KitchenSnapshot(_moved(place, now.chefs, actions), pots, now.counters), events


def _interact(
    place: Kitchen,
    now: KitchenSnapshot,
    number: int,
    before: tuple[Pot, ...],
    strict: bool,
    events: list[CookingEvent],
) -> KitchenSnapshot:
    chef = now.chefs[number]
    holds, pots, counters = chef.holds, now.pots, now.counters
    front = chef.cell + place.steps[chef.facing]
    tile = place.tiles[front]
    if tile == COUNTER:
        lying = dict(counters)
        if bool(holds) != (front in lying):
            picked = lying.pop(front, NOTHING)
            if holds:
                lying[front] = holds
            holds, counters = picked, tuple(sorted(lying.items()))
    elif tile == POT:
        at = place.pots.index(front)
        holds, pot, event = _at_pot(holds, pots[at])
        pots = (*pots[:at], pot, *pots[at + 1 :])
        events += [(number, event)] if event else []
    elif tile == ONIONS and not holds:
        holds = ONION
    elif tile == DISHES and not holds:
        holds = DISH
        events += [(number, "dishes_taken")]
        events += [(number, "dishes_useful")] if _useful(now, before, strict) else []
    elif tile == HATCH and holds in SOUPS:
        events += [(number, "soups_delivered" if holds == SOUPS[-1] else "weak_soups_delivered")]
        holds = NOTHING
    chefs = list(now.chefs)
    chefs[number] = chef._replace(holds=holds)
    return KitchenSnapshot(tuple(chefs), pots, counters)


def _at_pot(holds: str, pot: Pot) -> tuple[str, Pot, str]:
    """The held object and the pot after an INTERACT, and its event."""
    if holds == ONION and pot.open:
        return NOTHING, Pot(pot.onions + 1), "onions_potted"
    if not holds and pot.onions and pot.cooked < 0:
        return NOTHING, Pot(pot.onions, 0), "pots_started"
    if holds == DISH and pot.ready:
        return SOUPS[pot.onions - 1], Pot(), "soups_plated"
    return holds, pot, ""


def _useful(now: KitchenSnapshot, pots: tuple[Pot, ...], strict: bool) -> bool:
    """Whether a dish taken now earns: some pot held onions when the step began.

    By the released code's rule no dish may lie on a counter, and fewer dishes must be held than there are
    pots with onions in them; a full pot that nobody has started does not count there.
    """
    if not strict:
        return any(pot.onions for pot in pots)
    waiting = sum(pot.cooked >= 0 or 0 < pot.onions < POT_HOLDS for pot in pots)
    dishes = sum(chef.holds == DISH for chef in now.chefs)
    return dishes < waiting and all(lying != DISH for _, lying in now.counters)


def _moved(place: Kitchen, chefs: tuple[Chef, ...], actions: Sequence[str]) -> tuple[Chef, ...]:
    """Both chefs turned, and moved unless they would collide or swap places."""
    if not any(action in place.steps for action in actions):
        return chefs
    goals = []
    for chef, action in zip(chefs, actions, strict=True):
        goal = chef.cell + place.steps.get(action, 0)
        goals.append(goal if place.tiles[goal] == FLOOR else chef.cell)
    cells = [chef.cell for chef in chefs]
    if goals[0] == goals[1] or goals == cells[::-1]:
        goals = cells
    return tuple(
        Chef(cell, action if action in place.steps else chef.facing, chef.holds)
        for chef, action, cell in zip(chefs, actions, goals, strict=True)
    )


SEATS = ("chef_0", "chef_1")
FRAMES = 4

POINTS = {
    "paper": {"onions_potted": 2, "dishes_useful": 2, "soups_plated": 2, "soups_delivered": 10},
    "released": {"onions_potted": 3, "dishes_useful": 3, "soups_plated": 5, "soups_delivered": 10},
}
"""Points per event: a soup of three onions earns 20 by the paper, 27 by its released code."""


@dataclass(frozen=True, slots=True)
class KitchenFrame:
    """A snapshot with its step, the score so far, and the actions that led to it."""

    step: int
    score: int
    snapshot: KitchenSnapshot
    actions: tuple[str, ...] = ()


class OvercookedState(State):
    """The most recent frames, the current one last, and the counters of each chef."""

    def __init__(self, game: Overcooked, place: Kitchen, first: KitchenSnapshot) -> None:
        self.game = game
        self.kitchen = place
        self.frames: tuple[KitchenFrame, ...] = (KitchenFrame(0, 0, first),)
        self.counts = [dict.fromkeys(EVENTS, 0) for _ in SEATS]

    @property
    def step(self) -> int:
        return self.frames[-1].step

    @property
    def score(self) -> int:
        return self.frames[-1].score

    @property
    def snapshot(self) -> KitchenSnapshot:
        return self.frames[-1].snapshot

    @property
    def to_act(self) -> tuple[str, ...]:
        return SEATS if self.step < self.game.horizon else ()

    def legal(self, seat: str) -> Legal:
        return ACTIONS if seat in self.to_act else Legal()

    def fallback(self, seat: str) -> str | None:
        return "STAY" if self.game.realtime else None

    def _advance(self, actions: Mapping[str, str]) -> None:
        both = tuple(actions[seat] for seat in SEATS)
        snapshot, events = after(self.kitchen, self.snapshot, both, strict=self.game.variant == "released")
        score, points = self.score, POINTS[self.game.variant]
        for chef, event in events:
            self.counts[chef][event] += 1
            score += points.get(event, 0)
        self.frames = (*self.frames[1 - FRAMES :], KitchenFrame(self.step + 1, score, snapshot, both))

    @property
    def returns(self) -> dict[str, float]:
        return dict.fromkeys(SEATS, float(self.score))

    @property
    def facts(self) -> dict[str, Any]:
        points = POINTS[self.game.variant]
        facts: dict[str, Any] = {"steps": self.step, "score": self.score}
        facts |= {event: sum(counts[event] for counts in self.counts) for event in EVENTS}
        for seat, counts in zip(SEATS, self.counts, strict=True):
            facts[f"{seat}_points"] = sum(points.get(event, 0) * count for event, count in counts.items())
            facts |= {f"{seat}_{event}": count for event, count in counts.items()}
        return facts

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.counts = [counts.copy() for counts in self.counts]
        return copy


@dataclass(frozen=True)
class Overcooked(TwinGame[OvercookedState]):
    """Two chefs in a small kitchen cook onion soup and serve it.

    Seats: `chef_0` (blue) and `chef_1` (green), acting at the same time; nothing else is left to chance
    than the opening, where that is random.
    Observation: the four most recent frames of the kitchen, the latest last, each with step and score; in
    words, the joint actions that led to them and what the seat holds, unless `notes` is false. Both chefs see
    the same kitchen.
    Actions: `UP`, `DOWN`, `RIGHT`, `LEFT` turn and, where the floor is free, move; two chefs who would meet
    in one cell or change places both stay; `INTERACT` works on the tile in front; `STAY`.
    Rules: a pot takes three onions; an INTERACT with empty hands starts it, whatever is in it; five steps
    later the soup can be plated with a dish and brought to the serving hatch. A counter holds one thing.
    Rewards, shared: +2 for an onion put into a pot, +2 for a dish taken from the rack while a pot holds
    onions, +2 for a soup plated, +10 for a soup of three onions delivered; the variant `released` gives 3, 3,
    5 and 10, and its dish counts only while no dish lies on a counter and fewer dishes are held than pots
    are in use.
    Ends after `horizon` steps. With `opening=random`, cells, directions, hands, pots and counters are drawn
    at the start. With `layout=random`, everything on the walls of a layout and the chefs are in other places.
    With `realtime=250ms`, a step lasts so long, and a chef who has not acted by then stays.
    Twins: a kitchen and the same one after half a turn.
    """

    name = "overcooked"
    seats = SEATS
    version = 3
    view_class = "ludens.games.overcooked.view:OvercookedView"
    best = "bot/planner"
    cooperative = True
    presets = {
        "easy": Preset(others="bot/planner"),
        "medium": Preset({"layout": "coordination_ring"}, others="bot/planner"),
        "hard": Preset({"layout": "random", "opening": "random"}, others="bot/greedy"),
        "paper": Preset(others="bot/planner"),
    }
    bots = {
        "planner": "ludens.games.overcooked.bots:Planner",
        "optimal": "ludens.games.overcooked.bots:SoupsOptimal",
        "greedy": "ludens.games.overcooked.bots:Greedy",
    }

    layout: str = option(
        "cramped_room",
        choices=(*LAYOUTS, RANDOM),
        help="the kitchen, or random for one that is drawn by seed",
    )
    horizon: int = option(50, low=1, high=1000, help="steps until the game ends")
    variant: str = option(
        "paper", choices=tuple(POINTS), help="the paper's points, or those of its released code"
    )

    opening: str = option(
        "usual", choices=("usual", "random"), help="start with empty hands and pots, or with a random kitchen"
    )

    notes: bool = option(
        True, help="say in words what the chef holds and what both did, which the pictures show"
    )

    realtime: str = option("", help=REALTIME_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_interval(self.realtime, self.name)

    @property
    def step_seconds(self) -> float | None:
        return read_interval(self.realtime, self.name)

    def actions(self, seat: str) -> tuple[str, ...]:
        return ACTIONS

    def world(self, seed: int) -> OvercookedState:
        random = self.layout == RANDOM
        place = random_kitchen(stream(seed, "layout")) if random else kitchen(self.layout)
        if self.opening == "random":
            return OvercookedState(self, place, random_opening(place, stream(seed, "kitchen")))
        return OvercookedState(self, place, opening(place))

    def pair(self, seed: int) -> tuple[OvercookedState, OvercookedState]:
        first = self.world(seed)
        place = first.kitchen
        return first, OvercookedState(self, place.turned(), turned(place, first.snapshot))
