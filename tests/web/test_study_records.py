"""What a study must never do: show a puzzle twice, lose an answer, give a code that can be guessed."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption
from ludens.core.registry import make
from ludens.run.lines import read_records
from ludens.suites.people import StudyFile
from ludens.suites.people.records import OpenRecords, Participant
from ludens.web.spending import Spending
from ludens.web.study import ROOM
from ludens.web.study_room import Room
from tests.support.full_disk import file_size_limit
from tests.support.web_client import Seat, Visitor, served
from tests.web.test_study import (
    ALONE,
    PAIRS,
    base_of,
    begin,
    do,
    enter,
    join,
    lines,
    pair,
    study_of,
    token_of,
)


def who_is(visitor: Visitor) -> Participant:
    return visitor.app[ROOM].records.find(token_of(visitor)) or pytest.fail("unknown")


def seed_of(visitor: Visitor) -> int:
    return visitor.app[ROOM].games[who_is(visitor).name].job.seed


async def leave(seats: dict[str, tuple[Visitor, Seat]], who: Visitor) -> None:
    """One of two participants leaves the game, and both go on."""
    here, game = dict(seats.values()), who.app[ROOM].games[who_is(who).name]
    await here[who].send({"leave": True})
    for visitor, seat in here.items():
        await seat.next(lambda view: view["ended"])
        while not game.over:
            await asyncio.sleep(0.01)
        await do(visitor, "game")


async def abandon(one: Visitor, two: Visitor) -> None:
    """A void game of two participants."""
    await leave(await pair(one, two), two)


async def test_void_puzzle_is_only_given_to_people_who_have_not_seen_it(tmp_path: Path) -> None:
    study = study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one, two, three, four = (visit() for _ in range(4))
        for visitor in (one, two, three, four):
            await enter(visitor)
        await abandon(one, two)
        await pair(one, two)
        assert seed_of(one) == 8
        await pair(three, four)
        assert seed_of(three) == 7
    started = [line for line in lines(tmp_path / "runs" / "pairs") if line.get("event") == "started"]
    assert [(line["participant"], line["key"], line["attempt"]) for line in started] == [
        ("p001", "people:wire:7:0", 0),
        ("p002", "people:wire:7:0", 0),
        ("p001", "people:wire:8:0", 0),
        ("p002", "people:wire:8:0", 0),
        ("p003", "people:wire:7:0", 1),
        ("p004", "people:wire:7:0", 1),
    ]


async def test_pair_does_not_play_the_same_puzzle_after_a_restart(tmp_path: Path) -> None:
    study = study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one, two = visit(), visit()
        for visitor in (one, two):
            await enter(visitor)
        await pair(one, two)
        assert seed_of(one) == 7
        tokens = [token_of(one), token_of(two)]
    async with served(tmp_path / "runs", study=study) as visit:
        one, two = visit(), visit()
        for visitor, token in zip((one, two), tokens, strict=True):
            await visitor.get(f"{base_of(visitor)}/join/{token}")
        assert [game.status for game in who_is(one).games] == [""]
        seat = await one.sit(base_of(one))
        await seat.send({"leave": True})
        await seat.next(lambda view: view["ended"])
        while not one.app[ROOM].games["p001"].over:
            await asyncio.sleep(0.01)
        assert [game.status for game in who_is(one).games] == ["void"]
        for visitor in (one, two):
            await do(visitor, "game")
        await pair(one, two)
        assert seed_of(one) == 8


async def test_a_group_needs_an_episode_that_is_new_to_all_of_it(tmp_path: Path) -> None:
    """With two seeds, somebody who has seen one cannot play with somebody who has seen the other."""
    study = study_of(PAIRS.replace("episodes = 3", "episodes = 2"), tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        people = one, two, three, four, five = [visit() for _ in range(5)]
        for visitor in people:
            await enter(visitor)
        first, second = await pair(one, two), await pair(three, four)
        assert (seed_of(one), seed_of(three)) == (7, 8)
        await leave(first, two)
        await leave(second, four)
        assert "Waiting" in await do(one, "task")
        assert "Waiting" in await do(three, "task")
        await do(five, "task")
        assert seed_of(one) == seed_of(five) == 8  # who came first plays first
        assert "Waiting" in (await three.get(base_of(three)))[2]
        assert "How hard" in (await two.get(base_of(two)))[2]  # nothing is left that is new to them


async def test_game_that_did_not_begin_shows_nobody_anything(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        one, two = visit(), visit()
        for visitor in (one, two):
            await enter(visitor)
            await do(visitor, "task")
        room = one.app[ROOM]
        room.leave(room.games["p001"], "expert")
        for visitor in (one, two):
            await do(visitor, "game")
        await pair(one, two)
        assert seed_of(one) == 7


async def test_game_does_not_begin_if_its_start_cannot_be_recorded(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        await join(visitor, "p001")
        file = tmp_path / "runs" / "alone" / "participants.jsonl"
        before = file.read_bytes()
        with file_size_limit(len(before) + 20):
            seat = await begin(visitor)
            view = await seat.next(lambda view: view["ended"])
        assert "cannot save" in view["ended"]
        assert "images" not in view
        assert file.read_bytes() == before
        await do(visitor, "game")
        assert (await (await begin(visitor)).turn())["turn"] == 1


async def test_answer_that_cannot_be_saved_leaves_nothing_and_can_be_sent_again(tmp_path: Path) -> None:
    study = study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", study=study) as visit:
        one, two = visit(), visit()
        for visitor in (one, two):
            await do(visitor, "consent")
        file = tmp_path / "runs" / "pairs" / "participants.jsonl"
        before = file.read_bytes()
        with file_size_limit(len(before) + 20):
            status, _, text = await one.post(base_of(one), do="before", **{"q.age": "41"})
            assert (status, "could not be saved" in text, 'value="41"' in text) == (507, True, True)
            assert (await visit().post(base_of(one), do="consent"))[0] == 507
        assert file.read_bytes() == before
        await do(two, "before", **{"q.age": "42"})
        await do(one, "before", **{"q.age": "41"})
    async with served(tmp_path / "runs", study=study) as visit:
        people = visit().app[ROOM].records.participants
        assert [each.answers["before"]["age"] for each in people.values()] == [41, 42]


async def test_episode_that_cannot_be_saved_does_not_count_and_nobody_is_stuck(tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        await join(visitor, "p001")
        seat = await begin(visitor)
        await seat.turn()
        with file_size_limit(100):
            await seat.send({"leave": True})
            await seat.next(lambda view: "could not be saved" in view["ended"])
        assert "Begin" in await do(visitor, "game")
        await (await begin(visitor)).turn()
        assert seed_of(visitor) == 1
    assert read_records(tmp_path / "runs" / "alone") == []


@pytest.mark.parametrize("number", ["nan", "inf", "-Infinity", "1e999", "NaN"])
async def test_answers_that_are_no_numbers_are_refused(number: str, tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        one = visit()
        await do(one, "consent")
        status, _, text = await one.post(base_of(one), do="before", **{"q.age": number})
        assert (status, "with a number" in text) == (400, True)


async def test_codes_cannot_be_guessed_and_are_recorded_once(tmp_path: Path) -> None:
    study = study_of(ALONE.replace("each = 2", "each = 1"), tmp_path)
    codes = []
    async with served(tmp_path / "runs", study=study) as visit:
        for name in ("p001", "p002"):
            visitor = visit()
            await join(visitor, name)
            seat = await begin(visitor)
            state = make("comma/wire").start(seed_of(visitor))
            while not (await seat.turn())["ended"]:
                while "solver" not in state.to_act and state.to_act:
                    state.apply({"expert": state.solution("expert") or ""})
                said = state.solution("solver") or ""
                await seat.move(said)
                state.apply({"solver": said})
            text = await do(visitor, "game")
            [code] = re.findall(r"Your code: <b>(\w+)</b>", text)
            assert code in (await visitor.get(base_of(visitor)))[2]
            codes.append(code)
    assert len({*codes}) == 2
    assert all(re.fullmatch(r"[2-9A-Z]{12}", code) for code in codes)
    recorded = [
        line["code"] for line in lines(tmp_path / "runs" / "alone") if line.get("event") == "completed"
    ]
    assert recorded == codes


def test_two_servers_cannot_conduct_one_study(tmp_path: Path) -> None:
    study: StudyFile = study_of(ALONE, tmp_path)
    first, second = (Room(study, tmp_path / "runs", Spending()) for _ in range(2))
    with first.opened():
        before = (tmp_path / "runs" / "alone" / "participants.jsonl").read_bytes()
        with pytest.raises(BadOption, match="another process is writing"), second.opened():
            pass
        with pytest.raises(BadOption, match="another process is writing"), OpenRecords(first.store.folder):
            pass
    assert (tmp_path / "runs" / "alone" / "participants.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"participant":"p001","ev{"participant":"p001"}', "not JSON"),
        (b"[]", "not an event"),
        (b'{"participant":"p001","event":"flew","time":""}', "not an event"),
        (b'{"participant":"p001","event":"played","time":"","task":"wire","key":1}', "'key'"),
        (b'{"participant":"p001","event":"before","time":"","answers":{"age":[]}}', "neither text nor"),
    ],
)
def test_damaged_line_is_named_and_repair_is_advised(line: bytes, reason: str, tmp_path: Path) -> None:
    with OpenRecords(tmp_path) as records:
        records.add()
    with (tmp_path / "participants.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(BadFile, match=f"line 3 of .*{reason}.*ludens repair"), OpenRecords(tmp_path):
        pass
