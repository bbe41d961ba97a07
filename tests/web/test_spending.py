"""What models may cost on a server: limits, and who may begin another game."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ludens.core.errors import BadOption
from ludens.models.ledger import Budget
from ludens.suites.people import read_study
from ludens.web.play import TABLES
from ludens.web.spending import MOST_VOID
from tests.support.model_server import ModelServer
from tests.support.web_client import TOKEN, Seat, Visitor, served
from tests.web.test_play import friend_link
from tests.web.test_study import base_of, do

HANABI = {"option.players": "3", "seat.player_0": "me", "seat.player_1": "friend", "seat.player_2": "other"}


@pytest.fixture
async def models(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    """A model server, whose key is in PAID_KEY."""
    monkeypatch.setenv("PAID_KEY", "a-key-that-costs-money")
    async with ModelServer() as server:
        yield server


def paid(server: ModelServer) -> str:
    return f"compat/some@{server.url}?key_env=PAID_KEY"


async def organiser(visitor: Visitor) -> Visitor:
    await visitor.get(f"/?token={TOKEN}")
    return visitor


async def with_friend(one: Visitor, two: Visitor, spec: str) -> tuple[str, Seat, str, Seat]:
    """A game of hanabi of an organiser, a friend and another player."""
    status, path, text = await one.post("/play", game="hanabi", **HANABI, **{"other.player_2": spec})
    assert status == 200, text
    mine = await one.sit(path)
    await mine.next()
    _, theirs, _ = await two.get(friend_link(text))
    return path, mine, theirs, await two.sit(theirs)


async def test_model_with_a_key_needs_a_limit(models: ModelServer, tmp_path: Path) -> None:
    form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "other"}
    async with served(tmp_path / "runs") as visit:
        visitor = await organiser(visit())
        status, _, text = await visitor.post("/play", **form, **{"other.o": paid(models)})
        assert (status, "--max-cost or --max-calls" in text) == (400, True), text
        free = f"compat/some@{models.url}"
        assert (await visitor.post("/play", **form, **{"other.o": free}))[0] == 200
    async with served(tmp_path / "runs", budget=Budget(cost=1.0)) as visit:
        visitor = await organiser(visit())
        status, _, text = await visitor.post("/play", **form, **{"other.o": paid(models)})
        assert (status, "needs a price" in text) == (400, True), text


async def test_no_call_is_sent_beyond_the_limit(models: ModelServer, tmp_path: Path) -> None:
    """In all games together; then no further game with the model begins."""
    async with served(tmp_path / "runs", budget=Budget(calls=3)) as visit:
        visitor = await organiser(visit())
        form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "other", "other.o": paid(models)}
        paths = [(await visitor.post("/play", **form))[1] for _ in range(2)]
        seats = [await visitor.sit(path) for path in paths]
        for seat in (*seats, *seats):
            view = await seat.turn()
            assert not view["ended"]
            await seat.move(view["legal"][0])
            view = await seat.turn()
        assert "the budget does not cover another call" in view["ended"]
        for path in ("/play", f"{paths[1]}/again"):
            status, _, text = await visitor.post(path, **form)
            assert (status, "used up" in text) == (400, True), text
        assert (await visitor.post("/play", game="tic_tac_toe"))[0] == 200  # against a bot
    assert len(models.requests) == 3


async def test_only_the_owner_repeats_a_game_with_a_model(models: ModelServer, tmp_path: Path) -> None:
    async with served(tmp_path / "runs", budget=Budget(calls=100)) as visit:
        one, two = await organiser(visit()), visit()
        path, mine, theirs, friend = await with_friend(one, two, paid(models))
        await mine.turn()
        await friend.send({"leave": True})
        await mine.next(lambda view: view["saved"])
        status, _, text = await two.post(f"{theirs}/again")
        assert (status, "only the person who began" in text) == (403, True), text
        assert 'id="again"' not in (await two.get(theirs))[2]
        assert 'id="again"' in (await one.get(path))[2]
        assert (await one.post(f"{path}/again"))[0] == 200
        await mine.next(lambda view: view["game"] == 2 and view["turn"])


async def test_a_game_is_repeated_only_when_everybody_is_connected(tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        one, two = visit(), visit()
        form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "friend"}
        _, path, text = await one.post("/play", **form)
        mine = await one.sit(path)
        await mine.next()
        _, theirs, _ = await two.get(friend_link(text))
        friend = await two.sit(theirs)
        await mine.turn()
        await mine.send({"leave": True})
        await friend.next(lambda view: view["saved"])
        await mine.socket.close()
        for _ in range(3):
            status, _, text = await two.post(f"{theirs}/again")
            assert (status, "not connected" in text) == (409, True), text
        mine = await one.sit(path)
        await mine.next()
        assert (await two.post(f"{theirs}/again"))[0] == 200


async def test_void_games_of_a_table_are_limited_and_leave_no_folders(tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        visitor = visit()
        _, path, _ = await visitor.post("/play", game="tic_tac_toe", **{"seat.x": "me"})
        seat, statuses = await visitor.sit(path), []
        for number in range(1, MOST_VOID + 1):
            await seat.next(lambda view, number=number: view["game"] == number and view["turn"])
            await seat.send({"leave": True})
            view = await seat.next(lambda view: view["saved"])
            assert "not saved" in view["saved"]
            statuses.append((await visitor.post(f"{path}/again"))[0])
        assert statuses == [200] * (MOST_VOID - 1) + [409]
        [session] = visitor.app[TABLES].sessions.values()
        assert session.game_number == MOST_VOID
    assert not list(tmp_path.glob("runs/play-*"))


STUDY = """
name = "paid"
leave_seconds = 60

[[task]]
name = "wire"
game = "comma/wire"
suite = "comma"
seats = {{ solver = "participant", expert = "{expert}" }}
episodes = 40
"""


async def test_study_with_a_paid_model(models: ModelServer, tmp_path: Path) -> None:
    """It needs a limit, and a participant has a number of games that may be void."""
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(expert=paid(models)))
    study = read_study(file)
    with pytest.raises(BadOption, match="--max-cost or --max-calls"):
        async with served(tmp_path / "runs", study=study):
            pass
    assert not (tmp_path / "runs").exists()
    async with served(tmp_path / "runs", study=study, budget=Budget(calls=3)) as visit:
        one, two = visit(), visit()
        await do(one, "consent")
        for _ in range(MOST_VOID):
            await do(one, "task")
            seat = await one.sit(base_of(one))
            await seat.turn()
            await seat.send({"leave": True})
            await seat.next(lambda view: view["ended"])
            await seat.socket.close()
            await do(one, "game")
        assert "Your code" in (await one.get(base_of(one)))[2]
        await do(two, "consent")
        await do(two, "task")
        seat = await two.sit(base_of(two))
        while not (await seat.turn())["ended"]:
            await seat.move("Hello.")
        await do(two, "game")
        status, _, text = await two.post(base_of(two), do="task")
        assert (status, "used up" in text) == (400, True), text
    assert len(models.requests) == 3
