"""Servers that are killed: games and studies go on where they were, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import ClientError
from aiohttp.test_utils import unused_port
from aiohttp.web import Application

from ludens.cli import main
from ludens.core.clock import Clock
from ludens.core.episode import Episode, Move
from ludens.core.verify import verify
from ludens.run.lines import read_records
from ludens.web.journal import FOLDER, Journal
from ludens.web.sessions import NOT_SAVED
from ludens.web.study import ROOM
from tests.support.full_disk import file_size_limit
from tests.support.model_server import ModelServer
from tests.support.web_client import TOKEN, Seat, Visitor, served
from tests.web.test_play import begin, friend_link, saved
from tests.web.test_study import ALONE, PAIRS, base_of, do, enter, join, pair, study_of
from tests.web.test_study import begin as begin_task

T = TypeVar("T")
LOST = (ClientError, ConnectionError, OSError)


async def play_on(seat: Seat, moves: int = 1000) -> dict[str, Any]:
    """Make so many moves that are acknowledged, or as many as the game takes."""
    view = await seat.turn()
    while not view["ended"] and moves:
        await seat.move(view["legal"][0] if view["legal"] else "What do you see?")
        view, moves = await seat.turn(), moves - 1
        assert view["received"] >= seat.answered
    return view


async def play_to_the_end(seat: Seat) -> None:
    view = await play_on(seat)
    if not view["saved"]:
        await seat.next(lambda new: new["saved"])


@pytest.mark.parametrize(
    ("game", "form"),
    [
        ("tic_tac_toe", {"seat.x": "me", "seat.o": "bot/random"}),
        ("breakthrough", {"seat.black": "me", "seat.white": "bot/random", "option.rows": "5"}),
        ("overcooked", {"option.horizon": "12"}),
    ],
)
async def test_restart_changes_nothing(game: str, form: dict[str, str], tmp_path: Path) -> None:
    """The episode is the same with and without a restart: bots go on with their random streams."""
    port = unused_port()
    async with served(tmp_path / "once", port) as visit:
        await play_to_the_end((await begin(visit(), game, seed="3", **form))[1])
    async with served(tmp_path / "twice", port) as visit:
        before = visit()
        path, seat = await begin(before, game, seed="3", **form)
        left = await play_on(seat, 2)
    async with served(tmp_path / "twice", port) as visit:
        seat = await visit(before).sit(path)
        view = await seat.turn()
        assert view["turn"] == left["turn"] == 3
        assert (view["log"], view["legal"], view["text"]) == (left["log"], left["legal"], left["text"])
        await play_to_the_end(seat)
    once, twice = (saved(next((tmp_path / runs).glob("play-*"))) for runs in ("once", "twice"))
    assert once.fingerprint() == twice.fingerprint()
    assert all(move.ms > 0.05 for move in twice.moves if twice.seats[move.seat] == "human")
    verify(twice)


async def test_model_is_asked_again_only_what_it_had_not_answered(tmp_path: Path) -> None:
    port = unused_port()
    async with ModelServer() as models:
        form = {"seat.x": "me", "seat.o": "other", "other.o": f"compat/some@{models.url}"}
        async with served(tmp_path / "runs", port) as visit:
            before = visit()
            await before.get(f"/?token={TOKEN}")
            path, seat = await begin(before, "tic_tac_toe", **form)
            await play_on(seat, 1)
            assert len(models.requests) == 1
            models.latency = 3600  # the next reply is under way when the server stops
            await seat.move(seat.view["legal"][0])
            while len(models.requests) < 2:
                await asyncio.sleep(0.01)
        models.latency = 0
        async with served(tmp_path / "runs", port) as visit:
            await play_to_the_end(await visit(before).sit(path))
    episode = saved(next((tmp_path / "runs").glob("play-*")))
    replies = [tried for move in episode.moves if move.seat == "o" for tried in move.tries]
    assert len(models.requests) == len(replies) + 1
    assert episode.usage().calls == len(replies)
    verify(episode)


async def test_links_and_ends_are_kept(tmp_path: Path) -> None:
    """A friend may come after a restart; a game that is over is shown, and another one can be begun."""
    port = unused_port()
    async with served(tmp_path / "runs", port) as visit:
        one, two = visit(), visit()
        path, _ = await begin(one, "tic_tac_toe", **{"seat.x": "me", "seat.o": "friend"})
        link = friend_link((await one.get(path))[2])
    async with served(tmp_path / "runs", port) as visit:
        one, two = visit(one), visit(two)
        x, (_, friend, _) = await one.sit(path), await two.get(link)
        o = await two.sit(friend)
        for seat, cell in ((x, "A1"), (o, "B1"), (x, "A2"), (o, "B2"), (x, "A3")):
            await seat.turn()
            await seat.move(cell)
        end = await x.next(lambda view: view["saved"])
    async with served(tmp_path / "runs", port) as visit:
        one, two = visit(one), visit(two)
        x, o = await one.sit(path), await two.sit(friend)
        view = await x.next(lambda view: view["ended"] and "returns" in view)
        assert (view["saved"], view["returns"], view["log"]) == (end["saved"], end["returns"], end["log"])
        assert (await one.post(f"{path}/again"))[0] == 200
        await x.next(lambda view: view["game"] == 2 and view["turn"])
        await x.move("C3")
        await o.next(lambda view: view["game"] == 2 and view["turn"])
    async with served(tmp_path / "runs", port) as visit:
        o = await visit(two).sit(friend)
        view = await o.turn()
        assert (view["game"], [line["action"] for line in view["log"]]) == (2, ["C3"])
        await o.send({"leave": True})
        await o.next(lambda view: view["ended"])
        session = path.split("/")[2]
        while Journal.read(tmp_path / "runs" / FOLDER / f"{session}.jsonl").end is None:
            await asyncio.sleep(0.01)
    async with served(tmp_path / "runs", port) as visit:
        view = await (await visit(one).sit(path)).next(lambda view: view["ended"])
        assert "left the game" in view["ended"]
    assert sum(1 for _ in (tmp_path / "runs").glob("play-*")) == 2


async def test_move_that_cannot_be_saved_is_not_acknowledged(tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        path, seat = await begin(visit(), "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
        await seat.turn()
        file = tmp_path / "runs" / FOLDER / f"{path.split('/')[2]}.jsonl"
        before = file.read_bytes()
        with file_size_limit(len(before) + 20):
            await seat.move("A1")
            view = await seat.next(lambda view: view.get("refused"))
        assert (view["refused"], view["received"], view["log"]) == (NOT_SAVED, 0, [])
        assert file.read_bytes() == before
        await seat.move("A1")
        view = await seat.next(lambda view: view["log"])
        assert view["log"][0]["action"] == "A1"


async def test_journal_that_cannot_be_used_is_reported_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "runs" / FOLDER
    async with served(tmp_path / "runs") as visit:
        path, seat = await begin(visit(), "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
        await play_on(seat, 1)
    [file] = folder.glob("*.jsonl")
    good = file.read_text()
    for text, problem in (
        (good.replace('"bot/random"', '"compat/some@http://10.0.0.1/v1"'), "--allow http://10.0.0.1/v1"),
        (good.replace('"version":', '"version":1'), "was begun with tic_tac_toe version"),
        (good.replace('"turn":1', '"turn":"one"'), "must be a whole number"),
        (good.replace('"tokens":{"x"', '"tokens":{"z"'), "does not name the seats"),
        ("", "is missing"),
    ):
        file.write_text(text)
        caplog.clear()
        async with served(tmp_path / "runs") as visit:
            assert (await visit().get(path))[0] == 404
        assert problem in caplog.text
        assert file.read_text() == text


async def test_second_server_leaves_the_games_of_the_first_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path / "runs") as visit:
        path, seat = await begin(visit(), "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
        await seat.turn()
        async with served(tmp_path / "runs") as other:
            assert (await other().get(path))[0] == 404
            await play_to_the_end((await begin(other(), "tic_tac_toe"))[1])
        assert "another server keeps its games" in caplog.text
        assert len([*(tmp_path / "runs" / FOLDER).glob("*.jsonl")]) == 1
        await play_to_the_end(seat)


async def test_study_goes_on_after_a_restart(tmp_path: Path) -> None:
    """A game that is played, one that has not begun, and somebody who waits for a partner."""
    port, study = unused_port(), study_of(PAIRS.replace("leave_seconds = 1", ""), tmp_path)
    async with served(tmp_path / "runs", port, study=study) as visit:
        people = [visit() for _ in range(5)]
        for visitor in people:
            await enter(visitor)
        seats = await pair(people[0], people[1])
        seat = seats["solver"][1]
        await seat.turn()
        await seat.move("What do you see?")
        await seat.next(lambda view: view["received"] == 1)
        for visitor in people[2:]:
            await do(visitor, "task")
    async with served(tmp_path / "runs", port, study=study) as visit:
        people = [visit(before) for before in people]
        jars = {role: visitor.jar for role, (visitor, _) in seats.items()}
        solver, expert = (
            next(new for new in people if new.jar is jars[role]) for role in ("solver", "expert")
        )
        room = people[0].app[ROOM]
        assert sorted(room.games) == ["p001", "p002", "p003", "p004"]
        assert [game.status for game in room.records.participants["p001"].games] == [""]
        view = await (await solver.sit(base_of(solver))).next(lambda view: view["log"])
        assert view["log"] == [{"name": "solver", "own": True, "action": "What do you see?"}]
        assert (await (await expert.sit(base_of(expert))).turn())["turn"]
        third, fourth = [await visitor.sit(base_of(visitor)) for visitor in people[2:4]]
        await third.next(lambda view: view["game"])
        await fourth.next(lambda view: view["game"])
        async with people[4].http.get(f"{base_of(people[4])}/waiting") as reply:
            assert (await reply.json())["waiting"] is True


async def test_time_that_the_server_does_not_run_does_not_count(tmp_path: Path) -> None:
    port, study = unused_port(), study_of(ALONE + "minutes = 60\n", tmp_path)
    async with served(tmp_path / "runs", port, study=study) as visit:
        before = visit()
        await join(before, "p001")
        seat = await begin_task(before)
        await play_on(seat, 1)
    [file] = (tmp_path / "runs" / "alone" / FOLDER).glob("*.jsonl")
    file.write_text(re.sub(r'"at":[\d.]+', '"at":3000.0', file.read_text()))
    async with served(tmp_path / "runs", port, study=study) as visit:
        view = await (await visit(before).sit(base_of(before))).turn()
        assert 500 < view["seconds"] <= 600


async def test_game_with_a_clock_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list[asyncio.Future[None]]()

    def start_step(clock: Clock) -> asyncio.Future[None]:
        steps.append(asyncio.get_running_loop().create_future())
        return steps[-1]

    async def end_step() -> None:
        while not steps or steps[-1].done():
            await asyncio.sleep(0.01)
        steps[-1].set_result(None)

    monkeypatch.setattr(Clock, "start_step", start_step)
    port, form = unused_port(), {"option.realtime": "40ms", "option.horizon": "6", "seat.chef_0": "me"}
    async with served(tmp_path / "runs", port) as visit:
        before = visit()
        path, seat = await begin(before, "overcooked", **form)
        assert (await seat.turn())["clock"] == 0.04
        await seat.move("RIGHT")
        await seat.next(lambda view: view["received"] == 1)
        await seat.move("DOWN", turn=1)  # for the next step
        await seat.send("are you there?")  # what came before was read
        await seat.next(lambda view: view.get("notice"))
        await end_step()
        await seat.next(lambda view: view["received"] == 2)
    steps.clear()
    async with served(tmp_path / "runs", port) as visit:
        seat = await visit(before).sit(path)
        await seat.next(lambda view: view["turn"] == 3)
        await seat.move("LEFT")
        await seat.next(lambda view: view["received"] == 3)
        for _ in range(4):
            await end_step()
        await seat.next(lambda view: view["saved"])
    episode = saved(next((tmp_path / "runs").glob("play-*")))
    own = [move for move in episode.moves if move.seat == "chef_0"]
    assert [move.action for move in own] == ["RIGHT", "DOWN", "LEFT", "STAY", "STAY", "STAY"]
    assert [move.tries[0].verdict for move in own[3:]] == ["late"] * 3
    assert (len(steps), episode.status) == (4, "done")
    verify(episode)


class KilledServer:
    """The real command, which is killed and started again."""

    def __init__(self, runs: Path, *argv: str) -> None:
        self.port = unused_port()
        self.root = f"http://127.0.0.1:{self.port}"
        self._argv = ["web", str(runs), "--no-open", "--port", str(self.port), *argv]
        self.study = ""

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ludens",
            *self._argv,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "no_proxy": "127.0.0.1"},
        )
        assert self._process.stdout is not None
        while b"Ctrl-C" not in (line := await self._process.stdout.readline()):
            assert line, "the server did not start"
            if b"participants" in line:
                self.study = line.decode().split(str(self.port))[1].strip()

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()


class Player:
    """Somebody who plays whatever happens to the server, and remembers what it has acknowledged."""

    def __init__(self, server: KilledServer, seed: int, moved: Callable[[], None]) -> None:
        self.server, self._moved = server, moved
        self.visitor = Visitor(server.root, Application())
        self._random = random.Random(seed)
        self.acknowledged: list[str] = []
        self.view: dict[str, Any] = {}

    async def insist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try again until the server is back."""
        async with asyncio.timeout(120):
            while True:
                try:
                    return await attempt()
                except LOST:
                    await asyncio.sleep(0.05)

    async def get(self, path: str) -> tuple[int, str, str]:
        return await self.insist(lambda: self.visitor.get(path))

    async def post(self, path: str, **form: str) -> tuple[int, str, str]:
        return await self.insist(lambda: self.visitor.post(path, **form))

    async def play(self, path: str) -> None:
        """Play one game to its end. A move is sent again only if it was not acknowledged."""
        self.acknowledged, last = [], 0
        pending: tuple[int, str] | None = None

        async def session() -> None:
            nonlocal pending, last
            seat = await self.visitor.sit(path)
            fresh = True
            while True:
                view = self.view = await seat.next()
                assert view["received"] >= last, "an acknowledged move is lost"
                last = view["received"]
                if pending is not None and view["received"] >= pending[0]:
                    self.acknowledged.append(pending[1])
                    pending = None
                    self._moved()
                elif pending is not None and fresh:
                    pending = None  # it did not arrive
                fresh = False
                if view["ended"] and (view["saved"] or self.server.study):
                    return
                if view["turn"] and pending is None:
                    pending = view["turn"], self._choice(view)
                    await seat.send({"move": pending[1], "turn": pending[0]})

        while True:  # however often the server is killed meanwhile
            try:
                return await session()
            except LOST:
                await asyncio.sleep(0.05)

    def _choice(self, view: dict[str, Any]) -> str:
        if not view["legal"]:
            return f"word {self._random.randrange(1000)}"
        return "nonsense" if self._random.random() < 0.1 else self._random.choice(view["legal"])

    async def close(self) -> None:
        await self.visitor.http.close()


