"""`ludens study` and `ludens repair`: the data of a study that was played over HTTP."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from ludens.suites.people.records import OpenRecords, Records
from tests.cli.conftest import Run
from tests.support.web_client import served
from tests.web.test_study import PAIRS, do, enter, lines, pair, solve, study_of
from tests.web.test_study_records import abandon

PEOPLE = ["p001", "p002", "p003", "p004"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of four participants: a void game of the first pair, then one game of each pair."""
    root = tmp_path_factory.mktemp("study")
    async with served(root / "runs", study=study_of(PAIRS, root)) as visit:
        people = one, two, three, four = visit(), visit(), visit(), visit()
        for visitor in people:
            await enter(visitor)
        await abandon(one, two)
        await solve(await pair(one, two), 8)
        await solve(await pair(three, four), 7)
        for visitor in people:
            await do(visitor, "game")
            await do(visitor, "after", **{"q.hard": "2"})
    return root / "runs" / "pairs"


@pytest.fixture
def study(played: Path, tmp_path: Path) -> Path:
    """A copy of the study that may be changed."""
    return Path(shutil.copytree(played, tmp_path / "pairs"))


def table(study: Path, name: str) -> list[dict[str, Any]]:
    with (study / "export" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_names_the_participants(study: Path, ludens: Run) -> None:
    ran = ludens("study", "export", str(study))
    assert (ran.code, ran.err) == (0, "")
    assert f"{study / 'export' / 'participants.csv'}: 4 rows" in ran.out
    people = table(study, "participants")
    assert [row["participant"] for row in people] == PEOPLE
    assert [row["code"] for row in people] == [
        each.code for each in Records(study).read().participants.values()
    ]
    assert [(row["games"], row["void"]) for row in people] == [("1", "1")] * 2 + [("1", "0")] * 2
    answers = table(study, "answers")
    assert [(row["part"], row["question"], row["answer"], row["number"]) for row in answers[:2]] == [
        ("before", "age", "33", "33.0"),
        ("after", "hard", "2", ""),
    ]
    assert sorted({row["participant"] for row in answers}) == PEOPLE
    episodes = table(study, "episodes")
    columns = ("participant", "partners", "seed", "attempt", "status")
    assert [tuple(row[name] for name in columns) for row in episodes] == [
        ("p001", "p002", "7", "0", "void"), ("p001", "p002", "8", "0", "done"),
        ("p002", "p001", "7", "0", "void"), ("p002", "p001", "8", "0", "done"),
        ("p003", "p004", "7", "1", "done"), ("p004", "p003", "7", "1", "done"),
    ]  # fmt: skip
    assert [row["metric.PSR"] for row in episodes] == ["", "1.0", "", "1.0", "1.0", "1.0"]
    assert all(row["started"] <= row["ended"] for row in episodes)
    moves = table(study, "moves")
    seats = {(row["participant"], row["seat"]) for row in episodes if row["status"] == "done"}
    assert {(row["participant"], row["seat"]) for row in moves} == seats
    for row in episodes:
        own = [m for m in moves if (m["participant"], m["key"], m["attempt"]) == (
            row["participant"], row["key"], row["attempt"])]  # fmt: skip
        assert len(own) == int(row["moves"])
    tokens = [line["token"] for line in lines(study) if line.get("event") == "added"]
    exported = "".join(file.read_text() for file in (study / "export").iterdir())
    assert len(tokens) == 4
    assert not any(token in exported for token in tokens)


def test_parquet_has_the_same_rows(study: Path, ludens: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "tables"
    assert ludens("study", "export", str(study)).code == 0
    assert ludens("study", "export", str(study), "--format", "parquet", "--out", str(out)).code == 0
    for name in ("participants", "answers", "episodes", "moves"):
        rows = parquet.read_table(out / f"{name}.parquet").to_pylist()
        texts = [{key: "" if v is None else str(v) for key, v in row.items()} for row in rows]
        assert texts == table(study, name)


def test_excluded_participant_is_kept_and_left_out_of_results(study: Path, ludens: Run) -> None:
    before = (study / "participants.jsonl").read_bytes()
    ran = ludens("study", "exclude", str(study), "p003", "--why", "used a search engine")
    assert (ran.code, ran.err) == (0, "")
    after = (study / "participants.jsonl").read_bytes()
    assert after.startswith(before)
    assert orjson.loads(after[len(before) :])["why"] == "used a search engine"
    assert ludens("study", "export", str(study)).code == 0
    assert [(row["participant"], row["why"]) for row in table(study, "participants")][2:] == [
        ("p003", "used a search engine"),
        ("p004", ""),
    ]
    assert {row["participant"] for row in table(study, "answers")} == {"p001", "p002", "p004"}
    for name in ("episodes", "moves"):  # a game with an excluded participant is nobody's result
        assert {row["participant"] for row in table(study, name)} == {"p001", "p002"}
    report = ludens("report", str(study)).out
    assert "wire 1 of 3" in report
    assert "excluded participants (people:wire:7:0)" in " ".join(report.split())
    rows = list(csv.DictReader(ludens("report", str(study), "--format", "episodes-csv").out.splitlines()))
    assert [(row["seed"], row["status"]) for row in rows] == [("7", "void"), ("8", "done")]
    assert ludens("study", "export", str(study), "--excluded").code == 0
    marked = {row["participant"]: row["excluded"] for row in table(study, "moves")}
    assert marked == {"p001": "False", "p002": "False", "p003": "True", "p004": "True"}
    assert ludens("study", "include", str(study), "p003").code == 0
    assert "wire 2 of 3" in ludens("report", str(study)).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("exclude", "p003"), "needs a reason"),
        (("exclude", "p009", "--why", "x"), "unknown participant 'p009'"),
        (("exclude", "--why", "x"), "missing participant"),
        (("exclude", "p003", "--why", "x", "--out", "y"), "--out"),
        (("include", "p003", "--why", "x"), "--why"),
        (("export", "p003"), "no participant"),
        (("export", "--format", "xls"), "unknown format"),
        (("explode",), "unknown action"),
    ],
)
def test_wrong_words_are_explained(words: tuple[str, ...], message: str, study: Path, ludens: Run) -> None:
    before = (study / "participants.jsonl").read_bytes()
    ran = ludens("study", words[0], str(study), *words[1:])
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert (study / "participants.jsonl").read_bytes() == before


