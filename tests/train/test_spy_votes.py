"""`recipes/spy_votes.py`: votes of one player at a table of bots."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "recipes" / "spy_votes.py"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)


def test_a_player_that_checks_clues_is_never_wrong() -> None:
    done = run("bot/blunt", "bot/first", "--games", "8")
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[:3] for row in rows[:4]] == [
        ["bot/blunt", bot, rounds] for bot in ("bot/blunt", "bot/clever") for rounds in "12"
    ]
    counts = [list(map(int, row[3:])) for row in rows]
    assert all(sum(row) == 8 for row in counts)
    assert all(wrong == 0 for _, _, wrong in counts[:4])
    assert counts[1] == [8, 0, 0], "after two rounds a blunt spy has named what has changed"
    assert sum(right for right, _, _ in counts[4:]) < 16, "always the same vote"


def test_an_unknown_player_is_named() -> None:
    done = run("bot/nobody")
    assert done.returncode == 2
    assert "unknown agent 'bot/nobody'" in done.stderr
