"""Play: whole games over HTTP and WebSockets, and what can go wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import orjson
import pytest
from aiohttp.web import HTTPServiceUnavailable

from ludens.cli import main
from ludens.core.episode import Episode
from ludens.core.registry import make
from ludens.core.verify import verify
from ludens.run.lines import read_records
from ludens.web.play import TABLES, Tables
from ludens.web.sessions import Session, Setup
from tests.support.web_client import TOKEN, Seat, Visitor, served

Visit = Callable[[], Visitor]


@pytest.fixture
async def visit(tmp_path: Path) -> AsyncIterator[Visit]:
    async with served(tmp_path / "runs") as made:
        yield made


async def begin(visitor: Visitor, game: str, **form: str) -> tuple[str, Seat]:
    status, path, text = await visitor.post("/play", game=game, **form)
    assert status == 200, text
    return path, await visitor.sit(path)


def friend_link(text: str) -> str:
    [link] = re.findall(r'value="http://[^/]+(/play/[^"]+)"', text)
    return str(link)


def saved(folder: Path) -> Episode:
    [record] = read_records(folder)
    return record.episode


async def test_game_against_a_bot_is_saved_as_a_run(visit: Visit, tmp_path: Path) -> None:
    _, seat = await begin(visit(), "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random", "seed": "5"})
    view = await seat.turn()
    assert view["legal"][0] in view["form"]["actions"]
    while not view["ended"]:
        await seat.move(view["legal"][-1])
        view = await seat.turn()
    assert view["ended"] == "The game is over."
    view = view if view["saved"] else await seat.next(lambda new: new["saved"])
    [folder] = (tmp_path / "runs").glob("play-*")
    assert folder.name in view["saved"]
    episode = saved(folder)
    assert episode.seats == {"x": "human", "o": "bot/random"}
    assert (episode.seed, episode.status) == (5, "done")
    assert view["returns"] == episode.returns
    assert verify(episode).pictures > 2


async def test_anyone_can_play_against_nano(visit: Visit, tmp_path: Path) -> None:
    """Without the organiser's link, too."""
    visitor = visit()
    _, _, page = await visitor.get("/play?game=tic_tac_toe")
    assert 'value="nano"' in page
    _, _, page = await visitor.get("/play?game=comma/who")
    assert 'value="nano"' not in page
    _, seat = await begin(visitor, "tic_tac_toe", **{"seat.x": "me", "seat.o": "nano"})
    view = await seat.turn()
    while not view["ended"]:
        await seat.move(view["legal"][0])
        view = await seat.turn()
    view = view if view["saved"] else await seat.next(lambda new: new["saved"])
    [folder] = (tmp_path / "runs").glob("play-*")
    episode = saved(folder)
    assert episode.seats == {"x": "human", "o": "nano"}
    assert episode.returns["o"] >= 0
    assert verify(episode).replies


async def test_report_replay_and_verify_accept_the_run(visit: Visit, tmp_path: Path) -> None:
    options = {"option.rows": "5", "option.columns": "4", "seat.black": "me", "seat.white": "bot/random"}
    _, seat = await begin(visit(), "breakthrough", **options)
    view = await seat.turn()
    while not view["ended"]:
        await seat.move(view["legal"][0])
        view = await seat.turn()
    await seat.next(lambda new: new["saved"]) if not view["saved"] else None
    [folder] = (tmp_path / "runs").glob("play-*")

    def check() -> None:
        for words in (["report", str(folder)], ["verify", str(folder)], ["replay", str(folder)]):
            assert main(words) == 0, words

    await asyncio.to_thread(check)
    assert saved(folder).options["rows"] == 5


async def two_friends(
    visit: Visit, game: str, first: str, second: str
) -> tuple[Visitor, Seat, Visitor, Seat]:
    """Two people in two browsers, both connected."""
    one, two = visit(), visit()
    path, mine = await begin(one, game, **{f"seat.{first}": "me", f"seat.{second}": "friend"})
    assert (await mine.next())["missing"] == 1
    link = friend_link((await one.get(path))[2])
    status, theirs, _ = await two.get(link)
    assert (status, theirs) != (200, path)
    return one, mine, two, await two.sit(theirs)


async def test_two_friends(visit: Visit, tmp_path: Path) -> None:
    _, x, _, o = await two_friends(visit, "tic_tac_toe", "x", "o")
    for seat, cell in ((x, "A1"), (o, "B1"), (x, "A2"), (o, "B2"), (x, "A3")):
        await seat.turn()
        await seat.move(cell)
    await o.next(lambda view: view["saved"])
    assert o.view["returns"] == {"x": 1.0, "o": -1.0}
    assert [line["action"] for line in o.view["log"]] == ["A1", "B1", "A2", "B2", "A3"]
    [folder] = (tmp_path / "runs").glob("play-*")
    assert saved(folder).seats == {"x": "human", "o": "human"}


