"""The page about COMMA is true: its puzzle is built and run, its numbers are ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ludens.suites.comma import PUZZLES
from ludens.suites.comma.judge import agreement, cases
from ludens.suites.comma.judge.rules import judge_by_rules
from tests.suites.comma import leak_lines

PAGE = (Path(__file__).parents[3] / "docs" / "comma.md").read_text(encoding="utf-8")
TITLED = re.compile(r'^```(?:python|markdown) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def run(argv: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )


def test_the_puzzle_can_be_made(tmp_path: Path) -> None:
    for name, body in TITLED.findall(PAGE):
        (tmp_path / name).write_text(body, encoding="utf-8")
    done = run([sys.executable, "try_bells.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The panel is solved." in done.stdout
    assert (tmp_path / "bells.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_every_puzzle_is_named_and_scored(puzzle: str) -> None:
    assert f"\n| `comma/{puzzle}` |" in PAGE
    assert PAGE.count(f"\n| {puzzle} |") == 3  # its partial score, its blind baselines, its random baseline


def test_the_judges_table_is_what_the_rules_reach() -> None:
    found = agreement(cases(), [judge_by_rules(case.conversation)[0] for case in cases()])
    for label, one in found.labels.items():
        shares = " | ".join(f"{100 * part.mean:.0f}%" for part in (one.accuracy, one.found, one.false))
        assert f"| {label} | {shares} |" in PAGE


@pytest.mark.parametrize("name", [leak_lines.LISTED, leak_lines.UNSEEN])
def test_the_leak_table_is_what_the_detector_reaches(name: str) -> None:
    pairs = [
        (case.kind != leak_lines.INNOCENT, case.found != leak_lines.INNOCENT)
        for case in leak_lines.cases(name)
    ]
    hits, alarms, missed = (pairs.count(pair) for pair in ((True, True), (False, True), (True, False)))
    precision, recall = f"{100 * hits / (hits + alarms):.1f}%", f"{100 * hits / (hits + missed):.1f}%"
    [row] = [line.replace("*", "") for line in PAGE.splitlines() if line.startswith(f"| `{name}`")]
    assert f"| {hits + missed} | {len(pairs) - hits - missed} |" in row
    assert f"| {precision} ({alarms} false alarms) | {recall} ({missed} missed) |" in row
