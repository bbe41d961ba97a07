"""Reports say whether a run was verified."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from ludens.run.report import load_results, render
from ludens.run.rows import EPISODES
from ludens.run.verify import VERIFIED, VerifiedRun, hash_run, index_hash, verification_text, write_verified

WHEN = "2026-11-15T12:00:00+00:00"


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    return Path(copytree(folder, tmp_path / "run"))


def record(run: Path, episodes: int = 121, failed: int = 0, time: str = WHEN) -> None:
    write_verified(
        run,
        VerifiedRun(
            time, hash_run(run), episodes, 9, 9, 9, failed, 121, 121, 121 - failed, True, index_hash(run)
        ),
    )


def test_a_run_without_a_record_is_not_verified(run: Path) -> None:
    assert verification_text(run).startswith("not verified: run `ludens verify ")
    assert "not verified: run" in render(load_results([run]), "table").decode()


def test_a_verified_run(run: Path) -> None:
    record(run)
    assert verification_text(run) == "verified: all 121 episodes, on 2026-11-15 12:00:00 UTC."
    results = load_results([run])
    for format in ("table", "md", "html", "json"):
        assert "verified: all 121 episodes" in render(results, format, episodes=0).decode()


def test_failures_are_named(run: Path) -> None:
    record(run, 119, 2)
    assert verification_text(run).startswith("not verified: 2 of 121 episodes failed")


@pytest.mark.parametrize("file", ["run.json", EPISODES])
def test_a_run_that_has_changed_is_not_verified(file: str, run: Path) -> None:
    record(run)
    data = (run / file).read_bytes()
    (run / file).write_bytes(data.replace(b"seer", b"sear", 1))
    assert verification_text(run).startswith("not verified: the run has changed since")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"episodes": true, "failed": 0}', "\x00"])
def test_an_unreadable_record_counts_as_none(text: str, run: Path) -> None:
    (run / VERIFIED).write_text(text)
    assert verification_text(run).startswith("not verified: run ")


def test_text_from_the_record_is_harmless(run: Path) -> None:
    record(run, time="<b>\x1b[31m" + "x" * 1000)
    assert "\x1b" not in verification_text(run)
    assert len(verification_text(run)) < 200
    assert "on &lt;b&gt;" in render(load_results([run]), "html", episodes=0).decode()
