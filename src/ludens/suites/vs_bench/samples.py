"""Samples of strategic reasoning: a decision in a match between known players, and what was done.

A sample is a function of its number. Numbers cycle through the recipe's matches, targets and kinds of action,
each spread evenly according to its share; the decision is a random one that fits and can be predicted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from math import gcd, lcm
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from ludens.agents import agent
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.replay import replay
from ludens.core.spec import Spec, parse_spec
from ludens.core.state import Legal, State
from ludens.core.sync import run_sync
from ludens.games.grid import GridGame, GridState
from ludens.games.hanabi.bots import visible
from ludens.games.hanabi.game import COLORS, HanabiGame, HanabiState, guess_hands
from ludens.games.hanabi.view import tell
from ludens.games.kuhn_poker import CARDS, PLAYERS, Equilibrium, KuhnState, equilibrium
from ludens.games.open_spiel import SpielState
from ludens.games.overcooked.game import OvercookedState
from ludens.games.pong import PongState
from ludens.loop import OnStep, StepEvent, play
from ludens.run.lines import read_records, shards_of
from ludens.run.store import read_plan
from ludens.suites.vs_bench.recipes import RECIPES, recipe_of


def content(state: State, observer: str) -> Hashable:
    """What the observer is asked about, as a key."""
    match state:
        case GridState():
            return observer, tuple(state.cells)
        case OvercookedState():
            return observer, tuple(frame.snapshot for frame in state.frames)
        case HanabiState():
            return observer, tell(state.sight(observer), None)
        case KuhnState():
            return observer, state.infoset(observer)
        case SpielState():
            return observer, str(state.spiel)
    assert isinstance(state, PongState)
    return observer, tuple((frame.ball, frame.left, frame.right) for frame in state.frames)


T = TypeVar("T")

Move = tuple[int, str, State]
"""A step, the action taken, and the state before it."""

ATTEMPTS = 1000


@dataclass(frozen=True)
class PredictionSample:
    """One question: seen by `observer` in `state`, what does `target` do next?"""

    name: str
    state: State
    seat: str
    observer: str
    target: str
    """Both as named in the view that shows the sample."""
    truth: frozenset[str]
    done: str
    likeliest: str
    """The best answer of an observer that knows the target's strategy."""
    options: Legal
    """The answers to choose from; they reveal nothing that the observer may not know."""
    match: str
    step: int
    kind: str
    listed: bool = True


class Decision(NamedTuple):
    """One decision in a match: the step, the action taken, the state before it, the likeliest action."""

    step: int
    action: str
    state: State
    likeliest: str


class Slot(NamedTuple):
    """A match, the seat to predict, and how often the cycle had that before."""

    match: int
    target: str
    turn: int


def sample(name: str, number: int, rule: str = "single") -> PredictionSample:
    recipe = recipe_of(name, rule)
    slot, nth = _slot(name, number, rule)
    kind = wanted_kind(name, number, rule)
    if recipe.per_episode == 1:
        decision = _decision(name, number, rule, slot, kind)
    else:
        group, place = divmod(nth, recipe.per_episode)
        decision = _shared(name, rule, slot.match, group, slot.target, kind)[place]
    return sample_of(name, decision, slot.target, str(recipe.matches[slot.match]), rule)


@lru_cache(maxsize=24)  # an episode is played, verified, shown and graded from its start
def _decision(name: str, number: int, rule: str, slot: Slot, kind: str) -> Decision:
    """A random decision that fits, of a match played for this sample alone."""
    for attempt in range(ATTEMPTS):
        moves = _play_match(name, rule, slot.match, f"{number}/{attempt}")[slot.target]
        order = list(moves)
        stream(number, "moment", name).shuffle(order)
        decision = next(_fitting(name, rule, slot.match, slot.target, kind, order), None)
        if decision is not None:
            return decision
    raise RuntimeError(f"no match of {name} shows {slot.target} doing {kind or 'anything'}")


@lru_cache(maxsize=24)
def _shared(name: str, rule: str, match: int, group: int, target: str, kind: str) -> list[Decision]:
    """The decisions that some samples share, in random order, of as few matches as there must be."""
    most, decisions = recipe_of(name, rule).per_episode, list[Decision]()
    for attempt in range(ATTEMPTS):
        moves = _play_match(name, rule, match, f"{match}/{group}/{attempt}")[target]
        decisions += _fitting(name, rule, match, target, kind, moves)
        if len(decisions) >= most:
            stream(group, "moments", name, match, target, kind).shuffle(decisions)
            return decisions[:most]
    raise RuntimeError(f"no match of {name} shows {target} doing {kind or 'anything'}")


