"""Many episodes at once on one event loop (`rollouts`), and one episode without one (`play_sync`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from itertools import count
from typing import Any, TypeVar

from ludens.core.agent import Agent
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.loop import play

T = TypeVar("T")
R = TypeVar("R")


async def rollouts(
    game: Game,
    agents: Mapping[str, Agent],
    seeds: Iterable[int],
    *,
    samples: int = 1,
    concurrency: int = 64,
    **options: Any,
) -> AsyncIterator[Episode]:
    """Play each seed `samples` times and yield episodes as they end.

    Agents and their models are shared by all episodes and stay open. The options are those of `play`.
    """
    jobs = ((seed, sample) for seed in seeds for sample in range(samples))

    def start(job: tuple[int, int]) -> Coroutine[Any, Any, Episode]:
        return play(game, agents, job[0], sample=job[1], **options)

    async for episode in run_many(start, jobs, concurrency):
        yield episode


async def run_many(
    start: Callable[[T], Coroutine[Any, Any, R]], jobs: Iterable[T | None], concurrency: int
) -> AsyncIterator[R]:
    """Run jobs concurrently and yield results as they end, those that end together in starting order.

    A job that is None means that none can start now: the next one is requested when a running one has ended.
    """
    source, numbers, wake = iter(jobs), count(), asyncio.Event()
    running: dict[asyncio.Task[R], int] = {}
    completed, batch = list[asyncio.Task[R]](), list[asyncio.Task[R]]()

    def end(task: asyncio.Task[R]) -> None:
        completed.append(task)
        wake.set()

    try:
        while True:
            while len(running) < concurrency and (job := next(source, None)) is not None:
                task = asyncio.create_task(start(job))
                running[task] = next(numbers)
                task.add_done_callback(end)
            if not running:
                return
            await wake.wait()
            wake.clear()
            batch = sorted(completed, key=running.__getitem__)
            completed.clear()
            for task in batch:
                del running[task]
            while batch:
                yield batch.pop(0).result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, *batch, return_exceptions=True)


def play_sync(game: Game, agents: Mapping[str, Agent], seed: int, **options: Any) -> Episode:
    """`play` for code without an event loop; connections of models are closed afterwards."""

    async def play_and_close() -> Episode:
        try:
            return await play(game, agents, seed, **options)
        finally:
            for agent in agents.values():
                await agent.close()

    return asyncio.run(play_and_close())
