"""Exit codes and messages for bugs, interruptions, closed pipes and full disks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ludens.core.errors import UsageError
from tests.cli.conftest import Run


def _raising(error: BaseException) -> object:
    def report() -> None:
        raise error

    return report


def _raising_for_any(error: BaseException) -> object:
    def build(called: str) -> None:
        raise error

    return build


def test_a_bug_shows_its_traceback_and_exits_1(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.cli.check.report", _raising(ZeroDivisionError("by zero")))
    ran = ludens("check")
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" in ran.err
    assert "ZeroDivisionError: by zero" in ran.err


def test_a_usage_error_has_no_traceback(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.cli.check.report", _raising(UsageError("not like this.")))
    ran = ludens("check")
    assert (ran.code, ran.out, ran.err) == (2, "", "ludens: not like this.\n")


def test_an_interruption_exits_with_130(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.cli.check.report", _raising(KeyboardInterrupt()))
    ran = ludens("check")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "ludens: stopped.")


def test_an_interruption_while_modules_are_imported(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.cli.app", _raising_for_any(KeyboardInterrupt()))
    ran = ludens("check")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "ludens: stopped.")


def test_a_closed_pipe_is_not_an_error() -> None:
    pipe = f"{sys.executable} -m ludens games --json | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == ""
    assert ran.stdout.strip() in ("0", "141")


@pytest.mark.parametrize("argv", ["games", "show tic_tac_toe", "games --json"])
def test_a_full_disk_is_one_sentence(argv: str) -> None:
    into = f"{sys.executable} -m ludens {argv} > /dev/full"
    ran = subprocess.run(["bash", "-c", into], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (1, "ludens: cannot write: no space left on device.\n")


def test_characters_missing_in_the_encoding_become_question_marks(tmp_path: Path) -> None:
    argv = ["eval", "demo", "-m", "bot/random", "--tasks", "perceive", "--limit", "1"]
    argv += ["--out", str(tmp_path / "run")]
    ran = subprocess.run(
        [sys.executable, "-m", "ludens", *argv],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False)
    assert "????" in ran.stdout


def test_stdout_can_be_closed() -> None:
    closed = f"{sys.executable} -m ludens games >&-"
    ran = subprocess.run(["bash", "-c", closed], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
