"""The documentation: code blocks that have a title are written to files and run, and links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import write_files

DOCS = Path(__file__).parents[1] / "docs"


def python(folder: Path, *arguments: str) -> str:
    """What Python prints, run in a folder; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("page", "script", "prints"),
    [
        ("add-a-game.md", "try_nim.py", "alpha-beta won 10 of 10"),
        ("add-a-game.md", "try_connect_four.py", "'winner': 'red'"),
        ("own-agents.md", "try_center.py", "center won 10 of 20"),
        ("evaluate.md", "compare_bots.py", "tic_tac_toe bot/random bot/best"),
        ("../README.md", "evaluate_suite.py", "bot/best"),
    ],
)
def test_examples_run(page: str, script: str, prints: str, tmp_path: Path) -> None:
    write_files(DOCS / page, tmp_path)
    assert prints in python(tmp_path, script)


def test_own_agent_on_the_command_line(tmp_path: Path) -> None:
    write_files(DOCS / "own-agents.md", tmp_path)
    command = ("-m", "ludens", "eval", "demo", "--model", "my_bots:Center", "--limit", "2", "--out", "run")
    assert "my_bots:Center" in python(tmp_path, *command)
    assert "tic_tac_toe" in python(tmp_path, "-m", "ludens", "agents", "my_bots:Center")
    assert "my_bots:Center" in python(tmp_path, "-m", "ludens", "resume", "run", "--agent", "my_bots:Center")


LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
GALLERY = DOCS / "games" / "index.md"
"""Made when the site is built."""
PAGES = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The headings of a page as the site and GitHub name them."""
    plain = (re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in HEADING.findall(prose(page)))
    return {text.replace(" ", "-") for text in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    lost = []
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if target == GALLERY:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []
