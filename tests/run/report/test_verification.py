"""Reports say whether a run was verified."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from ludens.run.report import load_results, render
from ludens.run.report.verification import VERIFIED, verification
from ludens.run.store import read_records


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    return Path(copytree(folder, tmp_path / "run"))


def record(run: Path, **fields: object) -> None:
    (run / VERIFIED).write_text(json.dumps(fields))


def test_a_run_without_a_record_is_not_verified(run: Path) -> None:
    assert verification(run).startswith("not verified: run `ludens verify ")


def test_a_verified_run(run: Path) -> None:
    count = len(read_records(run))
    record(run, episodes=count, failures=0, hash="ab", when="2026-11-15T12:00:00+00:00")
    line = verification(run)
    assert line.startswith("verified on 2026-11-15T12:00:00+00:00: ")
    assert f"{count} episodes" in line
    results = load_results([run])
    for format in ("table", "md", "html", "json"):
        assert "verified on 2026" in render(results, format, episodes=0).decode()


def test_failures_and_missing_episodes_are_named(run: Path) -> None:
    record(run, episodes=9, failures=2, hash="ab", when="")
    assert verification(run).startswith("not verified: 2 of 9 episodes failed")
    record(run, episodes=9, failures=0, hash="ab", when="")
    assert verification(run).startswith("not verified: only 9 of ")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"episodes": "9", "failures": 0}', "\x00"])
def test_an_unreadable_record_counts_as_none(text: str, run: Path) -> None:
    (run / VERIFIED).write_text(text)
    assert verification(run).startswith("not verified: run ")


def test_text_from_the_record_is_harmless(run: Path) -> None:
    record(run, episodes=9, failures=1, hash="", when="<b>\x1b[31m" + "x" * 1000)
    assert "\x1b" not in verification(run)
    assert len(verification(run)) < 200
    assert "on &lt;b&gt;" in render(load_results([run]), "html", episodes=0).decode()
