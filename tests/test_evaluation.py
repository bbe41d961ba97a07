"""`ludens.evaluate`: a suite played from Python."""

from __future__ import annotations

import csv
import gc
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ludens
from ludens.core.errors import BadOption, UnknownName
from tests.support.runs import QUICK

BOTS = ["bot/random", "bot/best"]


@pytest.fixture(scope="module")
def found() -> ludens.Evaluation:
    return ludens.evaluate("demo", BOTS, tasks=["tic_tac_toe", "perceive"], limit=2)


def test_the_table_and_the_results(found: ludens.Evaluation) -> None:
    assert found.complete
    assert found.reason == ""
    for word in ("bot/random", "bot/best", "tic_tac_toe", "unbeaten %", "95% intervals"):
        assert word in found.table()
    assert str(found) == found.table()
    assert max(map(len, found.table(width=80).splitlines()[:6])) <= 80
    [suite] = found.results.suites
    assert [row.name for row in suite.rows] == BOTS


def test_one_row_per_episode(found: ludens.Evaluation) -> None:
    rows = found.episodes()
    assert len(rows) == 8
    assert {(row["entrant"], row["task"]) for row in rows} == {
        (bot, task) for bot in BOTS for task in ("tic_tac_toe", "perceive")
    }
    assert all(row["status"] == "done" for row in rows)


def test_a_frame_is_a_data_frame_if_pandas_is_installed(
    found: ludens.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pandas(ModuleType):
        def DataFrame(self, rows: list[dict[str, Any]]) -> tuple[str, int]:
            return "frame", len(rows)

    monkeypatch.setitem(sys.modules, "pandas", Pandas("pandas"))
    assert found.frame() == ("frame", 8)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert found.frame() == found.episodes()


def test_files(found: ludens.Evaluation, tmp_path: Path) -> None:
    found.to_csv(tmp_path / "e.csv")
    with (tmp_path / "e.csv").open() as file:
        assert [row["key"] for row in csv.DictReader(file)] == [row["key"] for row in found.episodes()]
    found.to_html(str(tmp_path / "r.html"))
    assert (tmp_path / "r.html").read_bytes().startswith(b"<!doctype html>")
    pytest.importorskip("pyarrow")
    found.to_parquet(tmp_path / "e.parquet")
    assert (tmp_path / "e.parquet").read_bytes().startswith(b"PAR1")


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    ludens.evaluate(QUICK, BOTS[:1], limit=1)
    assert capfd.readouterr() == ("", "")
    ludens.evaluate(QUICK, BOTS[:1], limit=1, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "episodes" in err


def test_a_limit_above_the_episodes_of_a_task_is_named() -> None:
    with pytest.warns(UserWarning, match=r"limit 8,000 is above .* tic_tac_toe \(\d+\): no more are played"):
        found = ludens.evaluate("demo", BOTS[:1], tasks=["tic_tac_toe"], limit=8000)
    assert len(found.episodes()) == 12


def test_a_temporary_folder_is_deleted_with_the_results() -> None:
    found = ludens.evaluate(QUICK, BOTS[:1], limit=1)
    folder = found.folder
    assert (folder / "run.json").exists()
    del found
    gc.collect()
    assert not folder.exists()


def test_a_given_folder_is_kept_and_continued(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = ludens.evaluate(QUICK, BOTS[:1], limit=1, out=out).episodes()
    episodes = (out / "episodes.jsonl").read_bytes()
    assert ludens.evaluate(QUICK, BOTS[:1], limit=1, out=str(out)).episodes() == first
    assert (out / "episodes.jsonl").read_bytes() == episodes
    with pytest.raises(BadOption, match="another run"):
        ludens.evaluate(QUICK, BOTS[1:], limit=1, out=out)


async def test_it_works_inside_an_event_loop() -> None:
    assert ludens.evaluate(QUICK, BOTS[:1], limit=1).complete


def test_usage_errors() -> None:
    with pytest.raises(BadOption, match=r"\['bot/random'\]"):
        ludens.evaluate(QUICK, "bot/random")
    with pytest.raises(BadOption, match="concurrency"):
        ludens.evaluate(QUICK, BOTS, concurrency=0)
    with pytest.raises(UnknownName, match="vs-bench-mini"):
        ludens.evaluate("vs-bench-mni", BOTS)
    with pytest.raises(BadOption, match="no entrants"):
        ludens.evaluate(QUICK, [])
