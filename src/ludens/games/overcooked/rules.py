"""Overcooked: two chefs cook onion soup together and share the reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import stream
from ludens.core.state import Legal, State
from ludens.games.overcooked.cooking import ACTIONS, EVENTS, Snapshot, after, opening, random_opening
from ludens.games.overcooked.kitchens import LAYOUTS, kitchen

SEATS = ("chef_0", "chef_1")
FRAMES = 4

POINTS = {
    "paper": {"onions_potted": 2, "dishes_useful": 2, "soups_plated": 2, "soups_delivered": 10},
    "released": {"onions_potted": 3, "dishes_useful": 3, "soups_plated": 5, "soups_delivered": 10},
}
"""Points per event: a soup of three onions earns 20 by the paper, 27 by its released code."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A snapshot with its step, the score so far, and the actions that led to it."""

    step: int
    score: int
    snapshot: Snapshot
    actions: tuple[str, ...] = ()


class OvercookedState(State):
    """The most recent frames, the current one last, and the counters of each chef."""

    def __init__(self, game: Overcooked, first: Snapshot) -> None:
        self.game = game
        self.kitchen = kitchen(game.layout)
        self.frames: tuple[Frame, ...] = (Frame(0, 0, first),)
        self.counts = [dict.fromkeys(EVENTS, 0) for _ in SEATS]

    @property
    def step(self) -> int:
        """Steps played."""
        return self.frames[-1].step

    @property
    def score(self) -> int:
        """Points earned by both."""
        return self.frames[-1].score

    @property
    def snapshot(self) -> Snapshot:
        """The kitchen now."""
        return self.frames[-1].snapshot

    @property
    def to_act(self) -> tuple[str, ...]:
        return SEATS if self.step < self.game.horizon else ()

    def legal(self, seat: str) -> Legal:
        return ACTIONS if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        both = tuple(actions[seat] for seat in SEATS)
        snapshot, events = after(self.kitchen, self.snapshot, both, strict=self.game.variant == "released")
        score, points = self.score, POINTS[self.game.variant]
        for chef, event in events:
            self.counts[chef][event] += 1
            score += points.get(event, 0)
        self.frames = (*self.frames[1 - FRAMES :], Frame(self.step + 1, score, snapshot, both))

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
class Overcooked(Game):
    """Two chefs in a small kitchen cook onion soup and serve it.

    Seats: `chef_0` (blue) and `chef_1` (green), acting at the same time; nothing else is left to chance
    than the opening, where that is random.
    Observation: the four most recent frames of the kitchen, the latest last, each with step and score; in
    words, the joint actions that led to them and what the seat holds. Both chefs see the same kitchen.
    Actions: `UP`, `DOWN`, `RIGHT`, `LEFT` turn and, where the floor is free, move; two chefs who would meet
    in one cell or change places both stay; `INTERACT` works on the tile in front; `STAY`.
    Rules: a pot takes three onions; an INTERACT with empty hands starts it, whatever is in it; five steps
    later the soup can be plated with a dish and brought to the serving hatch. A counter holds one thing.
    Rewards, shared: +2 for an onion put into a pot, +2 for a dish taken from the rack while a pot holds
    onions, +2 for a soup plated, +10 for a soup of three onions delivered; the variant `released` gives 3, 3,
    5 and 10, and its dish counts only while no dish lies on a counter and fewer dishes are held than pots
    are in use.
    Ends after `horizon` steps. With `opening=random`, cells, directions, hands, pots and counters are drawn
    at the start.
    """

    name = "overcooked"
    seats = SEATS
    version = 3
    view_class = "ludens.games.overcooked.view:OvercookedView"
    best = "bot/planner"
    bots = {
        "planner": "ludens.games.overcooked.bots:Planner",
        "optimal": "ludens.games.overcooked.bots:Optimal",
        "greedy": "ludens.games.overcooked.bots:Greedy",
    }

    layout: str = option("cramped_room", choices=tuple(LAYOUTS), help="the kitchen")
    horizon: int = option(50, low=1, high=1000, help="steps until the game ends")
    variant: str = option(
        "paper",
        choices=tuple(POINTS),
        help="the paper's points, or those of its released code",
    )

    opening: str = option(
        "usual",
        choices=("usual", "random"),
        help="start with empty hands and pots, or with a random kitchen",
    )

    def start(self, seed: int) -> OvercookedState:
        place = kitchen(self.layout)
        if self.opening == "random":
            return OvercookedState(self, random_opening(place, stream(seed, "kitchen")))
        return OvercookedState(self, opening(place))