async def test_reloading_continues_the_game(visit: Visit) -> None:
    visitor = visit()
    path, seat = await begin(visitor, "tic_tac_toe", **{"seat.o": "bot/random"})
    await seat.turn()
    await seat.move("B2")
    before = await seat.turn()
    await seat.socket.close()
    assert (await visitor.get(path))[0] == 200
    seat = await visitor.sit(path)
    after = await seat.next()
    assert after == before
    await seat.move(after["legal"][0])
    assert len((await seat.turn())["log"]) >= 3


async def test_two_browsers_in_one_seat(visit: Visit) -> None:
    visitor = visit()
    path, first = await begin(visitor, "tic_tac_toe", **{"seat.o": "bot/random"})
    await first.turn()
    second = await visitor.sit(path)
    view = await second.next()
    with pytest.raises(ConnectionError, match="4001"):
        await first.next(lambda view: False)
    await second.move(view["legal"][0])
    assert (await second.turn())["log"]


async def test_move_sent_twice_counts_once(visit: Visit) -> None:
    _, x, _, o = await two_friends(visit, "tic_tac_toe", "x", "o")
    turn = (await x.turn())["turn"]
    await x.move("A1")
    await x.move("A2", turn)
    view = await x.next(lambda view: view.get("notice"))
    assert "already" in view["notice"]
    view = view if view["log"] else await x.next(lambda view: view["log"])
    assert [line["action"] for line in view["log"]] == ["A1"]
    await x.move("A2", turn + 1)
    assert "not your turn" in (await x.next(lambda view: view.get("notice")))["notice"]
    assert len((await o.turn())["legal"]) == 8


async def test_late_move_does_not_answer_the_next_question(visit: Visit) -> None:
    """Nor does one for a question that was not asked yet."""
    _, x, _, o = await two_friends(visit, "tic_tac_toe", "x", "o")
    old = (await x.turn())["turn"]
    await x.move("A1")
    await o.turn()
    await o.move("B1")
    turn = (await x.turn())["turn"]
    for number, remark in ((old, "already"), (turn + 1, "not your turn"), (turn - 100, "already")):
        await x.send({"move": "A2", "turn": number})
        view = await x.next(lambda view: view.get("notice"))
        assert remark in view["notice"]
        assert (view["turn"], [line["action"] for line in view["log"]]) == (turn, ["A1", "B1"])
    await x.move("C3", turn)
    assert [line["action"] for line in (await o.turn())["log"]] == ["A1", "B1", "C3"]


async def test_late_move_of_one_game_does_not_count_in_the_next(visit: Visit) -> None:
    visitor = visit()
    path, seat = await begin(visitor, "qa", seed="3")
    old = (await seat.turn())["turn"]
    await seat.move(seat.view["legal"][0])
    await seat.next(lambda view: view["saved"])
    assert (await visitor.post(f"{path}/again"))[0] == 200
    view = await seat.next(lambda view: view["game"] == 2 and view["turn"])
    assert view["turn"] != old
    await seat.send({"move": view["legal"][0], "turn": old})
    view = await seat.next(lambda view: view.get("notice"))
    assert ("already" in view["notice"], view["log"], view["ended"]) == (True, [], "")


async def test_move_for_a_refused_question_does_not_answer_it_again(visit: Visit) -> None:
    _, seat = await begin(visit(), "tic_tac_toe", **{"seat.o": "bot/random"})
    old = (await seat.turn())["turn"]
    await seat.move("Z9")
    view = await seat.next(lambda view: view.get("refused"))
    await seat.send({"move": "A1", "turn": old})
    view = await seat.next(lambda view: view.get("notice"))
    assert ("already" in view["notice"], view["log"]) == (True, [])


async def test_move_after_the_end(visit: Visit) -> None:
    _, seat = await begin(visit(), "qa", seed="3")
    await seat.turn()
    await seat.move(seat.view["legal"][0])
    view = await seat.next(lambda view: view["saved"])
    await seat.move("A", 1)
    after = await seat.next(lambda view: view.get("notice"))
    assert "over" in after.pop("notice")
    assert after == view


