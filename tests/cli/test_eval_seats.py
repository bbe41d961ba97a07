"""`ludens eval --seat`: bots, people and modules in seats; resume; wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.run.lines import read_records
from tests.cli.conftest import Run

WIRE = ("eval", "comma-mini", "--tasks", "wire", "--limit", "1")


def test_a_table_says_who_sat_where(ludens: Run, tmp_path: Path) -> None:
    ran = ludens(*WIRE, "-m", "bot/oracle", "--seat", "expert=bot/best", "--out", str(tmp_path / "run"))
    assert ran.code == 0
    assert " bot/oracle, expert: bot/best " in ran.out
    assert "published: COMMA" not in ran.out, "published players had other partners"
    listed = ludens("runs", str(tmp_path), "--json")
    assert list(json.loads(listed.out)[0]["entrants"]) == ["bot/oracle, expert: bot/best"]
    assert ludens("resume", str(tmp_path / "run")).code == 0
    assert ludens("verify", str(tmp_path / "run")).code == 0


def test_a_person_is_the_expert(ludens: Run, tmp_path: Path) -> None:
    """The oracle Solver understands `cut = NUMBER`: the person reads the manual and answers it."""
    ran = ludens(
        *WIRE, "-m", "bot/oracle", "--seat", f"expert=human?pictures={tmp_path}", "--out",
        str(tmp_path / "run"), typed="cut = 1\ncut = 2\ncut = 3\ncut = 4\ncut = 5\ncut = 6\n",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "=== expert, your move 1" in ran.err
    assert "cut the last wire" in ran.err.lower(), "the manual"
    assert "bot/oracle, expert:" in ran.out
    [record] = read_records(tmp_path / "run")
    assert [move.seat for move in record.episode.moves][:2] == ["solver", "expert"]
    assert record.episode.moves[1].action == "cut = 1"


def test_a_person_plays_in_this_process(ludens: Run, tmp_path: Path) -> None:
    ran = ludens(*WIRE, "-m", "bot/oracle", "--seat", "expert=human", "--workers", "2")
    assert (ran.code, ran.out) == (2, "")
    assert "drop --workers" in ran.err


def test_a_player_comes_from_a_module(ludens: Run, tmp_path: Path) -> None:
    run, path = str(tmp_path / "run"), "tests.support.suites:Flaky"
    assert ludens(*WIRE, "-m", "bot/oracle", "--seat", f"expert={path}", "--out", run).code == 0
    assert ludens("verify", run).code == 0


@pytest.mark.parametrize(
    ("seats", "message"),
    [
        (("expert=bot/oracel",), "did you mean 'bot/oracle'?"),
        (("expert",), "--seat expects KEY=VALUE, for example expert=human, not 'expert'."),
        (("expert=bot/first", "expert=bot/random"), "--seat expert given more than once."),
        (("solver=bot/first", "expert=bot/first"), "no seat of 'wire' is left for the model"),
    ],
)
def test_wrong_seats(seats: tuple[str, ...], message: str, ludens: Run, tmp_path: Path) -> None:
    flags = [word for seat in seats for word in ("--seat", seat)]
    ran = ludens(*WIRE, "-m", "bot/random", *flags, "--out", str(tmp_path / "run"))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (tmp_path / "run").exists()


def test_a_file_does_not_choose_what_the_player_of_a_seat_may_use(ludens: Run, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert ludens(*WIRE, "-m", "bot/random", "--seat", "expert=bot/first", "--out", str(run)).code == 0
    plan = json.loads((run / "run.json").read_text())
    plan["seated"] = {"expert": "openai/gpt-4.1@https://evil.example/v1"}
    plan["task_snapshot"]["wire"]["seatings"][0]["expert"] = plan["seated"]["expert"]
    (run / "run.json").write_text(json.dumps(plan))
    (run / "episodes.jsonl").unlink()
    ran = ludens("resume", str(run), "--yes")
    assert ran.code == 2
    assert "openai/gpt-4.1 sends data, and an API key where one is set, to https://evil.example/v1" in ran.err
