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

from ludens.agents import agent
from ludens.core.registry import make
from ludens.loop import play
from ludens.run.lines import read_records
from ludens.run.rows import EPISODES
from ludens.run.store import FINISHED, read_plan
from ludens.run.verify import VERIFIED, read_verified, verification_text
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
    planned, voids = len(read_plan(run).jobs), sum(record.void for record in records)
    assert (counts["planned"], counts["present"], counts["proven"]) == (planned, planned, planned)
    assert (counts["voids"], counts["missing"], counts["finished"]) == (voids, [], True)
    assert planned == len(records) - voids
    assert (counts["moves"], counts["pictures"], counts["failures"]) == (len(moves), pictures, [])
    assert counts["replies"] == sum(len(move.tries) for move in moves) > len(moves) / 2
    read = read_verified(run)
    assert read is not None
    stored, valid = read
    assert valid
    assert (stored.episodes, stored.moves, stored.failed) == (len(records), len(moves), 0)
    assert verification_text(run).startswith(f"verified: all {planned} episodes, on 20")
    again = ludens("verify", str(run))
    assert again.code == 0
    assert f"planned {planned}, present {planned}, proven {planned}" in again.out
    assert f"{len(moves):,} moves, " in again.out
    with (run / EPISODES).open("ab") as file:
        file.write(b"\n")
    assert "the run has changed since" in verification_text(run)
    (run / VERIFIED).write_text("{}")
    assert verification_text(run).startswith("not verified")


Line = dict[str, Any]
EDITS: dict[str, Callable[[Line], object]] = {
    "returns": lambda line: line["episode"]["returns"].update(x=7.0),
    "verdict": lambda line: line["episode"]["moves"][0].update(verdict="fallback"),
    "reply": lambda line: line["episode"]["moves"][0]["tries"][0].update(text="Action: B2"),
    "no reply": lambda line: line["episode"]["moves"][0].update(tries=[]),
    "direct": lambda line: line["episode"]["moves"][0]["tries"][0].update(direct=True),
    "picture": lambda line: line["episode"]["moves"][0].update(pictures=["0" * 16]),
    "no picture": lambda line: line["episode"]["moves"][0].update(pictures=[]),
    "no pictures": lambda line: _without_pictures(line),
    "no pictures, older": lambda line: _without_pictures(line, sees={}, unlimited_retries=None),
    "no pictures, text": lambda line: _without_pictures(line, sees={"x": "text", "o": "state"}),
    "retries": lambda line: line["episode"].update(unlimited_retries=["x"]),
    "opening": lambda line: line["episode"].update(opening=[{"x": "A1"}]),
    "plan": lambda line: line.update(plan="0" * 16),
    "player": lambda line: line["episode"]["seats"].update(x="fake/guesser"),
    "version": lambda line: line["episode"].update(version=99),
}


def _without_pictures(line: Line, **changes: Any) -> None:
    for move in line["episode"]["moves"]:
        move["pictures"] = []
    line["episode"].update(changes)


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_episode_fails(edit: str, run: Path, ludens: Run) -> None:
    lines = (run / EPISODES).read_bytes().splitlines()
    start = b'{"key":"seer:turns:0:0"'
    number = next(n for n in _finished(run) if lines[n].startswith(start))
    line = orjson.loads(lines[number])
    EDITS[edit](line)
    lines[number] = orjson.dumps(line)
    (run / EPISODES).write_bytes(b"\n".join(lines) + b"\n")
    ran = ludens("verify", str(run))
    assert (ran.code, ran.err) == (1, "")
    failed, summary, _ = ran.out.splitlines()
    assert failed.startswith("seer:turns:0:0: ")
    planned = len(read_plan(run).jobs)
    assert summary.startswith(f"planned {planned}, present {planned}, proven {planned - 1}")
    assert f"1 of {len(lines)} episodes failed" in verification_text(run)


async def test_worker_processes_give_the_same_result(tmp_path: Path) -> None:
    await played(tmp_path / "run", plan_of(suite=TURNS, samples=5))
    alone, together = [
        await runs.ludens("verify", str(tmp_path / "run"), "--suite", TURNS, "--workers", count)
        for count in ("0", "2")
    ]
    assert alone == together
    assert (alone.code, alone.err) == (0, "")
    assert "planned 40, present 40, proven 40." in alone.out


def _lines(run: Path) -> list[bytes]:
    return (run / EPISODES).read_bytes().splitlines(keepends=True)


def _finished(run: Path) -> list[int]:
    """The numbers of the lines with finished episodes, from 0."""
    return [number for number, line in enumerate(_lines(run)) if b'"void":false' in line]


def test_deleted_episodes_of_a_finished_run_are_missing(run: Path, ludens: Run) -> None:
    lines, planned = _lines(run), len(read_plan(run).jobs)
    removed = set(_finished(run)[3:5])
    keys = [orjson.loads(lines[number])["key"] for number in removed]
    (run / EPISODES).write_bytes(b"".join(line for n, line in enumerate(lines) if n not in removed))
    ran = ludens("verify", str(run))
    assert (ran.code, ran.err) == (1, "")
    assert f"planned {planned}, present {planned - 2}, proven {planned - 2}" in ran.out
    assert "missing 2: " in ran.out
    assert all(key in ran.out for key in keys)
    assert "they were removed" in ran.out
    assert f"2 of {planned} episodes were missing" in verification_text(run)
    found = json.loads(ludens("verify", str(run), "--json").out)
    assert (sorted(found["missing"]), found["failures"]) == (sorted(keys), [])
    assert ludens("resume", str(run)).code == 0
    assert ludens("verify", str(run)).code == 0