def _fitting(
    name: str, rule: str, match: int, target: str, kind: str, decisions: Iterable[Move]
) -> Iterator[Decision]:
    """The decisions of a kind that can be predicted as surely as the recipe wants."""
    recipe, game = recipe_of(name, rule), game_of(name)
    spec = recipe.matches[match].agents[target]
    player = agent(spec, game).sit(game, target, stream(0, "forecast"))
    assert isinstance(player, Scripted)
    observer = next((seat for seat in game.seats if seat != target), target)
    for step, action, state in decisions:
        if kind and recipe.kind_of(action) != kind:
            continue
        shares = forecast(player, state, observer, stream(step, "forecast", name))
        likeliest = max(shares, key=lambda option: shares[option])
        same_outcome = _equivalent(game, state, target, likeliest)
        if not recipe.certain or (shares[likeliest] >= recipe.certain and len(same_outcome) == 1):
            yield Decision(step, action, state, likeliest)


def sample_of(name: str, decision: Decision, seat: str, match: str, rule: str = "single") -> PredictionSample:
    recipe, game, (step, action, state, likeliest) = recipe_of(name, rule), game_of(name), decision
    target = recipe.seat_names.get(seat, seat)
    observer = next(other for other in make(recipe.view_game or recipe.game).seats if other != target)
    truth, options = _equivalent(game, state, seat, action), options_of(game, state, seat)
    answers = (truth, action, likeliest, options)
    kind = recipe.kind_of(action)
    return PredictionSample(name, state, seat, observer, target, *answers, match, step, kind, recipe.listed)


