"""`ludens bench play`: random players without pictures, on one core, beside two other libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from ludens.bench import Row
from ludens.bench.clock import rate
from ludens.bench.others import OTHERS, installed
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make


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
        if not installed(other.module):
            yield Row(name, None, "games/s", note=f"not installed: pip install '{other.package}'")
            continue
        theirs = rate(other.play(), seconds)
        note = f"beside tic_tac_toe through State; {whole / theirs:.1f} through play"
        yield Row(name, theirs, "games/s", ratio=ours / theirs, note=note)


def through_state(game: Game, games: bool) -> Callable[[int], int]:
    """One game played with random legal actions straight on its states; counts games or else steps."""

    def work(seed: int) -> int:
        state, random, steps = game.start(seed), stream(seed, "bench"), 0
        while turn := state.to_act:
            state.apply({seat: state.legal(seat).sample(random) for seat in turn})
            steps += 1
        return 1 if games else steps

    return work


_BATCH = 50


def through_play(game: Game) -> Callable[[int], int]:
    """Whole episodes, recorded; one event loop serves a batch, as it does in a run."""
    from ludens.agents import agent
    from ludens.loop import play

    agents = {seat: agent("bot/random", game) for seat in game.seats}

    async def batch(seed: int) -> None:
        for number in range(_BATCH):
            await play(game, agents, seed * _BATCH + number)

    def work(seed: int) -> int:
        asyncio.run(batch(seed))
        return _BATCH

    return work
