"""Fixtures that run the command line, in this process or in a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

import pytest

from ludens.cli import main
from ludens.core import policy
from tests.support.runs import without_controls


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as wide as in a pipe: pytest-xdist sets COLUMNS."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def ludens(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, with this text on stdin."""

    def run(*argv: str, typed: str = "") -> Ran:
        if typed:
            monkeypatch.setattr("sys.stdin", StringIO(typed))
        monkeypatch.setattr(policy, "_confirmed", set())  # of another command
        code = main(without_controls(argv))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process() -> Run:
    """Run a command in a new process, with this text on stdin."""

    def run(*argv: str, typed: str = "") -> Ran:
        ended = subprocess.run(
            [sys.executable, "-m", "ludens", *argv],
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONWARNINGS": "error"},
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return run
