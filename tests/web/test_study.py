"""Studies: whole studies over HTTP and WebSockets, and participants who leave."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from ludens.cli import main
from ludens.core.errors import BadFile
from ludens.core.registry import make
from ludens.core.verify import verify
from ludens.run.lines import read_records
from ludens.suites.people import StudyFile, read_study
from ludens.web.study import ROOM
from ludens.web.study_room import POLL_SECONDS
from tests.support.web_client import TOKEN, Seat, Visitor, served

PAIRS = """
name = "pairs"
title = "Puzzles for two"
consent = "Do you agree?"
leave_seconds = 1

[[before]]
name = "age"
text = "How old are you?"
kind = "number"

[[task]]
name = "wire"
game = "comma/wire"
suite = "comma"
seats = { solver = "participant", expert = "participant" }
episodes = 3
first_seed = 7

[[after]]
name = "hard"
text = "How hard was it?"
kind = "scale"
choices = ["easy", "hard"]
"""

SECOND_TASK = """
[[task]]
name = "again"
game = "comma/wire"
seats = { solver = "participant", expert = "bot/oracle" }
episodes = 3
each = 3
first_seed = 7

[[after]]"""

ALONE = """
name = "alone"
participants = 2

[[task]]
name = "wire"
game = "comma/wire"
suite = "comma"
seats = { solver = "participant", expert = "bot/oracle" }
episodes = 4
each = 2
"""


def study_of(text: str, folder: Path) -> StudyFile:
    file = folder / "study.toml"
    file.write_text(text)
    return read_study(file)


def base_of(visitor: Visitor) -> str:
    return f"/study/{visitor.app[ROOM].records.key}"


async def do(visitor: Visitor, what: str, **form: str) -> str:
    """Send a form of the study; returns the page it leads to."""
    status, path, text = await visitor.post(base_of(visitor), do=what, **form)
    assert (status, path) == (200, base_of(visitor)), text
    return text


async def enter(visitor: Visitor) -> None:
    """Consent and the questionnaire."""
    assert "Do you agree?" in (await visitor.get(base_of(visitor)))[2]
    assert "How old" in await do(visitor, "consent")
    await do(visitor, "before", **{"q.age": "33"})


async def join(visitor: Visitor, name: str) -> None:
    """Follow a participant's personal link and consent."""
    token = visitor.app[ROOM].records.participants[name].token
    status, _, text = await visitor.get(f"{base_of(visitor)}/join/{token}")
    assert (status, "I agree" in text) == (200, True)
    await do(visitor, "consent")


async def begin(visitor: Visitor) -> Seat:
    """Begin the next game, which needs no partner."""
    await do(visitor, "task")
    return await visitor.sit(base_of(visitor))


async def pair(one: Visitor, two: Visitor) -> dict[str, tuple[Visitor, Seat]]:
    """Two participants in a game, by seat."""
    assert "Waiting for a partner" in await do(one, "task")
    await do(two, "task")
    first, second = await one.sit(base_of(one)), await two.sit(base_of(two))
    await first.next(lambda view: view["game"])
    await second.next(lambda view: view["game"])
    return {first.view["seat"]: (one, first), second.view["seat"]: (two, second)}


async def solve(seats: dict[str, tuple[Visitor, Seat]], seed: int) -> None:
    """Play a puzzle of two participants to its end."""
    (_, solver), (_, expert) = seats["solver"], seats["expert"]
    state = make("comma/wire").start(seed)
    while not (await solver.turn())["ended"]:
        said = state.solution("solver") or ""
        await solver.move(said)
        state.apply({"solver": said})
        if (await expert.turn())["ended"]:
            break
        advice = state.solution("expert") or ""
        await expert.move(advice)
        state.apply({"expert": advice})
    assert expert.view["ended"] == "The game is over."


def lines(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / "participants.jsonl").read_bytes().splitlines()]