def wanted_kind(name: str, number: int, rule: str = "single") -> str:
    kinds = spread(recipe_of(name, rule).classes)
    if not kinds:
        return ""
    # The shift pairs every kind with every slot where the cycle lengths have a common divisor.
    return kinds[(number + number // lcm(len(kinds), len(slots(name, rule)))) % len(kinds)]


@lru_cache(maxsize=16)
def slots(name: str, rule: str = "single") -> tuple[Slot, ...]:
    recipe, seats = recipe_of(name, rule), len(game_of(name).seats)
    shares = {
        (index, target): match.share * seats // len(match.targets)
        for index, match in enumerate(recipe.matches)
        for target in match.targets
    }
    common = gcd(*shares.values())
    cycle = spread({key: share // common for key, share in shares.items()})
    return tuple(Slot(*key, cycle[:place].count(key)) for place, key in enumerate(cycle))


def _slot(name: str, number: int, rule: str) -> tuple[Slot, int]:
    """The slot of a number, and how often its match and target were asked before."""
    cycle = slots(name, rule)
    rounds, place = divmod(number, len(cycle))
    slot = cycle[place]
    return slot, rounds * sum(other[:2] == slot[:2] for other in cycle) + slot.turn


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
        colors = [c for c in range(game.shape.colors) if any(card.colors >> c & 1 for card in own)]
        ranks = [r for r in range(game.shape.ranks) if any(card.ranks >> r & 1 for card in own)]
        names += [f"(Reveal player +1 color {COLORS[color]})" for color in colors]
        names += [f"(Reveal player +1 rank {rank + 1})" for rank in ranks]
    return names


def _equivalent(game: Game, state: State, target: str, action: str) -> frozenset[str]:
    if isinstance(game, GridGame) and isinstance(state, GridState):
        return game.equivalent(state, target, action)
    return frozenset({action})


@lru_cache(maxsize=16)
def game_of(name: str) -> Game:
    return make(RECIPES[name].game)


@lru_cache(maxsize=24)
def _play_match(name: str, rule: str, match: int, label: str) -> dict[str, list[Move]]:
    recipe = recipe_of(name, rule)
    game, players = make(recipe.played or recipe.game), recipe.matches[match]
    seed = stream(0, "vs-bench", name, label).below(2**31)
    moves: dict[str, list[Move]] = {target: [] for target in players.targets}
    before = game.start(seed)

    def watch(event: StepEvent) -> None:
        nonlocal before
        for move in event.moves:
            if move.seat in moves:
                moves[move.seat].append((event.step, move.action, before))
        before = event.state.clone()

    seats = {seat: agent(spec, game) for seat, spec in players.agents.items()}
    run_sync(play(game, seats, seed, config=PlayConfig(horizon=recipe.steps), observer=OnStep(watch)))
    return moves


class RecordedMove(NamedTuple):
    """One move of a run."""

    episode: int
    step: int
    seat: str
    action: str


def recorded(name: str, folder: Path, n: int, seed: int) -> tuple[list[PredictionSample], dict[str, Any]]:
    """Samples balanced over seats and kinds of action, and their sources."""
    plan, episodes = read_plan(folder), _episodes(name, folder)
    if not episodes:
        raise BadOption(f"{str(folder)!r} holds no finished episode of {name} with its usual options.")
    moves = _choose_moves(name, episodes, n, seed)
    samples: dict[RecordedMove, PredictionSample] = {}
    for index in sorted({place.episode for place in moves}):
        samples.update(_cut(name, index, episodes[index], [p for p in moves if p.episode == index]))
    source = {
        "run": plan.identity(),
        "suite": plan.suite,
        "episodes": len(episodes),
        "sha256": sha256(b"".join((folder / name).read_bytes() for name in shards_of(folder))).hexdigest(),
    }
    return [samples[place] for place in moves], source


def _episodes(name: str, folder: Path) -> list[Episode]:
    """Episodes in the order of their keys, which does not depend on how the run was executed."""
    game = game_of(name)
    return [
        record.episode
        for record in sorted(read_records(folder), key=lambda record: record.key)
        if record.episode.status != "void"
        and (record.episode.game, record.episode.options) == (game.name, game.options)
    ]


def _choose_moves(name: str, episodes: Sequence[Episode], n: int, seed: int) -> list[RecordedMove]:
    recipe, seats = recipe_of(name, "paper"), game_of(name).seats
    pools: dict[tuple[str, str], list[RecordedMove]] = defaultdict(list)
    for index, episode in enumerate(episodes):
        for move in episode.moves:
            if move.verdict != "fallback":
                kind = recipe.kind_of(move.action) if recipe.classes else ""
                pools[move.seat, kind].append(RecordedMove(index, move.step, move.seat, move.action))
    for (seat, kind), pool in sorted(pools.items()):
        stream(seed, "recorded", name, seat, kind).shuffle(pool)
    kinds = spread(recipe.classes) or [""]
    moves = []
    for number in range(n):
        seat, kind = seats[number % len(seats)], kinds[number // len(seats) % len(kinds)]
        if not pools[seat, kind]:
            content = f"moves of kind {kind!r}" if kind else "moves"
            raise BadOption(
                f"the run holds too few {content} by {seat} in {name}: they last for {number} samples, "
                f"and {n} are asked for."
            )
        moves.append(pools[seat, kind].pop())
    return moves


def _cut(
    name: str, index: int, episode: Episode, places: Sequence[RecordedMove]
) -> dict[RecordedMove, PredictionSample]:
    # Without the addresses of servers.
    players = map(parse_spec, episode.seats.values())
    match = " v ".join(str(Spec(player.name, None, player.options)) for player in players)
    moves_of_step = {place.step: [p for p in places if p.step == place.step] for place in places}
    samples = {}
    for step in replay(episode, game_of(name)):
        for place in moves_of_step.get(step.index, ()):
            decision = Decision(step.index, place.action, step.state, place.action)
            samples[place] = sample_of(name, decision, place.seat, match, "paper")
    if len(samples) < len(places):
        raise BadFile(f"episode {index} of the run ends before a move that it holds.")
    return samples


HANDS = 24
"""Hands that the observer might hold in Hanabi, drawn to see what the other would do."""


@runtime_checkable
class Scripted(Protocol):
    """A player whose strategy is known."""

    def policy(self, state: State) -> Mapping[str, float]:
        """The probability of each action."""


def forecast(player: Scripted, state: State, observer: str, random: Stream) -> Mapping[str, float]:
    """The probability of each next action of a seated player, as far as the observer may know it.

    The upper bound of every prediction: lots that the player draws and cards that the observer may not see
    stay unknown.

    The player of Hanabi must be `bot/visible`; its possible hands are drawn at random.
    """
    if isinstance(state, HanabiState):
        return _over_hands(state, observer, random)
    if isinstance(state, KuhnState) and isinstance(player, Equilibrium):
        return _over_cards(player.alpha, state, observer)
    return player.policy(state)


def _over_hands(state: HanabiState, observer: str, random: Stream) -> dict[str, float]:
    """Hanabi: the other sees the observer's cards, which the observer does not know."""
    sight, target = state.sight(observer), state.sight(state.to_act[0])
    shares: defaultdict[str, float] = defaultdict(float)
    for faces in islice(guess_hands(sight, random), HANDS):
        hands = list(target.hands)
        hands[sight.me] = tuple(card._replace(face=faces[card.serial]) for card in hands[sight.me])
        shares[visible(replace(target, hands=tuple(hands)))] += 1 / HANDS
    return shares


def _over_cards(alpha: float, state: KuhnState, observer: str) -> dict[str, float]:
    """Kuhn poker: the other holds one of two cards, and what it did tells them apart."""
    me = PLAYERS.index(observer)
    policy, history = equilibrium(alpha), state.history
    bet = total = 0.0
    for card in CARDS.replace(state.cards[me], ""):
        likely = 1.0
        for turn, letter in enumerate(history):
            if turn % 2 != me:
                share = policy[card + history[:turn]]
                likely *= share if letter == "b" else 1 - share
        bet += likely * policy[card + history]
        total += likely
    return {"PASS": 1 - bet / total, "BET": bet / total}
