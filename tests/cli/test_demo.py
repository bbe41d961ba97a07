"""`ludens demo` runs the suite `demo` with bots and nano and writes a report."""

from __future__ import annotations

from pathlib import Path

from ludens import verify
from ludens.run.lines import read_records
from ludens.run.rows import EPISODES
from ludens.run.task import suite
from tests.cli.conftest import Run


def test_it_writes_what_the_documented_evaluation_does(ludens: Run, tmp_path: Path) -> None:
    """Table, episodes and report; the episodes are those of `ludens eval demo`."""
    out = tmp_path / "out"
    ran = ludens("demo", "--out", str(out), "--limit", "1", "--seed", "5")
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
        assert record.episode.status in ("done", "forfeit")
        verify(record.episode)

    stored = (out / EPISODES).read_bytes()
    models = ["--model", "bot/random", "--model", "bot/best", "--model", "nano", "--blind-control"]
    again = ludens("eval", "demo", *models, "--limit", "1", "--seed", "5", "--out", str(out), "--yes")
    assert again.code == 0, again.err
    assert (out / EPISODES).read_bytes() == stored  # the same plan, of which nothing is left to play


def test_every_kind_of_game_is_in_the_demo() -> None:
    assert {task.game.split("?")[0] for task in suite("demo").tasks} == {
        "tic_tac_toe", "coin_dilemma", "perceive", "spy/vote", "comma/keypad",
    }  # fmt: skip
