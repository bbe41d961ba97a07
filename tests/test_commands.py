"""The commands in the documentation: each is parsed and what it names is made; most are run."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import BLOCK, COMMENTED, ROOT, blocks, check_inline, check_ludens

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUICK = ("CONTRIBUTING.md", "docs/quick-start.md")
"""Pages whose commands run in every test run; the others take seconds to minutes."""
CHECKER = "tests.support.commands"
SMALL = "ludens eval playground-mini --tasks rule/tic_tac_toe --model bot/random --limit 2 --out"
PREPARED = {
    "README.md": [f"{SMALL} runs/..."],
    "docs/evaluate.md": [f"{SMALL} runs/gpt", f"{SMALL} runs/mine"],
    "docs/own-agents.md": [f"{SMALL} runs/demo-..."],
    "docs/playground.md": [f"{SMALL} runs/playground-..."],
    "docs/study.md": [
        "ludens study dry-run docs/studies/comma-pairs.toml --participants 4 --out runs/comma-pairs"
    ],
    "docs/vs-bench.md": [
        "ludens eval vs-bench-mini --tasks decide/hanabi --model bot/random --out runs/FOLDER",
    ],
    "docs/web.md": [f"{SMALL} runs/play-20261115-160939-tic-tac-toe-a450d4"],
}
"""What a reader of a page has done before, where the page does not show it."""


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def runnable() -> list[object]:
    pages = [p for p in PAGES if any(command.runs for block in blocks(p) for command in block.commands)]
    return [pytest.param(p, id=named(p), marks=() if named(p) in QUICK else pytest.mark.slow) for p in pages]


def in_folder(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module in a folder that looks like a checkout."""
    for name in ("benchmarks", "docs", "recipes", "src", "tests"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "none")
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", *arguments],
        cwd=folder,
        env={**os.environ, **keys, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


def problems(folder: Path, *arguments: str) -> str:
    """What the program that checks commands finds, or why it ended without saying so."""
    ended = in_folder(folder, CHECKER, *arguments)
    return ended.stdout.strip() or (ended.stderr if ended.returncode else "")


def test_commands_of_all_pages_are_right(tmp_path: Path) -> None:
    assert problems(tmp_path, *map(str, PAGES)) == ""


@pytest.mark.parametrize("page", runnable())
def test_commands_run(page: Path, tmp_path: Path) -> None:
    for line in PREPARED.get(named(page), ()):
        prepared = in_folder(tmp_path, *line.split())
        assert prepared.returncode == 0, prepared.stderr
    assert problems(tmp_path, "--run", str(page)) == ""


def test_a_checker_that_breaks_is_noticed(tmp_path: Path) -> None:
    assert "FileNotFoundError" in problems(tmp_path, str(tmp_path / "none.md"))


def test_needs_are_known_to_the_site() -> None:
    known = runpy.run_path(str(ROOT / "docs" / "hooks" / "pages.py"))["NEEDS"]
    stated = {need for page in PAGES for block in blocks(page) for need in block.needs}
    assert stated | set(COMMENTED.values()) <= set(known)


def test_every_block_of_commands_is_found() -> None:
    """A misspelt marker would hide the commands of a block."""
    opened = re.compile(r"^```(?:sh|bash|console)\b.*$", re.MULTILINE)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(opened.findall(text)) == len(BLOCK.findall(text)), page


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("eval demo --modle bot/random", "--modle"),
        ("eval dmeo --model bot/random", "unknown suite 'dmeo'"),
        ("eval demo --model bot/rnadom", "bot/rnadom"),
        ("play ches", "unknown game 'ches'"),
        ("play chess --seat red=bot/random", "unknown seat of chess"),
        ("train recipes/none.toml", "recipes/none.toml"),
        ("bench drwa", "drwa"),
        ("evall demo", "unknown command"),
    ],
)
def test_wrong_commands_are_noticed(line: str, says: str) -> None:
    assert says in check_ludens(line.split())


def test_wrong_commands_in_sentences_are_noticed() -> None:
    assert check_inline("ludens eval SUITE --model NAME") == ""
    assert "--modle" in check_inline("ludens eval SUITE --modle NAME")
    assert "evall" in check_inline("ludens evall SUITE")