def test_what_is_no_study_is_refused(ludens: Run, tmp_path: Path) -> None:
    for action in (("export",), ("exclude", "p001", "--why", "x")):
        ran = ludens("study", action[0], str(tmp_path), *action[1:])
        assert (ran.code, list(tmp_path.iterdir())) == (2, [])


def test_study_that_is_conducted_cannot_be_changed(study: Path, ludens: Run) -> None:
    with OpenRecords(study):
        ran = ludens("study", "exclude", str(study), "p003", "--why", "x")
    assert ran.code == 2
    assert "another process is writing" in ran.err


def test_repair_sets_damaged_lines_of_a_study_aside_and_keeps_what_is_whole(study: Path, ludens: Run) -> None:
    """What a full disk left before: a part of a line with an answer glued to it."""
    file = study / "participants.jsonl"
    whole = file.read_bytes().splitlines(keepends=True)
    broken = [*whole[:5], whole[5][:20] + whole[5], b"noise\n", *whole[6:], whole[-1][:30]]
    file.write_bytes(b"".join(broken))
    ran = ludens("study", "export", str(study))
    assert ran.code == 2
    assert f"ludens repair {study}" in ran.err
    ran = ludens("repair", str(study))
    assert (ran.code, ran.err) == (0, "")
    assert f"3 lines moved to {study / 'participants.bad.jsonl'}" in ran.out
    assert "2 of 3 episodes done" in ran.out
    assert "ludens resume" not in ran.out  # nobody can resume people
    assert file.read_bytes() == b"".join(whole)
    aside = (study / "participants.bad.jsonl").read_bytes()
    assert aside == whole[5][:20] + b"\n" + b"noise\n" + whole[-1][:30] + b"\n"
    assert orjson.loads(ludens("repair", str(study), "--json").out)["participants"] == []
    assert ludens("study", "export", str(study)).code == 0


def test_participant_whose_first_line_was_lost_keeps_the_rest(study: Path, ludens: Run) -> None:
    file = study / "participants.jsonl"
    kept = [
        line for line in file.read_bytes().splitlines(keepends=True) if b'"p002","event":"added"' not in line
    ]
    file.write_bytes(b"".join(kept))
    with OpenRecords(study) as records:
        assert records.participants["p002"].answers["before"] == {"age": 33.0}
        assert records.find("") is None
        assert records.add().name == "p005"
