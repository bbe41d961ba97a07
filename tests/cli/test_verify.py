"""`ludens verify`: every episode of a run is replayed; the result is stored for reports."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import orjson
import pytest

from ludens.run.store import EPISODES, read_records
from ludens.run.verified import VERIFIED, read_verified, verification_text
from tests.cli.conftest import Run
from tests.support import runs
from tests.support.reported import NAME, make_run
from tests.support.runs import TURNS, plan_of, played


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = {"seer": "fake/seer", "rude": "fake/rude?memory=last", "random": "bot/random"}
    return make_run(tmp_path_factory.mktemp("runs") / "first", entrants, limit=4)


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(copytree(whole, tmp_path / "run"))


def test_what_was_verified_is_counted_and_stored(run: Path, ludens: Run) -> None:
    assert verification_text(run).startswith("not verified")
    records = read_records(run)
    moves = [move for record in records for move in record.episode.moves]
    pictures = sum(len(m.pictures) for r in records for m in (*r.episode.moves, *r.episode.unfinished))
    ran = ludens("verify", str(run), "--suite", NAME, "--json")
    assert (ran.code, ran.err) == (0, "")
    counts = json.loads(ran.out)
    assert counts["episodes"] == len(records) > 20
    assert (counts["moves"], counts["pictures"], counts["failures"]) == (len(moves), pictures, [])
    assert counts["replies"] == sum(len(move.tries) for move in moves) > len(moves) / 2
    read = read_verified(run)
    assert read is not None
    stored, valid = read
    assert valid
    assert (stored.episodes, stored.moves, stored.failed) == (len(records), len(moves), 0)
    assert verification_text(run).startswith(f"verified: all {len(records)} episodes, on 20")
    again = ludens("verify", str(run))
    assert again.code == 0
    assert f"{len(records)} episodes of {len(records)} verified: {len(moves):,} moves, " in again.out
    with (run / EPISODES).open("ab") as file:
        file.write(b"\n")
    assert "the run has changed since" in verification_text(run)
    (run / VERIFIED).write_text("{}")
    assert verification_text(run).startswith("not verified")


Line = dict[str, Any]
EDITS: dict[str, Callable[[Line], object]] = {
    "returns": lambda line: line["episode"]["returns"].update(x=1.0, o=-1.0),
    "verdict": lambda line: line["episode"]["moves"][0].update(verdict="fallback"),
    "reply": lambda line: line["episode"]["moves"][0]["tries"][0].update(text="Action: B2"),
    "no reply": lambda line: line["episode"]["moves"][0].update(tries=[]),
    "direct": lambda line: line["episode"]["moves"][0]["tries"][0].update(direct=True),
    "picture": lambda line: line["episode"]["moves"][0].update(pictures=["0" * 16]),
    "player": lambda line: line["episode"]["seats"].update(x="fake/guesser"),
    "version": lambda line: line["episode"].update(version=99),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_episode_fails(edit: str, run: Path, ludens: Run) -> None:
    lines = (run / EPISODES).read_bytes().splitlines()
    number = next(n for n, line in enumerate(lines) if line.startswith(b'{"key":"seer:turns:0:0"'))
    line = orjson.loads(lines[number])
    EDITS[edit](line)
    lines[number] = orjson.dumps(line)
    (run / EPISODES).write_bytes(b"\n".join(lines) + b"\n")
    ran = ludens("verify", str(run))
    assert (ran.code, ran.err) == (1, "")
    failed, summary = ran.out.splitlines()
    assert failed.startswith("seer:turns:0:0: ")
    assert f"{len(lines) - 1} episodes of {len(lines)} verified" in summary
    assert f"1 of {len(lines)} episodes failed" in verification_text(run)


async def test_worker_processes_give_the_same_result(tmp_path: Path) -> None:
    await played(tmp_path / "run", plan_of(suite=TURNS, samples=5))
    alone, together = [
        await runs.ludens("verify", str(tmp_path / "run"), "--suite", TURNS, "--workers", count)
        for count in ("0", "2")
    ]
    assert alone == together
    assert (alone.code, alone.err) == (0, "")
    assert "40 episodes of 40 verified" in alone.out


@pytest.mark.slow  # enough episodes that verification is still running when it is interrupted
async def test_ctrl_c_stops_at_once_and_writes_nothing(tmp_path: Path) -> None:
    await played(tmp_path / "run", plan_of("bot/random", suite=TURNS, samples=1500))

    async def interrupt(process: asyncio.subprocess.Process) -> None:
        await asyncio.sleep(2.5)
        process.send_signal(signal.SIGINT)

    argv = ("verify", str(tmp_path / "run"), "--suite", TURNS, "--workers", "2")
    ran = await runs.ludens(*argv, meanwhile=interrupt)
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err
    assert not (tmp_path / "run" / VERIFIED).exists()


def test_folders_without_episodes_are_usage_errors(ludens: Run, tmp_path: Path) -> None:
    ran = ludens("verify", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert "no run.json" in ran.err
