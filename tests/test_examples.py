"""The folders of `examples/`, copied elsewhere and run as their pages say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(*arguments: str, cwd: Path, path: str = "") -> str:
    """What Python prints, with Ludens of this checkout; it must succeed."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (path, str(ROOT / "src"))))}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_game_of_its_own_is_built_installed_and_tested(tmp_path: Path) -> None:
    """The template outside of the checkout: a wheel, its entry point, its own tests, and commands."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: run `make test`")
    project, site = tmp_path / "my-game", tmp_path / "site"
    shutil.copytree(
        EXAMPLES / "my-game", project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache")
    )
    pip = (
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    )
    run(*pip, "--no-index", "--target", str(site), str(project), cwd=tmp_path)
    assert (site / "kayles" / "templates.md").is_file()
    assert "passed" in run("-m", "pytest", "-q", "-p", "no:asyncio", cwd=project, path=str(site))
    run("-m", "ludens", "show", "kayles", "--moves", "2", "--out", "row.png", cwd=tmp_path, path=str(site))
    assert (tmp_path / "row.png").stat().st_size > 500
    command = ("-m", "ludens", "play", "kayles", "--seat", "first=bot/best", "--seat", "second=bot/random")
    assert "Finished after" in run(*command, cwd=tmp_path, path=str(site))


def test_an_agent_around_code_of_its_own(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "agent" / "pipeline.py", tmp_path)
    seats = ("--seat", "x=pipeline:Pipeline?prefer=C3", "--seat", "o=bot/random")
    said = run("-m", "ludens", "play", "tic_tac_toe", *seats, cwd=tmp_path)
    assert "1. x C3" in said
    assert "Finished after" in said


def test_a_suite_of_its_own(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "suite" / "corners.py", tmp_path)
    command = ("-m", "ludens", "eval", "corners:SUITE", "--model", "bot/random", "--model", "bot/best")
    said = run(*command, "--limit", "2", "--out", "run", "--yes", cwd=tmp_path)
    assert "unbeaten %" in said
    assert "corners" in run("-m", "ludens", "suites", "corners:SUITE", cwd=tmp_path)


def test_a_study_of_its_own(tmp_path: Path) -> None:
    file = EXAMPLES / "study" / "person-and-nano.toml"
    said = run(
        "-m", "ludens", "study", "dry-run", str(file), "--out", "run", "--participants", "2", cwd=tmp_path
    )
    assert "people" in said
    assert "scripted participants" in said


def test_every_example_is_listed() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [
        folder.name for folder in EXAMPLES.iterdir() if folder.is_dir() and f"[{folder.name}]" not in page
    ] == []
