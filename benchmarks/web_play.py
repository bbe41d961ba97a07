"""How long people wait for the answer to a move when many play at once.

The server is a process of its own (`python -m benchmarks.web_play RUNS CORES`); the people are coroutines
here. Each thinks for a second on average, which is less than people do. Every move is on the disk before it
is answered.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import orjson
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, web

from benchmarks import ROOT, Row
from ludens.core.random import stream

PEOPLE, P95_MS = 200, 50.0
CPU_MS = 1000 / PEOPLE
"""With more, one core could not answer so many people who move once a second."""
_FASTEST, _SLOWEST = 0.5, 1.5
"""Seconds that people think."""
_GAME = {"game": "breakthrough", "seat.black": "me", "seat.white": "bot/random"}
MIXED_PEOPLE, MIXED_P95_MS = 60, 300.0
_MIXED: tuple[dict[str, str], ...] = (
    _GAME,
    {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "bot/best"},
    {"game": "reversi", "seat.black": "me", "seat.white": "bot/alphabeta"},
    {"game": "hanabi", "seat.player_0": "me", "seat.player_1": "bot/best"},
    {"game": "overcooked", "seat.chef_0": "me", "seat.chef_1": "bot/best"},
    {"game": "comma/wire", "seat.solver": "me", "seat.expert": "bot/best"},
)
"""Boards, cooperation with planners, and a conversation. Alpha-beta costs 40 ms of CPU a move in Reversi, and
200 in Breakthrough, which two cores could not do for ten people who move every second."""


def people_rows(seconds: float) -> Iterator[Row]:
    """People play many games with bots as partners; a move ends when the next turn has arrived."""
    people = MIXED_PEOPLE if seconds >= 1 else 6
    waits, cpu = measure_moves(people, max(2.0, 20 * seconds), _MIXED, cores=2)
    p95 = quantiles(waits, n=20)[-1]
    load = os.getloadavg()[0]
    note = f"median {median(waits):.1f} ms, {len(waits):,} moves, two cores, load {load:.1f}"
    yield Row(f"move with {people} people playing with bots, p95", p95, "ms", MIXED_P95_MS, note=note)
    yield Row("CPU of the server and bots for one move", cpu, "ms", None, note="six games")


def play_rows(seconds: float) -> Iterator[Row]:
    """People play against a bot; a move ends when the picture of the next turn has arrived."""
    people = PEOPLE if seconds >= 1 else 4
    waits, cpu = measure_moves(people, max(2.0, 10 * seconds))
    p95 = quantiles(waits, n=20)[-1]
    note = f"median {median(waits):.1f} ms, {len(waits):,} moves, one core for the server"
    yield Row(f"move with {people} people playing, p95", p95, "ms", P95_MS, note=note)
    yield Row("CPU of the server for one move", cpu, "ms", CPU_MS, note="one move a person and second")


def measure_moves(
    people: int, seconds: float, games: Sequence[dict[str, str]] = (_GAME,), cores: int = 1
) -> tuple[list[float], float]:
    """The milliseconds of every move of so many people, and those of the server's CPU for one."""
    before = getrusage(RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as runs:
        command = [sys.executable, "-m", "benchmarks.web_play", runs, str(cores)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                port, starting = server.stdout.readline().split()
                waits = asyncio.run(_play(f"http://127.0.0.1:{port}", people, seconds, games))
            finally:
                server.terminate()
    after = getrusage(RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - float(starting)
    return waits, cpu_seconds / len(waits) * 1000  # a little too much: the moves before everybody has arrived


async def _play(root: str, people: int, seconds: float, games: Sequence[dict[str, str]]) -> list[float]:
    waits: list[float] = []
    begin = perf_counter() + people / 50 + 1  # when all have arrived, one after the other
    everybody = ((number, games[number % len(games)]) for number in range(people))
    await asyncio.gather(*(_person(root, *each, begin, begin + seconds, waits) for each in everybody))
    return waits


async def _person(
    root: str, number: int, game: dict[str, str], begin: float, end: float, waits: list[float]
) -> None:
    random = stream(number, "bench", "person")
    await asyncio.sleep(number / 50)
    async with ClientSession(root, cookie_jar=CookieJar(unsafe=True), headers={"Origin": root}) as http:
        async with http.post("/play", data={**game, "seed": str(number)}) as reply:
            reply.raise_for_status()
            base = reply.url.path
        async with http.ws_connect(f"{base}/socket") as socket:
            view, turn, moves = await _next_question(socket, 0), 0, 0
            while perf_counter() < end or not moves:  # on a busy machine, too, everybody moves once
                await asyncio.sleep(_FASTEST + random.random() * (_SLOWEST - _FASTEST))
                if view["ended"]:
                    (await http.post(f"{base}/again")).release()
                    view = await _next_question(socket, turn, ends=False)
                    continue
                turn = view["turn"]
                typed = random.choice(view["legal"]) if view["legal"] else "What do you see?"
                move = orjson.dumps({"move": typed, "turn": turn}).decode()
                began = perf_counter()
                await socket.send_str(move)
                view = await _next_question(socket, turn)
                if began > begin:
                    waits.append((perf_counter() - began) * 1000)
                    moves += 1


async def _next_question(socket: ClientWebSocketResponse, turn: int, ends: bool = True) -> dict[str, Any]:
    """The next question after this turn, or the end."""
    while True:
        view: dict[str, Any] = orjson.loads(await socket.receive_str())
        if (ends and view["ended"]) or (not view["ended"] and view["turn"] and view["turn"] > turn):
            return view


async def _serve(runs: Path, cores: int) -> None:
    """Serve until the process is terminated, on so many cores where the system allows that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    from ludens.web.app import make_app
    from ludens.web.pages import WebSettings
    from ludens.web.security import RateLimit

    runner = web.AppRunner(make_app(WebSettings(runs), RateLimit(1e6, 1e6)), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], process_time(), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))
