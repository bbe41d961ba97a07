"""What is worth doing next in a kitchen: errands, and the moment as it will be when one is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ludens.games.overcooked.cooking import (
    COOK_STEPS,
    DISH,
    NOTHING,
    ONION,
    POT_HOLDS,
    SOUPS,
    Moment,
    Pot,
)
from ludens.games.overcooked.kitchens import COUNTER, DISHES, HATCH, ONIONS, Kitchen

ROLES = ("any", "cook", "waiter")
"""A cook brings onions and starts pots, a waiter fetches dishes, plates and serves; `any` does both."""


class Errand(NamedTuple):
    """The cells one of which to interact with, not before so many steps; no cells: nothing to do but wait."""

    kind: str
    cells: tuple[int, ...] = ()
    wait: int = 0


def errand(place: Kitchen, moment: Moment, me: int, role: str = "any") -> Errand:
    """The most useful errand of a chef who trusts the other to finish what the hands hold."""
    holds, other = moment.chefs[me].holds, moment.chefs[1 - me].holds
    if holds in SOUPS:
        return Errand("serve", place.all(HATCH))
    if holds == DISH:
        return _with_dish(place, moment, me, other)
    if holds == ONION:
        return _with_onion(place, moment, me, other)
    full = _pots(place, moment, lambda pot: pot.onions == POT_HOLDS and pot.cooked < 0)
    if full and role != "waiter":
        return Errand("start", full)
    soups = sum(pot.cooked >= 0 or pot.onions == POT_HOLDS for pot in moment.pots)
    missing = sum(POT_HOLDS - pot.onions for pot in moment.pots if pot.open)
    begun = any(pot.onions for pot in moment.pots if pot.open)
    last_on_its_way = begun and missing % POT_HOLDS == 1 and other == ONION
    if (role == "any" and soups + last_on_its_way > (other == DISH)) or role == "waiter":
        return Errand("take dish", (*place.all(DISHES), *_lying(moment, DISH)))
    return Errand("take onion", (*place.all(ONIONS), *_lying(moment, ONION)))


def _with_dish(place: Kitchen, moment: Moment, me: int, other: str) -> Errand:
    cooking = [pot for pot in moment.pots if pot.cooked >= 0]
    if other == DISH and len(cooking) < 2 and me == 0:
        return Errand("drop", _free(place, moment))
    if not cooking:
        return Errand("wait")
    best = max(cooking, key=lambda pot: pot.cooked)
    return Errand("plate", _pots(place, moment, best.__eq__), COOK_STEPS - best.cooked)


def _with_onion(place: Kitchen, moment: Moment, me: int, other: str) -> Errand:
    most = max((pot.onions for pot in moment.pots if pot.open), default=None)
    if most is not None:
        return Errand("pot", _pots(place, moment, lambda pot: pot.open and pot.onions == most))
    stuck = other != NOTHING and any(pot.cooked < 0 for pot in moment.pots)
    unserved = other == ONION and me == 0
    return Errand("drop", _free(place, moment)) if stuck or unserved else Errand("wait")


def done(place: Kitchen, moment: Moment, me: int, task: Errand) -> Moment:
    """The moment as it will be once the errand is done: what the other chef may count on."""
    chefs, pots = list(moment.chefs), list(moment.pots)
    holds = {"take onion": ONION, "take dish": DISH, "plate": SOUPS[-1]}.get(task.kind, NOTHING)
    if task.kind != "wait":
        chefs[me] = chefs[me]._replace(holds=holds)
    for at, cell in enumerate(place.pots):
        if cell in task.cells[:1]:
            filled = Pot(pots[at].onions + 1)
            pots[at] = {"pot": filled, "start": Pot(pots[at].onions, 0), "plate": Pot()}[task.kind]
    return Moment(tuple(chefs), tuple(pots), moment.counters)


def _pots(place: Kitchen, moment: Moment, wanted: Callable[[Pot], bool]) -> tuple[int, ...]:
    return tuple(cell for cell, pot in zip(place.pots, moment.pots, strict=True) if wanted(pot))


def _lying(moment: Moment, what: str) -> tuple[int, ...]:
    return tuple(cell for cell, lying in moment.counters if lying == what)


def _free(place: Kitchen, moment: Moment) -> tuple[int, ...]:
    taken = dict(moment.counters)
    return tuple(cell for cell in place.all(COUNTER) if cell not in taken)
