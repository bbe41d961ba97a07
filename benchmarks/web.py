"""`ludens bench web`: how fast the browser app opens a large run, shows an episode, and answers moves.

Runs and episodes are measured in a process of their own (`python -m benchmarks.web EPISODES STEPS`), so
that memory is measured separately; the client of the measurement is part of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from aiohttp import ClientSession, web

from benchmarks import Row, figures_of
from benchmarks.runs import memory_used
from benchmarks.web_play import play_rows
from ludens.agents import agent
from ludens.core.registry import make
from ludens.loop import play
from ludens.run.lines import Head, write_line
from ludens.run.plan import Plan, make_plan
from ludens.run.rows import EPISODES
from ludens.run.task import import_suite, suite
from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import RateLimit

EPISODES_IN_RUN, OPEN_SECONDS, MEGABYTES = 50_000, 2.0, 500
STEP_MS = 30.0
_SUITE = "benchmarks.runs:BenchSuite"


def rows(seconds: float) -> Iterator[Row]:
    """A run of 50,000 episodes is opened, an episode is replayed, 200 people play at once."""
    size = max(100, round(EPISODES_IN_RUN * min(1.0, seconds)))
    figures = figures_of("benchmarks.web", size, max(5, round(60 * seconds)))
    count = figures["episodes"]
    yield Row(
        f"open a run of {count:,} episodes",
        figures["open"],
        "s",
        OPEN_SECONDS,
        note=f"{figures['shown']:,} episodes in the first table, all after {figures['all']:.1f} s",
    )
    yield Row("open it again", figures["again"], "s", OPEN_SECONDS)
    yield Row(f"memory with {count:,} episodes", figures["megabytes"], "MB", MEGABYTES)
    note = f"p95 {figures['step_p95']:.1f} ms, the first {figures['first_step']:.0f} ms; two pictures"
    yield Row("replay step, breakthrough", figures["step"], "ms", STEP_MS, note=note)
    yield from play_rows(seconds)


async def measure(episodes: int, steps: int) -> dict[str, Any]:
    """Serve two runs and look at them."""
    import_suite(_SUITE)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        await _write_run(root / "large", "tic_tac_toe", ("x", "o"), episodes)
        length = await _write_run(root / "replay", "breakthrough", ("black", "white"), 1)
        app = make_app(WebSettings(root), RateLimit(1e9, 1e9))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            async with ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as client:
                await _get(client, "/")
                await asyncio.to_thread(import_module, "scipy.stats")  # the server loads it when it starts
                opened = await _open(client, episodes)
                replayed = await _replay(client, min(steps, length))
        finally:
            await runner.cleanup()
    return {"episodes": episodes, **opened, **replayed, "megabytes": memory_used()}


async def _open(client: ClientSession, episodes: int) -> dict[str, Any]:
    began = perf_counter()
    first = await _get(client, "/run/large")
    opened, text = perf_counter() - began, first
    while _episodes_counted(text) < episodes:
        await asyncio.sleep(1.5)  # as pages do
        text = await _get(client, "/run-results/large")
    everything, again = perf_counter() - began, perf_counter()
    await _get(client, "/run/large")
    return {
        "open": opened,
        "shown": _episodes_counted(first),
        "all": everything,
        "again": perf_counter() - again,
    }


def _episodes_counted(text: bytes) -> int:
    """How many episodes the numbers of a page are about."""
    found = re.search(rb"([\d,]+) of [\d,]+ episodes", text)
    return int(found[1].replace(b",", b"")) if found else 0


async def _replay(client: ClientSession, steps: int) -> dict[str, float]:
    times = []
    for step in range(steps):
        began = perf_counter()
        address = f"/replay?key=bench%3Abench%3A0%3A0&step={step}"
        page = (await _get(client, f"/episode-step{address}")).decode()
        for picture in re.findall(r'src="(/episode-picture/[^"]+)"', page):
            await _get(client, unescape(picture))
        times.append(1000 * (perf_counter() - began))
    rest = times[1:]
    return {"first_step": times[0], "step": median(rest), "step_p95": quantiles(rest, n=20)[-1]}


async def _get(client: ClientSession, path: str) -> bytes:
    async with client.get(path) as reply:
        reply.raise_for_status()
        return await reply.read()


async def _write_run(folder: Path, game: str, seats: tuple[str, str], episodes: int) -> int:
    """A complete run whose episodes differ in nothing but their seeds; returns the steps of one."""
    name = f"{_SUITE}?game={game}&first={seats[0]}&second={seats[1]}&episodes={episodes}&horizon=1000"
    plan: Plan = make_plan(name, {"bench": "bot/random"})
    folder.mkdir()
    (folder / "run.json").write_bytes(plan.to_json())
    game_played = make(game)
    agents = {seat: agent("bot/random", game_played) for seat in seats}
    jobs = list(plan.jobs)
    config = suite(plan.suite).tasks[0].config
    episode = await play(game_played, agents, jobs[0].seed, config=config)
    with (folder / EPISODES).open("wb") as file:
        for job in jobs:
            data = replace(episode, seed=job.seed).to_json()
            head = Head(job.key, job.entrant, job.task, job.seating, job.sample, False, plan.job_hash(job))
            file.write(write_line(head, data))
    return len(episode.moves)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(*map(int, sys.argv[1:])))))
