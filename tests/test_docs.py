"""Code blocks of the documentation that have a title are written to files and run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
TITLED = re.compile(r'^```(?:python|markdown) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("script", "prints"),
    [("try_nim.py", "alpha-beta won 10 of 10"), ("try_connect_four.py", "'winner': 'red'")],
)
def test_the_tutorial_runs(script: str, prints: str, tmp_path: Path) -> None:
    for name, body in TITLED.findall((DOCS / "add-a-game.md").read_text(encoding="utf-8")):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(body, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert prints in done.stdout


@pytest.mark.parametrize(
    ("page", "script", "prints"),
    [
        (DOCS / "evaluate.md", "compare_bots.py", "tic_tac_toe bot/random bot/best"),
        (DOCS.parent / "README.md", "evaluate_suite.py", "bot/best"),
    ],
)
def test_examples_of_the_python_api_run(page: Path, script: str, prints: str, tmp_path: Path) -> None:
    blocks = dict(TITLED.findall(page.read_text(encoding="utf-8")))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", blocks[script]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert prints in done.stdout