async def test_question_is_followed_by_its_answer(visit: Visit) -> None:
    _, seat = await begin(visit(), "qa", seed="3")
    view = await seat.turn()
    assert view["notes"] or view["rules"]
    assert "answer" not in view
    await seat.move(view["legal"][0])
    view = await seat.next(lambda view: view["saved"])
    assert view["answer"] in seat_legal(seat)


def seat_legal(seat: Seat) -> list[str]:
    asked = [orjson.loads(text) for text in seat.received]
    return [name for view in asked for name in view.get("legal", ())]


@pytest.mark.parametrize(
    "message",
    ["", "{", "[]", '{"move": 1, "turn": 1}', '{"move": "A1", "turn": true}', '{"turn": 1}', '{"leave": 1}'],
)
async def test_message_that_is_not_understood(message: str, visit: Visit) -> None:
    _, seat = await begin(visit(), "tic_tac_toe", **{"seat.o": "bot/random"})
    await seat.turn()
    await seat.send(message)
    view = await seat.next(lambda view: view.get("notice"))
    assert "not understood" in view["notice"]
    assert view["turn"] == 1


async def test_illegal_move_is_refused_and_asked_again(visit: Visit) -> None:
    _, seat = await begin(visit(), "tic_tac_toe", **{"seat.o": "bot/random"})
    await seat.turn()
    await seat.move("Z9" * 30_000)
    view = await seat.next(lambda view: view.get("refused"))
    assert "not a legal action" in view["refused"]
    await seat.move("b2")
    assert (await seat.turn())["log"][0]["action"] == "B2"


async def test_message_of_a_megabyte_closes_the_connection_only(visit: Visit) -> None:
    visitor = visit()
    path, seat = await begin(visitor, "tic_tac_toe", **{"seat.o": "bot/random"})
    await seat.turn()
    await seat.send("x" * 1_000_000)
    with pytest.raises(ConnectionError, match="1009"):
        await seat.next(lambda view: False)
    seat = await visitor.sit(path)
    assert (await seat.next())["turn"] == 1


async def test_too_many_messages_close_the_connection(visit: Visit) -> None:
    _, seat = await begin(visit(), "tic_tac_toe", **{"seat.o": "bot/random"})
    for _ in range(60):
        await seat.send("{}")
    with pytest.raises(ConnectionError, match="1008"):
        await seat.next(lambda view: False)


async def test_leaving_voids_the_game_and_tells_the_other(visit: Visit, tmp_path: Path) -> None:
    one, x, _, o = await two_friends(visit, "tic_tac_toe", "x", "o")
    await x.turn()
    await x.move("A1")
    await o.turn()
    await o.send({"leave": True})
    view = await x.next(lambda view: view["saved"])
    assert "o left the game" in view["ended"]
    assert view["turn"] is None
    [folder] = (tmp_path / "runs").glob("play-*")
    episode = saved(folder)
    assert (episode.status, episode.error) == ("void", "o left the game.")
    verify(episode)
    status, _, _ = await one.post(f"{x.socket._response.url.path.removesuffix('/socket')}/again")
    assert status == 200
    await x.next(lambda view: view["game"] == 2 and view["turn"])


@pytest.mark.parametrize("path", ["", "/socket", "/join/forged"])
async def test_forged_token_is_refused(path: str, visit: Visit) -> None:
    one, two = visit(), visit()
    mine, _ = await begin(one, "tic_tac_toe", **{"seat.x": "me", "seat.o": "friend"})
    for place in (mine, mine[:-1] + "1", mine[:-1] + "7"):
        two.http.cookie_jar.update_cookies({"seat": "forged"})
        status, _, text = await two.get(place + path)
        assert status == 403, place
        assert "belongs to somebody else" in text
    status, _, text = await two.get(f"/play/none/0{path}")
    assert status == 404


async def test_only_the_organiser_names_other_players(visit: Visit) -> None:
    form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "other", "other.o": "bot/mcts?simulations=2"}
    visitor = visit()
    status, _, text = await visitor.post("/play", **form)
    assert status == 400
    assert "only the organiser" in text
    await visitor.get(f"/?token={TOKEN}")
    assert (await visitor.post("/play", **form))[0] == 200


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"game": "tic_tac_to"}, "did you mean"),
        ({"game": "tic_tac_toe", "seat.x": "bot/random", "seat.o": "bot/random"}, "exactly one seat"),
        ({"game": "tic_tac_toe", "seat.x": "me", "seat.o": "me"}, "exactly one seat"),
        ({"game": "tic_tac_toe", "seat.o": "bot/nobody"}, "unknown player"),
        ({"game": "tic_tac_toe", "seat.o": "human"}, "unknown player"),
        ({"game": "tic_tac_toe", "seed": "-1"}, "a seed is"),
        ({"game": "tic_tac_toe", "seed": "x"}, "a seed is"),
        ({"game": "hanabi", "option.players": "99"}, "at most"),
        ({}, "has no name"),
    ],
)
async def test_wrong_choices_are_explained(form: dict[str, str], reason: str, visit: Visit) -> None:
    status, _, text = await visit().post("/play", **form)
    assert status == 400
    assert reason in text


