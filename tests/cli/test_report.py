"""`ludens report`, `runs` and `suites`: formats, files and errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.support.reported import make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = {"seer": "fake/seer", "blind": "fake/seer?blind=true", "random": "bot/random"}
    return make_run(tmp_path_factory.mktemp("runs") / "first", entrants, tasks=("see", "turns"), limit=2)


def test_a_table_by_default(folder: Path, ludens: Run) -> None:
    ran = ludens("report", str(folder))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("reported\n")
    for word in ("seer", "won %", "GPT_0 (published: Some & Body 2024)", "Replies", "Paired differences"):
        assert word in ran.out


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.txt", b"reported"),
        ("r.md", b"## reported"),
        ("r.tex", b"\\begin{table}"),
        ("r.csv", b"suite,origin,entrant"),
        ("r.parquet", b"PAR1"),
        ("r.html", b"<!doctype html>"),
        ("r.json", b"{"),
    ],
)
def test_the_format_follows_from_the_suffix(
    name: str, start: bytes, folder: Path, ludens: Run, tmp_path: Path
) -> None:
    ran = ludens("report", str(folder), "--out", str(tmp_path / name))
    assert (ran.code, ran.out) == (0, f"Report written to {tmp_path / name}.\n")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_file_is_written_with_one_line_of_warning_a_model(tmp_path: Path, ludens: Run) -> None:
    entrants = {"guesser": "fake/guesser", "blind": "fake/guesser?blind=true"}
    folder = make_run(tmp_path / "run", entrants)
    ran = ludens("report", str(folder), "--format", "html", "--episodes", "0")
    assert ran.err == "warning: guesser: not significantly better with pictures than blind on see.\n"


def test_data_is_printed_and_pages_go_to_the_run(folder: Path, ludens: Run) -> None:
    ran = ludens("report", str(folder), "--format", "csv")
    assert {row["entrant"] for row in csv.DictReader(io.StringIO(ran.out))} >= {"seer", "random"}
    assert json.loads(ludens("report", str(folder), "--format", "json").out)["schema"] == 4
    ran = ludens("report", str(folder), "--format", "html", "--episodes", "1")
    assert ran.out == f"Report written to {folder / 'report.html'}.\n"
    assert ran.err == ""
    assert (folder / "report.html").stat().st_size > 10_000


def test_one_row_per_episode(folder: Path, ludens: Run) -> None:
    ran = ludens("report", str(folder), "--format", "episodes-csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(rows) == len((folder / "episodes.jsonl").read_bytes().splitlines())
    assert {row["task"] for row in rows} == {"see", "turns"}
    ran = ludens("report", str(folder), "--format", "episodes-parquet")
    assert ran.out == f"Report written to {folder / 'episodes.parquet'}.\n"
    assert (folder / "episodes.parquet").read_bytes().startswith(b"PAR1")


def test_a_failed_write_keeps_the_old_report(
    folder: Path, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    out.write_text("old")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = ludens("report", str(folder), "--out", str(out), "--episodes", "0")
    assert (ran.code, out.read_text()) == (2, "old")
    assert "no space left" in ran.err


def test_metrics_can_be_chosen(folder: Path, ludens: Run) -> None:
    heads = ludens("report", str(folder), "--metric", "return", "--format", "md").out.splitlines()[2]
    assert "turns (return)" in heads
    assert "see" not in heads
    both = ludens("report", str(folder), "--metric", "won", "--metric", "exact", "--format", "md")
    assert "(won %)" in both.out.splitlines()[2]
    assert "(exact %)" in both.out.splitlines()[2]


def test_several_runs_in_one_report(folder: Path, ludens: Run, tmp_path: Path) -> None:
    other = make_run(tmp_path / "second", {"random": "bot/random"}, tasks=("turns",), limit=2)
    out = ludens("report", str(folder), str(other)).out
    assert "random (first)" in out
    assert "random (second)" in out


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        ([], "missing argument RUN"),
        (["{}/nowhere"], "no run.json"),
        (["{run}", "{run}"], "more than once"),
        (["{run}", "--format", "htm"], "did you mean 'html'?"),
        (["{run}", "--out", "{}/report.doc"], "add --format"),
        (["{run}", "--out", "{}/no/report.md"], "cannot write"),
        (["{run}", "--metric", "wun"], "did you mean 'won'?"),
        (["{run}", "--episodes", "-1", "--format", "html"], "at least 0"),
    ],
)
def test_usage_errors(argv: list[str], hint: str, folder: Path, ludens: Run, tmp_path: Path) -> None:
    ran = ludens("report", *[word.format(tmp_path, run=folder) for word in argv])
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert hint in line


def test_runs_lists_what_is_there(folder: Path, ludens: Run) -> None:
    ran = ludens("runs", str(folder.parent))
    assert (ran.code, ran.err) == (0, "")
    for word in (str(folder), "seer, blind, random", "12 of 12"):
        assert word in ran.out
    [told] = json.loads(ludens("runs", str(folder.parent), "--json").out)
    assert (told["done"], told["planned"], told["void"]) == (12, 12, 1)
    assert told["suite"] == "tests.support.reported:SUITE"


def test_a_run_that_cannot_be_read_is_listed_with_the_reason(ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{}")
    ran = ludens("runs", str(tmp_path))
    assert ran.code == 0
    assert "run.json is not valid at suite" in ran.out
    [told] = json.loads(ludens("runs", str(tmp_path), "--json").out)
    assert "not valid" in told["error"]


def test_no_runs(ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ludens("runs", str(tmp_path)).out == f"There are no runs in {tmp_path}.\n"
    monkeypatch.chdir(tmp_path)
    ran = ludens("runs")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no folder 'runs'" in ran.err


def test_suites_are_listed_with_their_tasks(ludens: Run) -> None:
    ran = ludens("suites")
    assert (ran.code, ran.err) == (0, "")
    assert " demo " in ran.out
    told = {suite["name"]: suite for suite in json.loads(ludens("suites", "--json").out)}
    assert {task["name"] for task in told["demo"]["tasks"]} >= {"tic_tac_toe", "perceive", "keypad"}
    assert told["demo"]["episodes"] == sum(task["episodes"] for task in told["demo"]["tasks"])


def test_one_suite_has_a_page(ludens: Run) -> None:
    out = ludens("suites", "tests.support.reported:SUITE").out
    for word in ("Everything a report <can> show.", "x: MODEL, o: bot/random", "won, return", "GPT_0"):
        assert word in out
    assert "Boards are <small>." in out
    assert json.loads(ludens("suites", "demo", "--json").out)["name"] == "demo"
    assert "did you mean 'demo'?" in ludens("suites", "dmo").err
