"""`ludens repair`: invalid lines are moved aside, never deleted, and resume plays them again."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from ludens.cli import main
from ludens.run.rows import EPISODES
from tests.cli.conftest import Run
from tests.support.runs import found

BAD = "episodes.bad.jsonl"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, some = tmp_path_factory.mktemp("runs") / "whole", ("--tasks", "tic_tac_toe", "--limit", "4")
    assert main(["eval", "demo", "-m", "bot/random", *some, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(copytree(whole, tmp_path / "run"))


def _broken(line: bytes) -> dict[str, bytes]:
    return {
        "noise": b"\xff\x00 not JSON\n",
        "head": line[30:],
        "episode": line[:-60] + b"\n",
        "schema": line.replace(b'"schema":2', b'"schema":1'),
        "types": line.replace(b'"sample":0', b'"sample":"0"', 1),
        "edited": line.replace(b'"size":512', b'"size":256'),
        "empty": b"\n",
        "incomplete": line[:-1],
    }


@pytest.mark.parametrize("kind", _broken(b""))
def test_invalid_lines_are_moved_and_played_again(kind: str, run: Path, ludens: Run) -> None:
    complete = found(run)
    whole = (run / EPISODES).read_bytes()
    lines = whole.splitlines(keepends=True)
    bad = _broken(lines[0])[kind]
    kept = [lines[1], lines[2], lines[3]] if kind == "incomplete" else [lines[1], bad, lines[2], lines[3]]
    (run / EPISODES).write_bytes(b"".join(kept) + (bad if kind == "incomplete" else b""))
    if kind != "incomplete":
        ran = ludens("report", str(run))
        assert ran.code == 2
        assert f"ludens repair {run}" in ran.err
    repaired = ludens("repair", str(run))
    assert (repaired.code, repaired.err) == (0, "")
    assert f"1 line moved to {run / BAD}" in repaired.out
    assert f"line {4 if kind == 'incomplete' else 2}: " in repaired.out
    assert "3 of 4 episodes done" in repaired.out
    assert f"1 missing episode: ludens resume {run}" in repaired.out
    assert (run / EPISODES).read_bytes() == b"".join(lines[1:])
    assert (run / BAD).read_bytes().rstrip(b"\n") == bad.rstrip(b"\n")
    assert ludens("resume", str(run)).code == 0
    assert found(run) == complete


def test_bad_lines_accumulate(run: Path, ludens: Run) -> None:
    for noise in (b"one\n", b"two\n"):
        with (run / EPISODES).open("ab") as file:
            file.write(noise)
        assert json.loads(ludens("repair", str(run), "--json").out) == {
            "moved": [{"line": 5, "reason": "not an episode"}], "done": 4, "planned": 4, "missing": 0,
        }  # fmt: skip
    assert (run / BAD).read_bytes() == b"one\ntwo\n"
    ran = ludens("repair", str(run))
    assert ran.out == "All lines are valid. 4 of 4 episodes done.\n"


def test_an_edited_plan_is_not_repaired(run: Path, ludens: Run) -> None:
    before = (run / EPISODES).read_bytes()
    plan = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**plan, "entrants": {"bot/random": "bot/first"}}))
    ran = ludens("repair", str(run))
    assert (ran.code, ran.out) == (2, "")
    assert "run.json' was edited" in ran.err
    assert (run / EPISODES).read_bytes() == before
    assert not (run / BAD).exists()
