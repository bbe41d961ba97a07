"""`ludens demo` runs the suite `demo` with bots and writes a report."""

from __future__ import annotations

from pathlib import Path

from ludens import verify
from ludens.run.store import read_plan, read_records
from ludens.run.task import suite
from tests.cli.conftest import Run


def test_it_writes_table_episodes_and_report(ludens: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = ludens("demo", "--out", str(out), "--limit", "2")
    assert ran.code == 0
    assert f"Open {out / 'report.html'}" in ran.out
    assert "bot/random" in ran.out
    assert "bot/best" in ran.out
    assert (out / "report.html").stat().st_size > 10_000
    records = read_records(out)
    assert len(records) == 2 * 2 * len(suite("demo").tasks)
    for record in records:
        assert record.episode.status == "done"
        verify(record.episode)


def test_every_kind_of_game_is_in_the_demo() -> None:
    assert {task.game.split("?")[0] for task in suite("demo").tasks} == {
        "tic_tac_toe", "breakthrough", "coin_dilemma", "perceive", "comma/wire",
    }  # fmt: skip


def test_it_equals_the_documented_evaluation(ludens: Run, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    ludens("demo", "--out", str(one), "--limit", "2", "--seed", "5")
    words = ["eval", "demo", "--model", "bot/random", "--model", "bot/best", "--limit", "2", "--seed", "5"]
    ludens(*words, "--out", str(other))
    assert read_plan(one).identity() == read_plan(other).identity()
    ours, theirs = ({r.key: r.episode.fingerprint() for r in read_records(f)} for f in (one, other))
    assert ours == theirs
