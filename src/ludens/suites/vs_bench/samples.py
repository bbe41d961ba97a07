"""Samples of strategic reasoning: a moment of a match between known players, and what one of them did next.

A sample is a function of its number. Numbers run through the recipe's shares in a fixed order, so that every
full cycle holds them exactly; the moment is any of the match, each as likely.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeVar

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.state import FreeText, State
from ludens.core.table import Table
from ludens.games.grid.rules import GridGame
from ludens.games.hanabi.rules import HanabiGame
from ludens.play import play
from ludens.suites.vs_bench.recipes import RECIPES, Recipe

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """One question: seen by `observer` in `state`, what does `target` do next?"""

    game: Game
    state: State
    observer: str
    target: str
    truth: frozenset[str]
    """Every answer that counts as right."""
    done: str
    """What was really done."""
    options: tuple[str, ...]
    """The answers to choose from; they tell the observer nothing that it may not know."""
    match: str
    step: int
    kind: str


def sample(name: str, number: int) -> Sample:
    """The sample of this game with this number."""
    recipe, game = RECIPES[name], _game(name)
    group, place = divmod(number, recipe.per_episode)
    match = _cycle([m for share, m in recipe.matches for _ in range(share)], name, "match")
    agents = match[group % len(match)]
    target = _seat(game, number)
    wanted = _wanted(recipe, name, number)
    for attempt in range(1000):
        moments = _moments(name, group, attempt, tuple(agents.items()), target)
        fitting = [m for m in moments if wanted in ("", recipe.kind_of(m[1]))]
        if recipe.per_episode == 1 and fitting:
            step, done = stream(number, "moment", name).choice(fitting)
        elif place < len(fitting):
            step, done = fitting[place]
        else:
            continue
        state = _state(name, group, attempt, tuple(agents.items()), step)
        return Sample(
            game,
            state,
            _observer(game, target),
            target,
            _equivalent(game, state, target, done),
            done,
            options_of(game, state, target),
            " v ".join(agents.values()),
            step,
            recipe.kind_of(done) if recipe.classes else done,
        )
    raise RuntimeError(f"no match of {name} shows {target} doing {wanted}")


def options_of(game: Game, state: State, target: str) -> tuple[str, ...]:
    """What the target might do, as far as the observer may know it.

    In Hanabi the target's legal hints would tell the observer its own cards, so every hint is offered.
    """
    if isinstance(game, HanabiGame):
        assert isinstance(state.facts["info"], int)
        hints = state.facts["info"] > 0
        full = state.facts["info"] == game.shape.most_info
        names = [f"(Play {i})" for i in range(game.shape.hand)]
        names += [] if full else [f"(Discard {i})" for i in range(game.shape.hand)]
        if hints:
            names += [f"(Reveal player +1 color {c})" for c in "RYGWB"[: game.shape.colors]]
            names += [f"(Reveal player +1 rank {r + 1})" for r in range(game.shape.ranks)]
        return tuple(names)
    legal = state.legal(target)
    assert not isinstance(legal, FreeText)
    return tuple(legal)


def _equivalent(game: Game, state: State, target: str, done: str) -> frozenset[str]:
    if isinstance(game, GridGame):
        return game.equivalent(state, target, done)  # type: ignore[arg-type]
    return frozenset({done})


def _seat(game: Game, number: int) -> str:
    """Targets take turns over the seats; the number's other uses have odd cycles or longer ones."""
    return game.seats[number % len(game.seats)]


def _observer(game: Game, target: str) -> str:
    others = [seat for seat in game.seats if seat != target]
    return others[0] if others else target


def _wanted(recipe: Recipe, name: str, number: int) -> str:
    if not recipe.classes:
        return ""
    kinds = _cycle([kind for kind, share in recipe.classes.items() for _ in range(share)], name, "kind")
    return kinds[number // 2 % len(kinds)]


def _cycle(items: Sequence[T], name: str, what: str) -> list[T]:
    shuffled = list(items)
    stream(0, "vs-bench", name, what).shuffle(shuffled)
    return shuffled


@lru_cache(maxsize=16)
def _game(name: str) -> Game:
    return make(RECIPES[name].game)


@lru_cache(maxsize=512)
def _episode(name: str, group: int, attempt: int, agents: tuple[tuple[str, str], ...]) -> Episode:
    game, recipe = _game(name), RECIPES[name]
    warm = _warm(name, group, attempt)
    seated: dict[str, Agent] = {seat: agent(spec, game) for seat, spec in agents}
    if warm:
        seated = {seat: WarmedUp(player, warm) for seat, player in seated.items()}
    seed = stream(group, "vs-bench", name, attempt).below(2**31)
    return at_once(play(game, seated, seed, table=Table(horizon=recipe.steps)))


def _warm(name: str, group: int, attempt: int) -> int:
    return stream(group, "warm-up", name, attempt).between(0, RECIPES[name].warm_up)


@dataclass
class WarmedUp(Agent):
    """Random for its first moves, then the player it is given."""

    player: Agent
    moves: int
    kind = "bot/warmed-up"

    def __post_init__(self) -> None:
        self.sees = self.player.sees

    def begin(self) -> None:
        self._seated = self.player.sit(self.game, self.seat, self.random.fork("player"))

    async def act(self, ask: Ask) -> Reply:
        if ask.move >= self.moves:
            return await self._seated.act(ask)
        assert not isinstance(ask.legal, FreeText)
        action = self.random.choice(ask.legal)
        return Reply(action, action)


def _moments(
    name: str, group: int, attempt: int, agents: tuple[tuple[str, str], ...], target: str
) -> list[tuple[int, str]]:
    """Every step in which the target acts, with what it did, in a random order."""
    episode = _episode(name, group, attempt, agents)
    warm = _warm(name, group, attempt)
    own = [move for move in episode.moves if move.seat == target]
    moments = [(move.step, move.action) for move in own[warm:]]
    stream(group, "moments", name, attempt, target).shuffle(moments)
    return moments


def _state(name: str, group: int, attempt: int, agents: tuple[tuple[str, str], ...], step: int) -> State:
    episode = _episode(name, group, attempt, agents)
    state = _game(name).start(episode.seed)
    for _, moves in groupby((m for m in episode.moves if m.step < step), key=lambda move: move.step):
        state.apply({move.seat: move.action for move in moves})
    return state


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits: bots answer at once, so no event loop is needed."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("only players that answer at once can be sampled")
