"""`ludens bench play`: random players without pictures, on one core, next to two other libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks import Row, rate
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make

_EPISODES_PER_LOOP = 50


@dataclass(frozen=True, slots=True)
class Other:
    """Another library that plays tic-tac-toe, used as its documentation shows.

    `play` returns a function that plays one random game through the library's public environment.
    """

    module: str
    package: str
    play: Callable[[], Callable[[int], int]]


def rows(seconds: float) -> Iterator[Row]:
    """Random against random, nothing rendered, per second of one core."""
    tic_tac_toe = make("tic_tac_toe")
    ours = rate(through_state(tic_tac_toe, games=True), seconds)
    yield Row("tic_tac_toe through State", ours, "games/s", 5_000)
    whole = rate(through_play(tic_tac_toe), seconds)
    yield Row("tic_tac_toe through play", whole, "games/s", 1_500)
    breakthrough = rate(through_state(make("breakthrough"), games=True), seconds)
    yield Row("breakthrough through State", breakthrough, "games/s", 500)
    coins = rate(through_state(make("coin_dilemma"), games=False), seconds)
    yield Row("coin_dilemma through State", coins, "steps/s", 100_000)
    for name, other in OTHERS.items():
        try:
            game = other.play() if installed(other.module) else None
        except ImportError:  # it is installed without the packages that this game of it needs
            game = None
        if game is None:
            yield Row(name, None, "games/s", note=f"not installed: pip install '{other.package}'")
            continue
        theirs = rate(game, seconds)
        note = f"compared with tic_tac_toe through State; {whole / theirs:.1f} through play"
        yield Row(name, theirs, "games/s", ratio=ours / theirs, note=note)


def through_state(game: Game, games: bool) -> Callable[[int], int]:
    """Random legal actions directly on the states of one game; counts games or steps."""

    def work(seed: int) -> int:
        state, random, steps = game.start(seed), stream(seed, "bench"), 0
        while to_act := state.to_act:
            state.apply({seat: state.legal(seat).sample(random) for seat in to_act})
            steps += 1
        return 1 if games else steps

    return work


def through_play(game: Game) -> Callable[[int], int]:
    """Whole recorded episodes, many on one event loop as in a run."""
    from ludens.agents import agent
    from ludens.loop import play

    agents = {seat: agent("bot/random", game) for seat in game.seats}

    async def batch(seed: int) -> None:
        for number in range(_EPISODES_PER_LOOP):
            await play(game, agents, seed * _EPISODES_PER_LOOP + number)

    def work(seed: int) -> int:
        asyncio.run(batch(seed))
        return _EPISODES_PER_LOOP

    return work


def installed(module: str) -> bool:
    """Whether the module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _pettingzoo() -> Callable[[int], int]:
    from pettingzoo.classic import tictactoe_v3

    env = tictactoe_v3.env()

    def work(seed: int) -> int:
        random = stream(seed, "bench")
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                mask = observation["action_mask"]
                env.step(random.choice([cell for cell in range(9) if mask[cell]]))
        return 1

    return work


def _textarena() -> Callable[[int], int]:
    import textarena

    env = textarena.make("TicTacToe-v0")

    def work(seed: int) -> int:
        random = stream(seed, "bench")
        env.reset(num_players=2, seed=seed)
        free, over = list(range(9)), False
        while not over:
            env.get_observation()
            cell = random.choice(free)
            free.remove(cell)
            over, _ = env.step(action=f"[{cell}]")
        env.close()
        return 1

    return work


OTHERS = {
    "PettingZoo tictactoe_v3": Other("pettingzoo.classic.tictactoe_v3", "pettingzoo[classic]", _pettingzoo),
    "TextArena TicTacToe-v0": Other("textarena", "textarena", _textarena),
}