async def test_two_participants_play_a_puzzle(tmp_path: Path) -> None:
    study = study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one, two = visit(), visit()
        for visitor in (one, two):
            await enter(visitor)
        await solve(await pair(one, two), 7)
        for visitor in (one, two):
            assert "How hard was it?" in await do(visitor, "game")
            assert "Your code" in await do(visitor, "after", **{"q.hard": "2"})
    folder = tmp_path / "runs" / "pairs"
    [record] = read_records(folder)
    assert record.episode.facts["solved"]
    assert record.episode.seats == {"solver": "human", "expert": "human"}
    verify(record.episode)
    answers = [line["answers"] for line in lines(folder) if line.get("event") == "before"]
    assert answers == [{"age": 33.0}] * 2
    assert {line["seat"] for line in lines(folder) if line.get("event") == "played"} == {"solver", "expert"}
    assert await asyncio.to_thread(main, ["report", str(folder)]) == 0
    assert await asyncio.to_thread(main, ["verify", str(folder)]) == 0


async def test_leaving_voids_the_game_and_the_partner_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        one, two, three = visit(), visit(), visit()
        for visitor in (one, two, three):
            await enter(visitor)
        seats = await pair(one, two)
        (_, stays), (_, goes) = seats["solver"], seats["expert"]
        await stays.turn()
        await goes.socket.close()
        view = await stays.next(lambda view: view["ended"])
        assert "expert left the game" in view["ended"]
        visitor = seats["solver"][0]
        assert "Find a partner" in await do(visitor, "game")
        again = await pair(visitor, three)
        assert again["solver"][1].view["ended"] == ""
        status, _, text = await three.get(f"/?token={TOKEN}")
        _, _, text = await three.get(f"{base_of(three)}/progress")
        assert status == 200
        assert "0 of 3" in text
        assert text.count("<td>game</td>") == 3
        room = visitor.app[ROOM]
        assert room.store.voids["people:wire:7:0"] == 1
        who = room.records.find(token_of(three)) or pytest.fail("unknown")
        assert room.games[who.name].job.seed == 8  # one of the two has seen 7


def token_of(visitor: Visitor) -> str:
    [cookie] = [cookie for cookie in visitor.http.cookie_jar if cookie.key == "participant"]
    return cookie.value


