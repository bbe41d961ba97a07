"""`ludens bench spy`: whole games of scripted players on drawn scenes, on one core."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time

from benchmarks import Row, rate
from ludens.concurrent import rollouts
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions, Sees
from ludens.games.spy.flat import Floor
from ludens.games.spy.scene import make_pair
from ludens.loop import play

GAMES, IN_FLIGHT = 10_000, 256
MEGABYTES = 500.0
_BATCH = 20


@dataclass
class Script(Agent):
    """Gives a fixed clue and votes for player 1, in a box that is read like any model's reply."""

    kind = "script"
    encodes: bool = False
    """Whether pictures are encoded as they are for a request."""

    def __init__(self, sees: Sees, encodes: bool = False, waits: bool = False) -> None:
        self.sees, self.encodes, self.waits = sees, encodes, waits

    async def act(self, ask: Ask) -> Reply:
        if self.waits:
            await asyncio.sleep(0)
        for picture in ask.observation.images if self.encodes else ():
            picture.data_uri()
        boxed = "There is a large red metal cube" if ask.legal.is_text else "1"
        return Reply(f"Let me compare the clues with what I see.\n\\boxed{{{boxed}}}")


def rows(seconds: float) -> Iterator[Row]:
    """Scripted games with four civilians and two rounds of clues, per second of one core."""
    yield Row("pairs drawn and encoded", rate(_pairs(), seconds), "pairs/s", 400)
    yield Row("games without rendering", rate(_games(Script("nothing")), seconds), "games/s", 300)
    games = rate(_games(Script("image", encodes=True)), seconds)
    yield Row("games with all pictures drawn and encoded", games, "games/s", 60)
    count = max(1, min(GAMES, round(GAMES * seconds)))
    speed, peak = _in_flight(count)
    note = f"{count:,} games, {IN_FLIGHT} in flight, {speed:,.0f} games/s; the target is an upper limit"
    yield Row("peak memory of the process", peak, "MB", MEGABYTES, note=note)


def _pairs() -> Callable[[int], int]:
    floor = Floor("classic", 512)

    def work(seed: int) -> int:
        pair = make_pair(stream(seed, "pair"))
        for scene in (pair.original, pair.modified):
            floor.draw(scene).data_uri()
        return 1

    return work


def _games(player: Agent) -> Callable[[int], int]:
    game = make("spy")
    agents = dict.fromkeys(game.seats, player)

    async def batch(seed: int) -> None:
        for number in range(_BATCH):
            await play(game, agents, seed * _BATCH + number, render=RenderOptions())

    def work(seed: int) -> int:
        asyncio.run(batch(seed))
        return _BATCH

    return work


def _in_flight(count: int) -> tuple[float, float]:
    """Games per second and peak memory in megabytes while many games run at once, all pictures encoded."""
    import resource

    game = make("spy")
    agents = dict.fromkeys(game.seats, Script("image", encodes=True, waits=True))

    async def run() -> None:
        async for _ in rollouts(game, agents, range(count), concurrency=IN_FLIGHT):
            pass

    began = process_time()
    asyncio.run(run())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return count / (process_time() - began), peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
