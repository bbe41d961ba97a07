"""A run folder names a suite; it must never choose what is imported or called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.run.task import SUITES
from tests.cli.conftest import Run
from tests.support.runs import TURNS


def _forge(folder: Path, suite: str) -> None:
    """Change the suite that a run folder names."""
    file = folder / "run.json"
    plan = json.loads(file.read_text())
    file.write_text(json.dumps({**plan, "suite": suite}))


@pytest.fixture
def run(ludens: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "one"
    some = ("--tasks", "tic_tac_toe", "--limit", "2")
    ran = ludens("eval", "demo", "-m", "bot/random", *some, "--out", str(folder))
    assert ran.code == 0, ran.err
    return folder


@pytest.mark.parametrize("command", ["report", "resume", "runs", "repair", "verify"])
def test_a_forged_suite_is_neither_imported_nor_called(
    command: str, run: Path, ludens: Run, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    _forge(run, f"subprocess:getoutput?cmd=touch%20{mark}")
    more = ("--workers", "2") if command == "verify" else ()
    ran = ludens(command, str(run.parent if command == "runs" else run), *more)
    assert not mark.exists()
    assert "not registered" in ran.out + ran.err
    assert ran.code == (0 if command == "runs" else 2)


def test_a_suite_that_the_user_names_is_accepted(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SUITES, "_added", {})
    folder = tmp_path / "run"
    assert ludens("eval", TURNS, "-m", "bot/random", "--limit", "2", "--out", str(folder)).code == 0
    SUITES._added.clear()
    refused = ludens("report", str(folder))
    assert refused.code == 2
    assert f"--suite {TURNS}" in refused.err
    assert ludens("report", str(folder), "--suite", TURNS).code == 0
    SUITES._added.clear()
    assert ludens("resume", str(folder), "--suite", TURNS).code == 0