def typed_by(moves: list[Move], seat: str) -> list[str]:
    own = [move for move in moves if move.seat == seat]
    return [text for move in own for text in [tried.text for tried in move.tries] or [move.action]]


GAMES = (
    ("tic_tac_toe", {"seat.x": "me", "seat.o": "bot/random"}),
    ("breakthrough", {"seat.black": "me", "seat.white": "bot/alphabeta"}),
    ("overcooked", {"option.horizon": "20"}),
    ("tic_tac_toe", {"seat.x": "me", "seat.o": "friend"}),
)


async def kill_often(runs: Path, kills: int, seed: int, *argv: str) -> dict[str, tuple[str, list[str]]]:
    """Play while the server is killed; returns the runs of the Play pages, with what was acknowledged."""
    server, moves, random_kills = KilledServer(runs, *argv), asyncio.Event(), random.Random(seed)
    await server.start()
    over, numbers, played = asyncio.Event(), count(), dict[str, tuple[str, list[str]]]()

    def player() -> Player:
        return Player(server, seed * 1000 + next(numbers), moves.set)

    async def repeat(game: str, form: dict[str, str]) -> None:
        one, two = player(), player()
        while not over.is_set():
            status, path, text = await one.post("/play", game=game, seed=str(next(numbers)), **form)
            assert status == 200, text
            games = [one.play(path)]
            if "friend" in form.values():
                games.append(two.play((await two.get(friend_link(text)))[1]))
            await asyncio.gather(*games)
            name = one.view["saved"].removeprefix("The game is saved in ").removesuffix(".")
            played[name] = one.view["seat"], one.acknowledged
        await one.close()
        await two.close()

    async def participate() -> None:
        one = player()
        for _ in range(200):
            _, _, text = await one.get(server.study)
            step = re.findall(r'name="do" value="(\w+)"|name="do"\s+value="(\w+)"', text)
            if over.is_set() or "Your code" in text:
                break
            if 'id="table"' in text:
                await one.play(server.study)
                await one.post(server.study, do="game")
            else:
                assert step, text
                await one.post(server.study, do="consent" if "I agree" in text else "task")
        await one.close()

    tasks = [asyncio.create_task(repeat(*game)) for game in GAMES if not argv]
    tasks += [asyncio.create_task(participate()) for _ in range(3) if argv]
    try:
        for _ in range(kills):
            for _ in range(random_kills.randint(1, 4)):
                moves.clear()
                waiting = asyncio.create_task(moves.wait())
                async with asyncio.timeout(120):
                    await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            await asyncio.sleep(random_kills.random() * 0.02)
            await server.kill()
            await server.start()
        over.set()
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await server.kill()
    return played


async def check_kills(tmp_path: Path, kills: int) -> int:
    runs = tmp_path / "runs"
    played = await kill_often(runs, kills, seed=kills)
    assert {folder.name for folder in runs.glob("play-*")} == set(played)
    for name, (seat, acknowledged) in played.items():
        episode: Episode = saved(runs / name)
        assert typed_by(episode.moves, seat) == acknowledged
        assert episode.status == "done" or episode.game == "overcooked"
        verify(episode)
    return len(played)


async def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert await check_kills(tmp_path, 3) >= len(GAMES)


@pytest.mark.slow
async def test_kills_during_a_study(tmp_path: Path) -> None:
    study_of(ALONE.replace("participants = 2", ""), tmp_path)
    await kill_often(tmp_path / "runs", 2, 1, "--study", str(tmp_path / "study.toml"))
    folder = tmp_path / "runs" / "alone"
    assert {record.episode.status for record in read_records(folder)} == {"done"}
    assert await asyncio.to_thread(main, ["verify", str(folder)]) == 0


@pytest.mark.slow
async def test_a_hundred_kills(tmp_path: Path) -> None:
    assert await check_kills(tmp_path, 100) > 20
