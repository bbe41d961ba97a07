"""Without the modules and functions that Windows lacks, runs are read, and writing one says why not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ludens.web import connections
from tests.support.runs import ROOT, plan_of, played


def there(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.support.windows", *argv]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


async def test_runs_are_read_and_not_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    await played(run, plan_of("bot/random", suite="demo", tasks=["tic_tac_toe"], limit=2))
    done = there("report", str(run), "+", "verify", str(run), "--workers", "2", "+", "show", "tic_tac_toe")
    assert done.returncode == 0, done.stderr
    for words in ("bot/random", "verified", "You are X"):
        assert words in done.stdout
    done = there(
        "eval", "demo", "--model", "bot/random", "--limit", "1", "--out", str(tmp_path / "new"), "--yes"
    )
    assert done.returncode == 2
    assert "runs can be read, but not written, on this system" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_browser_app_needs_no_limit_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert connections._raise_file_limit() == connections.MOST_FILES
