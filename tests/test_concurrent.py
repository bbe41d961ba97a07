"""Many episodes on one event loop: concurrency, samples of one seed, searches that do not block, failures."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass

import pytest

import ludens
from ludens.agents.vlm import Vlm
from ludens.concurrent import play_sync, rollouts, run_many
from ludens.core.activity import current_activity
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Episode
from ludens.core.sync import run_sync
from ludens.models.chat import Answer, Model, Request
from tests.support.pebbles import Pebbles, Talk
from tests.support.players import Meeting, Slow

GAME = Pebbles()


def bots(spec: str = "bot/random") -> dict[str, Agent]:
    return {seat: ludens.agent(spec, GAME) for seat in GAME.seats}


async def collect(*args: object, **options: object) -> list[Episode]:
    return [episode async for episode in rollouts(*args, **options)]  # type: ignore[arg-type]


async def test_every_seed_is_played_as_often_as_asked() -> None:
    episodes = await collect(GAME, bots(), range(5), samples=3, concurrency=4)
    assert Counter((e.seed, e.sample) for e in episodes) == {(s, n): 1 for s in range(5) for n in range(3)}
    alone = await ludens.play(GAME, bots(), 2, sample=1)
    [same] = [e for e in episodes if (e.seed, e.sample) == (2, 1)]
    assert same.fingerprint() == alone.fingerprint()


async def test_samples_of_one_seed_share_the_deal_and_differ_in_play() -> None:
    game = Pebbles(heap=60)
    agents = {seat: ludens.agent("bot/random", game) for seat in game.seats}
    episodes = await collect(game, agents, [7], samples=6)
    assert len({tuple(move.action for move in e.moves) for e in episodes}) > 1
    starts = {tuple(game.start(e.seed).returns.items()) for e in episodes}
    assert len(starts) == 1
    assert len({e.fingerprint() for e in episodes}) == 6


async def test_no_more_than_the_allowed_number_run_at_once() -> None:
    running = most = 0

    class Counting(Slow):
        async def act(self, ask: Ask) -> Reply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1
            return Reply("take 1")

    agents = {"left": Counting(), "right": ludens.agent("bot/first", GAME)}
    assert len(await collect(GAME, agents, range(12), concurrency=5)) == 12
    assert most == 5


async def test_waiting_episodes_overlap() -> None:
    agents = dict.fromkeys(Talk().seats, Meeting(asyncio.Barrier(20 * 2)))
    async with asyncio.timeout(60):
        assert len(await collect(Talk(), agents, range(20), concurrency=20)) == 20


async def test_the_event_loop_is_idle_once_every_seat_of_every_episode_waits() -> None:
    idle: list[bool] = []

    class Watching(Meeting):
        async def act(self, ask: Ask) -> Reply:
            idle.append(current_activity().idle)
            return await super().act(ask)

    agents = dict.fromkeys(Talk().seats, Watching(asyncio.Barrier(3 * 2)))
    async with asyncio.timeout(60):
        await collect(Talk(), agents, range(3), concurrency=3)
    assert idle[:6] == [False] * 5 + [True]


@dataclass
class Searcher(Agent):
    """Holds its thread until the event, if there is one, before it moves."""

    event: threading.Event | None = None
    kind = "searcher"
    sees = "nothing"
    computes = True

    async def act(self, ask: Ask) -> Reply:
        assert self.event is None or self.event.wait(60)
        return Reply("take 1", "take 1")


async def test_a_search_does_not_block_the_event_loop() -> None:
    event = threading.Event()
    asyncio.get_running_loop().call_later(0.03, event.set)
    episodes = await collect(GAME, dict.fromkeys(GAME.seats, Searcher(event)), range(4), concurrency=4)
    inline = await ludens.play(GAME, bots("bot/first"), 0)
    [same] = [e for e in episodes if e.seed == 0]
    assert [m.action for m in same.moves] == [m.action for m in inline.moves]


def test_a_search_needs_no_event_loop() -> None:
    assert play_sync(GAME, dict.fromkeys(GAME.seats, Searcher()), 0).status == "done"


async def test_jobs_are_requested_again_when_one_has_ended() -> None:
    started: list[int] = []

    async def work(job: int) -> int:
        started.append(job)
        await asyncio.sleep(0)
        return job

    def jobs() -> object:
        yield 1
        yield None  # not now
        yield 2
        yield 3

    assert [result async for result in run_many(work, jobs(), 8)] == [1, 2, 3]  # type: ignore[arg-type]
    assert started == [1, 2, 3]


async def test_an_error_cancels_the_rest() -> None:
    cancelled = 0

    async def work(job: int) -> None:
        nonlocal cancelled
        if job == 0:
            await asyncio.sleep(0.001)
            raise ValueError("broken")
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled += 1
            raise

    with pytest.raises(ValueError, match="broken"):
        _ = [result async for result in run_many(work, range(4), 4)]
    assert cancelled == 3


class Echo(Model):
    """Answers every request with the same legal action; counts them."""

    def __init__(self) -> None:
        super().__init__("vllm/echo@http://127.0.0.1:1/v1")
        self.asked = 0

    async def answer(self, request: Request) -> Answer:
        self.asked += 1
        await asyncio.sleep(0.001)
        return Answer("Action: take 1")


async def test_a_live_model_is_shared_by_all_episodes() -> None:
    model = Echo()
    agents: dict[str, Agent] = dict.fromkeys(GAME.seats, Vlm(model))
    episodes = await collect(GAME, agents, range(8), concurrency=8)
    assert model.asked == sum(len(e.moves) for e in episodes)


async def test_run_sync_works_inside_an_event_loop() -> None:
    episode = run_sync(ludens.play(GAME, dict.fromkeys(GAME.seats, Searcher()), 0))
    assert episode.status == "done"