async def test_participant_who_does_not_come_has_time_to_hear_of_the_game(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        one, two = visit(), visit()
        for visitor in (one, two):
            await enter(visitor)
            await do(visitor, "task")
        room = one.app[ROOM]
        game, _ = room.seat_of(room.records.participants["p001"]) or pytest.fail("no game")
        away = game.session.seats["expert"]
        away.last_seen -= 2 + POLL_SECONDS  # longer than leave_seconds
        room.look_after()
        assert not game.over
        away.last_seen -= 11
        room.look_after()
        assert game.over
        assert "somebody did not come" in game.session.ending


async def test_person_and_bot_with_personal_links(tmp_path: Path) -> None:
    study = study_of(ALONE, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        visitor, stranger = visit(), visit()
        room = visitor.app[ROOM]
        assert len(room.records.participants) == 2
        assert (await stranger.get(base_of(visitor)))[0] == 403
        assert (await stranger.post(base_of(visitor), do="consent"))[0] == 403
        assert (await stranger.get(f"{base_of(visitor)}/join/forged"))[0] == 403
        assert (await stranger.get("/study/forged"))[0] == 404
        await join(visitor, "p002")
        for game in range(2):
            seat = await begin(visitor)
            state = make("comma/wire").start(game)
            await seat.turn()
            while not seat.view["ended"]:
                while "solver" not in state.to_act and state.to_act:
                    state.apply({"expert": state.solution("expert") or ""})
                said = state.solution("solver") or ""
                await seat.move(said)
                state.apply({"solver": said})
                await seat.turn()
            text = await do(visitor, "game")
        assert f"Your code: <b>{room.records.participants['p002'].code}</b>" in text
    records = read_records(tmp_path / "runs" / "alone")
    assert [record.episode.seed for record in records] == [0, 1]
    assert all(record.episode.facts["solved"] for record in records)


async def test_server_that_starts_again_knows_everybody(tmp_path: Path) -> None:
    study = study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one = visit()
        await enter(one)
        token, base = token_of(one), base_of(one)
    with (tmp_path / "runs" / "pairs" / "participants.jsonl").open("ab") as file:
        file.write(b'{"participant": "p00')  # a crash
    async with served(tmp_path / "runs", study=study) as visit:
        one = visit()
        assert base_of(one) == base
        assert "Find a partner" in (await one.get(f"{base}/join/{token}"))[2]
        assert one.app[ROOM].records.participants["p001"].answers == {"before": {"age": 33.0}}


async def test_waiting_participant_may_go_on_alone_after_the_time_set(tmp_path: Path) -> None:
    study = study_of(PAIRS.replace("leave_seconds", "wait_minutes = 0.0\nleave_seconds"), tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one = visit()
        await enter(one)
        await do(one, "task")
        async with one.http.get(f"{base_of(one)}/waiting") as reply:
            assert await reply.json() == {"waiting": True, "skip": True, "plays": False}
        assert "How hard" in await do(one, "skip")


async def test_wrong_answers_are_explained_and_withdrawing_ends_the_study(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        one = visit()
        await do(one, "consent")
        status, _, text = await one.post(base_of(one), do="before", **{"q.age": "old"})
        assert (status, "with a number" in text) == (400, True)
        status, _, text = await one.post(base_of(one), do="before")
        assert (status, "please answer" in text) == (400, True)
        assert "How old" in await do(one, "after", **{"q.hard": "2"})  # not this step
        assert "You have left the study" in await do(one, "withdraw")
        assert "You have left the study" in await do(one, "task")
        assert (await one.get(f"{base_of(one)}/socket"))[0] == 409
        assert (await visit().get(f"{base_of(one)}/progress"))[0] == 403


async def test_time_limit_of_a_game(tmp_path: Path) -> None:
    text = ALONE.replace("each = 2", "minutes = 0.03")
    async with served(tmp_path / "runs", study=study_of(text, tmp_path)) as visit:
        visitor = visit()
        await join(visitor, "p001")
        seat = await begin(visitor)
        view = await seat.turn()
        assert 0 < view["seconds"] <= 1.8
        view = await seat.next(lambda view: view["ended"])
        assert view["turn"] is None
    [record] = read_records(tmp_path / "runs" / "alone")
    assert record.episode.status in ("done", "forfeit")
    assert record.episode.moves[0].tries[0].verdict == "late"
    verify(record.episode)


async def test_model_that_fails_is_not_named(tmp_path: Path) -> None:
    text = ALONE.replace("bot/oracle", "vllm/nobody@http://127.0.0.1:9/v1?retries=0")
    async with served(tmp_path / "runs", study=study_of(text, tmp_path)) as visit:
        visitor = visit()
        await join(visitor, "p001")
        seat = await begin(visitor)
        await seat.turn()
        await seat.move("Hello?")
        view = await seat.next(lambda view: view["ended"])
        assert "another player could not answer" in view["ended"]
        assert not any("nobody" in text or "vllm" in text for text in seat.received)
        assert "Begin" in await do(visitor, "game")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("name =", "nam ="), "not valid"),
        (('name = "pairs"', 'name = "../x"'), "a-z"),
        (("comma/wire", "comma/wir"), "did you mean"),
        (('suite = "comma"', 'suite = "demos"'), "unknown suite"),
        (("solver =", "solve ="), "must be those of"),
        (('"participant"', '"bot/random"'), "no seat for"),
        (('expert = "participant"', 'expert = "human"'), "write 'participant'"),
        (("episodes = 3", "episodes = 0"), "episodes"),
        (('kind = "scale"', 'kind = "stars"'), "after.0.kind"),
        (('name = "hard"', 'name = "age"'), "same name"),
        (("[[task]]", "[[tasks]]"), "not valid"),
        (("[[task]]", "[task"), "not TOML"),
        (("leave_seconds = 1", "leave_seconds = nan"), "leave_seconds must be"),
        (("leave_seconds = 1", "wait_minutes = inf"), "wait_minutes"),
        (("first_seed = 7", "minutes = nan"), "time limits"),
        (("first_seed = 7", "seconds = inf"), "time limits"),
        (("[[after]]", SECOND_TASK), "only 3 different seeds"),
    ],
)
def test_wrong_study_is_explained(change: tuple[str, str], reason: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=reason):
        study_of(PAIRS.replace(*change), tmp_path).plan()


def test_missing_study_is_explained(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file"):
        read_study(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["comma-pairs", "comma-model"])
def test_studies_of_the_documentation_are_valid(name: str) -> None:
    study = read_study(Path(__file__).parents[2] / "docs" / "studies" / f"{name}.toml")
    assert study.name == name
    assert study.plan().total() == 40
    assert all(task.config.seconds == 600 for task in study.task)


PRACTICE = """
name = "practised"

[[task]]
name = "try"
game = "tic_tac_toe"
seats = { x = "participant", o = "bot/random" }
episodes = 1
first_seed = 5
practice = true

[[task]]
name = "real"
game = "tic_tac_toe"
seats = { x = "participant", o = "bot/random" }
episodes = 4
first_seed = 5
each = 2

[[after]]
name = "attention"
text = "Choose blue."
kind = "choice"
choices = ["red", "blue"]
right = "blue"
"""


async def play_first_moves(visitor: Visitor) -> int:
    """Play the next game with the first legal move; returns its seed."""
    seat = await begin(visitor)
    view = await seat.turn()
    [game] = [g for g in visitor.app[ROOM].games.values() if not g.over and seat.view["seat"] in g.seats]
    while not view["ended"]:
        await seat.move(view["legal"][0])
        view = await seat.turn()
    while not game.over:
        await asyncio.sleep(0.01)
    await seat.socket.close()
    await do(visitor, "game")
    return game.job.seed


async def test_practice_is_no_part_of_the_results(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PRACTICE, tmp_path)) as visit:
        one = visit()
        assert "practice 1 of 1" in await do(one, "consent")
        assert await play_first_moves(one) == 5
        assert "game 1 of 2" in (await one.get(base_of(one)))[2]
        assert [await play_first_moves(one) for _ in range(2)] == [6, 7]  # 5 was seen in practice
        await do(one, "after", **{"q.attention": "blue"})
        room = one.app[ROOM]
        assert room.records.participants["p001"].excluded is None
        assert [game.status for game in room.records.participants["p001"].games] == ["done"] * 3
    records = read_records(tmp_path / "runs" / "practised")
    assert [record.task for record in records] == ["real", "real"]


async def test_failed_attention_check_excludes(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PRACTICE, tmp_path)) as visit:
        one = visit()
        await do(one, "consent")
        for _ in range(3):
            await play_first_moves(one)
        assert "Your code" in await do(one, "after", **{"q.attention": "red"})
        assert one.app[ROOM].records.participants["p001"].excluded == "attention check: attention"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('o = "bot/random" }\nepisodes = 1', 'o = "participant" }\nepisodes = 1', "exactly one seat"),
        ('right = "blue"', 'right = "green"', "must be one of its answers"),
    ],
)
def test_wrong_practice_and_checks(old: str, new: str, problem: str, tmp_path: Path) -> None:
    assert old in PRACTICE
    with pytest.raises(BadFile, match=problem):
        study_of(PRACTICE.replace(old, new), tmp_path)


def test_study_of_practice_alone(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="not practice"):
        study_of(PRACTICE.partition('[[task]]\nname = "real"')[0], tmp_path)
