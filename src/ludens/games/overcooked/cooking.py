"""The rules of the kitchen: one step of both chefs, as pure functions on frozen snapshots.

The order within a step is that of Overcooked-AI: chef_0 interacts, then chef_1; both move; then pots cook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ludens.core.legal import Legal
from ludens.core.random import Stream
from ludens.games.overcooked.kitchens import COUNTER, DISHES, FLOOR, HATCH, ONIONS, POT, Kitchen

ACTIONS = Legal(("UP", "DOWN", "RIGHT", "LEFT", "STAY", "INTERACT"))
POT_HOLDS, COOK_STEPS = 3, 5

NOTHING, ONION, DISH = "", "onion", "dish"
SOUPS = ("soup of 1 onion", "soup of 2 onions", "soup of 3 onions")
"""Plated soups, by the onions in them."""

EVENTS = (
    "onions_potted",
    "dishes_taken",
    "dishes_useful",
    "pots_started",
    "soups_plated",
    "soups_delivered",
    "weak_soups_delivered",
)
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
        """Whether the soup can be plated."""
        return self.cooked == COOK_STEPS


class Snapshot(NamedTuple):
    """The visible state of the kitchen at one step."""

    chefs: tuple[Chef, ...]
    pots: tuple[Pot, ...]
    counters: tuple[tuple[int, str], ...] = ()
    """Every counter with an object on it, by cell."""


def opening(place: Kitchen) -> Snapshot:
    """The first snapshot: empty hands, empty pots, both chefs looking up."""
    return Snapshot(tuple(Chef(cell, "UP") for cell in place.starts), (Pot(),) * len(place.pots))


def random_opening(place: Kitchen, random: Stream) -> Snapshot:
    """A first snapshot drawn at random: cells, directions, hands, pots, and up to two things on counters."""
    floor = place.all(FLOOR)
    chefs = tuple(
        Chef(
            cell, random.choice(tuple(place.steps)), random.choice((NOTHING, NOTHING, ONION, DISH, SOUPS[-1]))
        )
        for cell in random.sample(floor, len(place.starts))
    )
    begun = (*(Pot(onions) for onions in range(POT_HOLDS + 1)), Pot(POT_HOLDS, random.between(0, COOK_STEPS)))
    pots = tuple(random.choice(begun) for _ in place.pots)
    counters = random.sample(place.all(COUNTER), random.between(0, 2))
    return Snapshot(chefs, pots, tuple(sorted((cell, random.choice((ONION, DISH))) for cell in counters)))


def after(
    place: Kitchen, snapshot: Snapshot, actions: Sequence[str], strict: bool = False
) -> tuple[Snapshot, list[CookingEvent]]:
    """The next snapshot, and the events of this step.

    Args:
        place: The kitchen.
        snapshot: What there is before the step.
        actions: One of `ACTIONS` for each chef.
        strict: Whether dishes count as useful by the released code's rule (see `_useful`).
    """
    events: list[CookingEvent] = []
    now = snapshot
    for number, action in enumerate(actions):
        if action == "INTERACT":
            now = _interact(place, now, number, snapshot.pots, strict, events)
    pots = tuple(
        pot._replace(cooked=pot.cooked + 1) if 0 <= pot.cooked < COOK_STEPS else pot for pot in now.pots
    )
    return Snapshot(_moved(place, now.chefs, actions), pots, now.counters), events


def _interact(
    place: Kitchen,
    now: Snapshot,
    number: int,
    before: tuple[Pot, ...],
    strict: bool,
    events: list[CookingEvent],
) -> Snapshot:
    chef = now.chefs[number]
    holds, pots, counters = chef.holds, now.pots, now.counters
    front = chef.cell + place.steps[chef.facing]
    tile = place.tiles[front]
    if tile == COUNTER:
        lying = dict(counters)
        if bool(holds) != (front in lying):
            found = lying.pop(front, NOTHING)
            if holds:
                lying[front] = holds
            holds, counters = found, tuple(sorted(lying.items()))
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
    return Snapshot(tuple(chefs), pots, counters)


def _at_pot(holds: str, pot: Pot) -> tuple[str, Pot, str]:
    """The held object and the pot after an INTERACT, and its event."""
    if holds == ONION and pot.open:
        return NOTHING, Pot(pot.onions + 1), "onions_potted"
    if not holds and pot.onions and pot.cooked < 0:
        return NOTHING, Pot(pot.onions, 0), "pots_started"
    if holds == DISH and pot.ready:
        return SOUPS[pot.onions - 1], Pot(), "soups_plated"
    return holds, pot, ""


def _useful(now: Snapshot, pots: tuple[Pot, ...], strict: bool) -> bool:
    """Whether a dish taken now earns: some pot held onions when the step began.

    By the released code's rule no dish may lie on a counter, and fewer dishes must be held than there are
    pots with onions in them; a full pot that nobody has started does not count there.
    """
    if not strict:
        return any(pot.onions for pot in pots)
    waiting = sum(pot.cooked >= 0 or 0 < pot.onions < POT_HOLDS for pot in pots)
    held = sum(chef.holds == DISH for chef in now.chefs)
    return held < waiting and all(lying != DISH for _, lying in now.counters)


def _moved(place: Kitchen, chefs: tuple[Chef, ...], actions: Sequence[str]) -> tuple[Chef, ...]:
    """Both chefs turned, and moved unless they would collide or swap places."""
    if not any(action in place.steps for action in actions):
        return chefs
    goals = []
    for chef, action in zip(chefs, actions, strict=True):
        there = chef.cell + place.steps.get(action, 0)
        goals.append(there if place.tiles[there] == FLOOR else chef.cell)
    here = [chef.cell for chef in chefs]
    if goals[0] == goals[1] or goals == here[::-1]:
        goals = here
    return tuple(
        Chef(cell, action if action in place.steps else chef.facing, chef.holds)
        for chef, action, cell in zip(chefs, actions, goals, strict=True)
    )
