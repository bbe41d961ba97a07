"""Driving the command line: in this process for most tests, as a real process where that is the point."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ludens.cli import main


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as a pipe gets them: the workers of pytest-xdist believe that they write to a narrow screen."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def ludens(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run(*argv: str) -> Ran:
        code = main(argv)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def process() -> Run:
    """Run a command as a process of its own, with this text typed into it."""

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