async def test_an_unfinished_run_is_no_error_but_said(tmp_path: Path) -> None:
    run = tmp_path / "run"
    stopped = await runs.ludens_here(
        "eval", TURNS, "-m", "test/fussy?moves=9", "--concurrency", "1", "--out", str(run)
    )
    assert stopped.code == 2
    ran = await runs.ludens_here("verify", str(run), "--suite", TURNS)
    assert (ran.code, ran.err) == (0, "")
    present = len(read_records(run))
    assert 0 < present < 8
    assert f"planned 8, present {present}, proven {present}; missing {8 - present}: " in ran.out
    assert f"The run is unfinished; to play the missing episodes: ludens resume {run}" in ran.out
    assert f"verified: {present} of 8 planned episodes" in verification_text(run)
    assert "unfinished" in verification_text(run)


def test_repeated_episodes_are_named(run: Path, ludens: Run) -> None:
    lines, planned = _lines(run), len(read_plan(run).jobs)
    again = lines[_finished(run)[2]]
    (run / EPISODES).write_bytes(b"".join([*lines, again]))
    ran = ludens("verify", str(run))
    key = orjson.loads(again)["key"]
    assert ran.code == 1
    assert f"{key}: line {len(lines) + 1} repeats" in ran.out
    assert f"planned {planned}, present {planned}, proven {planned}" in ran.out
    assert f"repeated 1: {key}" in ran.out
    assert "1 line moved" in ludens("repair", str(run)).out
    assert _lines(run) == lines
    assert ludens("verify", str(run)).code == 0


@pytest.mark.parametrize("limit", [2, 8])
@pytest.mark.parametrize("cut", [False, True])
def test_an_edited_limit_is_noticed(limit: int, cut: bool, run: Path, ludens: Run) -> None:
    """Also where lines say nothing about the plan any more, and those that are not planned are removed."""
    plan = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**plan, "limit": limit}))
    if cut:
        keys = {job.key for job in read_plan(run).jobs}
        kept = [line for line in map(orjson.loads, _lines(run)) if line["key"] in keys]
        stripped = ({k: v for k, v in line.items() if k != "plan"} for line in kept)
        (run / EPISODES).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in stripped))
    ran = ludens("verify", str(run))
    assert (ran.code, ran.err) == (1, "")
    assert "run.json" in ran.out
    assert "edited" in ran.out
    assert ("not planned" in ran.out) == (limit == 2 and not cut)
    assert ("missing" in ran.out) == (limit == 8)


def test_an_edited_limit_of_an_unfinished_run_is_noticed(run: Path, ludens: Run) -> None:
    (run / FINISHED).unlink()
    plan = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**plan, "limit": 2}))
    keys = {job.key for job in read_plan(run).jobs}
    kept = [line for line in _lines(run) if orjson.loads(line)["key"] in keys]
    (run / EPISODES).write_bytes(b"".join(kept))
    ran = ludens("verify", str(run))
    assert ran.code == 1
    assert "other episodes were planned" in ran.out
    assert f"planned {len(keys)}, present {len(keys)}, proven 0" in ran.out


def test_an_episode_of_no_job_is_named(run: Path, ludens: Run) -> None:
    lines = _lines(run)
    foreign = orjson.loads(lines[_finished(run)[0]])
    foreign["key"] = f"{foreign['entrant']}:{foreign['task']}:99:0"
    foreign["episode"]["seed"] = 99
    (run / EPISODES).write_bytes(b"".join(lines) + orjson.dumps(foreign) + b"\n")
    ran = ludens("verify", str(run))
    assert ran.code == 1
    assert f"not planned 1: {foreign['key']}" in ran.out


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


async def test_a_file_of_episodes(tmp_path: Path, ludens: Run) -> None:
    """As the browser app gives it to those who have played."""
    game = make("tic_tac_toe")
    bot = agent("bot/random", game)
    episodes = [await play(game, dict.fromkeys(game.seats, bot), seed) for seed in (1, 2)]
    file = tmp_path / "games.jsonl"
    file.write_bytes(b"\n".join(episode.to_json() for episode in episodes))
    ran = ludens("verify", str(file))
    assert (ran.code, ran.err) == (0, "")
    assert "proven 2" in ran.out
    changed = episodes[1].to_json().replace(b'"returns":{"x":', b'"returns":{"x":7')
    file.write_bytes(episodes[0].to_json() + b"\n" + changed)
    ran = ludens("verify", str(file), "--json")
    assert ran.code == 1
    [failure] = json.loads(ran.out)["failures"]
    assert failure["episode"] == 2
    file.write_text("{}", encoding="utf-8")
    assert ludens("verify", str(file)).code == 2