async def test_organisers_players_are_checked_too(visit: Visit) -> None:
    visitor = visit()
    await visitor.get(f"/?token={TOKEN}")
    for spec, reason in (("os:system", "may not choose"), ("human?pictures=/tmp", "friend"), ("", "no name")):
        form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "other", "other.o": spec}
        status, _, text = await visitor.post("/play", **form)
        assert (status, reason in text) == (400, True), text


async def test_failing_model_voids_the_game(visit: Visit, tmp_path: Path) -> None:
    visitor = visit()
    await visitor.get(f"/?token={TOKEN}")
    model = "vllm/nobody@http://127.0.0.1:9/v1?retries=0"
    form = {"seat.x": "me", "seat.o": "other", "other.o": model}
    path, seat = await begin(visitor, "tic_tac_toe", **form)
    await seat.turn()
    await seat.move("B2")
    view = await seat.next(lambda view: view["saved"])
    assert view["ended"].startswith("The game is void: ")
    [folder] = (tmp_path / "runs").glob("play-*")
    assert saved(folder).culprit == "o"
    [session] = visitor.app[TABLES].sessions.values()
    before = session.setup.seed
    assert (await visitor.post(f"{path}/again"))[0] == 200
    await seat.next(lambda view: view["game"] == 2 and view["turn"])
    assert session.setup.seed == before + 1  # the replay of a void game shows what everybody saw


async def test_browser_that_never_reads_is_dropped(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.web.socket.SEND_SECONDS", 0.3)
    visitor = visit()
    path, seat = await begin(visitor, "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
    await seat.turn()
    session = visitor.app[TABLES].sessions.get(path.split("/")[2])
    assert session is not None
    here = session.seats["x"]
    assert seat.socket._conn is not None
    seat.socket._conn.transport.pause_reading()  # type: ignore[union-attr]
    async with asyncio.timeout(60):
        while here.listener is not None:  # the buffers of the system fill up first
            session.changed()
            await asyncio.sleep(0)
    assert session.playing
    seat = await visitor.sit(path)
    assert (await seat.next())["turn"] == 1


async def test_idle_sessions_are_forgotten(visit: Visit, tmp_path: Path) -> None:
    visitor = visit()
    path, seat = await begin(visitor, "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
    await seat.turn()
    tables = visitor.app[TABLES]
    session = tables.sessions.get(path.split("/")[2])
    assert session is not None
    tables.forget(0.01)
    assert session.playing
    await seat.socket.close()
    async with asyncio.timeout(60):
        while session.seats["x"].away() <= 0.01:
            await asyncio.sleep(0.01)
    tables.forget(0.01)
    assert session._task is not None
    await asyncio.wait([session._task])
    assert "left the game" in session.ending
    tables.forget(0.01)
    assert not tables.sessions
    assert (await visitor.get(path))[0] == 404


async def test_number_of_sessions_is_bounded() -> None:
    tables = Tables(most=1)
    setup = Setup(make("tic_tac_toe"), {"x": "human", "o": "bot/random"})
    first, second = (Session(setup, lambda setup: {}) for _ in range(2))
    tables.add(first)
    tables.add(second)  # nobody is at the first one
    assert first.id not in tables.sessions
    second.seats["x"].listener = Quiet()
    with pytest.raises(HTTPServiceUnavailable):
        tables.add(first)


class Quiet:
    def notify(self) -> None: ...

    def replace(self) -> None: ...


async def test_only_the_organiser_looks_into_games_that_are_played(visit: Visit) -> None:
    player, stranger, organiser = visit(), visit(), visit()
    path, seat = await begin(player, "kuhn_poker", seed="2")
    await seat.turn()
    name = path.split("/")[2]
    for place in ("/watch", f"/watch/{name}"):
        status, _, text = await stranger.get(place)
        assert (status, "replay them after the end" in text) == (403, True)
    await organiser.get(f"/?token={TOKEN}")
    assert f'href="/watch/{name}"' in (await organiser.get("/watch"))[2]
    status, _, text = await organiser.get(f"/watch/{name}")
    assert (status, text.count("<figcaption>")) == (200, 2)
    assert (await organiser.get("/watch/none"))[0] == 404
