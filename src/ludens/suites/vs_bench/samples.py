"""Samples of strategic reasoning: a decision in a match between known players, and what was done.

A sample is a function of its number. Numbers cycle through the recipe's matches, targets and kinds of action,
each spread evenly according to its share; the decision is a random one that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, lcm
from typing import NamedTuple, TypeVar

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.game import Game
from ludens.core.observer import OnStep, StepEvent
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.state import Legal, State
from ludens.core.sync import run_sync
from ludens.games.grid.rules import GridGame, GridState
from ludens.games.hanabi.rules import HanabiGame, HanabiState
from ludens.games.hanabi.table import COLORS
from ludens.loop import play
from ludens.suites.vs_bench.recipes import RECIPES, Match, Recipe

T = TypeVar("T")


@dataclass
class WarmedUp(Agent):
    """Plays randomly for its first moves, then as the given player."""

    player: Agent
    moves: int
    kind = "bot/warmed-up"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees = self.player.sees

    def begin(self) -> None:
        self._seated = self.player.sit(self.game, self.seat, self.random.fork("player"))

    async def act(self, ask: Ask) -> Reply:
        if ask.move >= self.moves:
            return await self._seated.act(ask)
        action = ask.legal.sample(self.random)
        return Reply(action, action)


ATTEMPTS = 1000


@dataclass(frozen=True)
class Sample:
    """One question: seen by `observer` in `state`, what does `target` do next?"""

    name: str
    state: State
    seat: str
    """The seat of the target in the game that was played."""
    observer: str
    target: str
    """Both as named in the view that shows the sample."""
    truth: frozenset[str]
    """Every answer that counts as correct."""
    done: str
    """The action taken."""
    options: Legal
    """The answers to choose from; they reveal nothing that the observer may not know."""
    match: str
    step: int
    kind: str


class Decision(NamedTuple):
    """One decision in a match: the step, the action taken and the state before it."""

    step: int
    action: str
    state: State


class Slot(NamedTuple):
    """A match, the seat to predict, and how often that was asked in this cycle."""

    match: int
    target: str
    asked: int


def sample(name: str, number: int) -> Sample:
    """The sample of this game with this number."""
    recipe = RECIPES[name]
    slot, nth = _slot(name, number)
    match = recipe.matches[slot.match]
    wanted = wanted_kind(name, number)
    group, place = divmod(nth, recipe.per_episode)
    for attempt in range(ATTEMPTS):
        if recipe.per_episode == 1:
            fitting = _fitting(recipe, _played(name, match, f"{number}/{attempt}"), slot.target, wanted)
            place = stream(number, "moment", name).below(len(fitting)) if fitting else 0
        else:
            fitting = _shared(name, slot.match, group, attempt)[slot.target, wanted]
        if place < len(fitting):
            return sample_of(name, fitting[place], slot.target, str(match))
    raise RuntimeError(f"no match of {name} shows {slot.target} doing {wanted or 'anything'}")


def sample_of(name: str, decision: Decision, seat: str, match: str) -> Sample:
    """The question about a decision."""
    recipe, game = RECIPES[name], game_of(name)
    step, done, state = decision
    others = [
        other for other in make(recipe.shown or recipe.game).seats if other != _shown_seat(recipe, seat)
    ]
    return Sample(
        name,
        state,
        seat,
        others[0],
        _shown_seat(recipe, seat),
        _equivalent(game, state, seat, done),
        done,
        options_of(game, state, seat),
        match,
        step,
        recipe.kind_of(done),
    )


def wanted_kind(name: str, number: int) -> str:
    """The kind of action that the sample with this number asks for; empty for any."""
    kinds = spread(RECIPES[name].classes)
    if not kinds:
        return ""
    # The shift pairs every kind with every slot where the cycle lengths have a common divisor.
    return kinds[(number + number // lcm(len(kinds), len(slots(name)))) % len(kinds)]


@lru_cache(maxsize=16)
def slots(name: str) -> tuple[Slot, ...]:
    """One cycle of matches and targets."""
    recipe, seats = RECIPES[name], len(game_of(name).seats)
    shares = {
        (index, target): match.share * seats // len(match.targets)
        for index, match in enumerate(recipe.matches)
        for target in match.targets
    }
    common = gcd(*shares.values())
    cycle = spread({key: share // common for key, share in shares.items()})
    return tuple(Slot(*key, cycle[:place].count(key)) for place, key in enumerate(cycle))


def _slot(name: str, number: int) -> tuple[Slot, int]:
    """The slot of a number, and how often its match and target were asked before."""
    cycle = slots(name)
    rounds, place = divmod(number, len(cycle))
    slot = cycle[place]
    return slot, rounds * sum(other[:2] == slot[:2] for other in cycle) + slot.asked


def spread(shares: Mapping[T, int]) -> list[T]:
    """Every key as often as its share, spread evenly."""
    places = [
        ((2 * n + 1) / share, order, key)
        for order, (key, share) in enumerate(shares.items())
        for n in range(share)
    ]
    return [key for _, _, key in sorted(places, key=lambda place: place[:2])]


def options_of(game: Game, state: State, target: str) -> Legal:
    """The actions the target may take, as far as the observer may know them.

    In Hanabi the target's legal hints would tell the observer its own cards; offered are those that fit what
    the observer knows of them.
    """
    if isinstance(game, HanabiGame) and isinstance(state, HanabiState):
        return Legal(_hanabi_options(game, state, target))
    return state.legal(target)


def _hanabi_options(game: HanabiGame, state: HanabiState, target: str) -> Sequence[str]:
    player = game.seats.index(target)
    sight = state.table.seen_by((player + 1) % len(game.seats))
    cards = range(len(sight.hands[player]))
    names = [f"(Play {slot})" for slot in cards]
    if sight.info < game.shape.most_info:
        names += [f"(Discard {slot})" for slot in cards]
    if sight.info:
        own = sight.hands[sight.me]
        colors = [c for c in range(game.shape.colors) if any(held.colors >> c & 1 for held in own)]
        ranks = [r for r in range(game.shape.ranks) if any(held.ranks >> r & 1 for held in own)]
        names += [f"(Reveal player +1 color {COLORS[color]})" for color in colors]
        names += [f"(Reveal player +1 rank {rank + 1})" for rank in ranks]
    return names


def _equivalent(game: Game, state: State, target: str, done: str) -> frozenset[str]:
    if isinstance(game, GridGame) and isinstance(state, GridState):
        return game.equivalent(state, target, done)
    return frozenset({done})


def _shown_seat(recipe: Recipe, seat: str) -> str:
    return recipe.told.get(seat, seat)


@lru_cache(maxsize=16)
def game_of(name: str) -> Game:
    """The game that is watched."""
    return make(RECIPES[name].game)


def _played(name: str, match: Match, label: str) -> dict[str, list[Decision]]:
    """Play one match: for each target, every decision it made by its own strategy."""
    game, recipe = game_of(name), RECIPES[name]
    random = stream(0, "vs-bench", name, label)
    warm, seed = random.between(0, recipe.warm_up), random.below(2**31)
    seated = {seat: agent(spec, game) for seat, spec in match.agents.items()}
    if warm:
        seated = {seat: WarmedUp(player, warm) for seat, player in seated.items()}
    decisions: dict[str, list[Decision]] = {target: [] for target in match.targets}
    before = game.start(seed)
    made = dict.fromkeys(game.seats, 0)

    def watch(played: StepEvent) -> None:
        nonlocal before
        for move in played.moves:
            if move.seat in decisions and made[move.seat] >= warm:
                decisions[move.seat].append(Decision(played.step, move.action, before))
            made[move.seat] += 1
        before = played.state.clone()

    run_sync(play(game, seated, seed, config=PlayConfig(horizon=recipe.steps), observer=OnStep(watch)))
    return decisions


def _fitting(
    recipe: Recipe, decisions: Mapping[str, list[Decision]], target: str, wanted: str
) -> list[Decision]:
    return [
        decision for decision in decisions[target] if not wanted or recipe.kind_of(decision.action) == wanted
    ]


@lru_cache(maxsize=12)
def _shared(name: str, match: int, group: int, attempt: int) -> dict[tuple[str, str], list[Decision]]:
    """The decisions of a match that many samples share, for each target and kind in random order."""
    recipe = RECIPES[name]
    decisions = _played(name, recipe.matches[match], f"{match}/{group}/{attempt}")
    kept = {}
    for target in recipe.matches[match].targets:
        for wanted in recipe.classes or ("",):
            fitting = _fitting(recipe, decisions, target, wanted)
            stream(group, "moments", name, match, attempt, target, wanted).shuffle(fitting)
            kept[target, wanted] = fitting[: recipe.per_episode]
    return kept
