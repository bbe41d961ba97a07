"""`ludens demo` runs the suite `demo` with bots and nano and writes a report."""

from __future__ import annotations

from pathlib import Path

from ludens import verify
from ludens.run.lines import read_records
from ludens.run.store import read_plan
from ludens.run.task import suite
from tests.cli.conftest import Run


def test_it_writes_table_episodes_and_report(ludens: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = ludens("demo", "--out", str(out), "--limit", "1")
    assert ran.code == 0
    assert f"Open {out / 'report.html'}" in ran.out
    entrants = {"bot/random", "bot/best", "nano", "nano (blind)"}
    assert all(entrant in ran.out for entrant in entrants)
    assert (out / "report.html").stat().st_size > 10_000
    records = read_records(out)
    assert {record.entrant for record in records} == entrants
    assert {record.task for record in records} == {task.name for task in suite("demo").tasks}
    assert len(records) == len(entrants) * sum(len(task.seatings) for task in suite("demo").tasks)
    for record in records:
        assert record.episode.status == "done"
        verify(record.episode)


def test_every_kind_of_game_is_in_the_demo() -> None:
    assert {task.game.split("?")[0] for task in suite("demo").tasks} == {
        "tic_tac_toe", "breakthrough", "coin_dilemma", "perceive", "comma/wire",
    }  # fmt: skip


def test_it_equals_the_documented_evaluation(ludens: Run, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    ludens("demo", "--out", str(one), "--limit", "1", "--seed", "5")
    models = ["--model", "bot/random", "--model", "bot/best", "--model", "nano", "--blind-control"]
    ludens("eval", "demo", *models, "--limit", "1", "--seed", "5", "--out", str(other), "--yes")
    assert read_plan(one).identity() == read_plan(other).identity()
    ours, theirs = ({r.key: r.episode.fingerprint() for r in read_records(f)} for f in (one, other))
    assert ours == theirs
