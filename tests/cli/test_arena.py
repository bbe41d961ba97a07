"""`ludens arena`: bots and a scripted model meet, models are added, runs are killed and resumed."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from ludens.rebuild import samples
from ludens.run.lines import read_records
from ludens.run.store import read_progress
from ludens.run.verify import verify_run
from tests.cli.conftest import Run
from tests.support.model_server import ModelServer, pick
from tests.support.nano import write_random
from tests.support.runs import HASTE, found, ludens_here
from tests.support.runs import ludens as ludens_process

GAMES = "tic_tac_toe,tiny_hanabi"
BOTS = ("-m", "bot/best", "-m", "bot/first")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small arena."""
    from ludens.cli import main

    folder = tmp_path_factory.mktemp("arena") / "run"
    bots = ("-m", "bot/first", "-m", "bot/random")
    assert main(["arena", GAMES, *bots, "--rounds", "6", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ((GAMES, "-m", "bot/best"), "at least two entrants"),
        ((GAMES,), "at least two entrants"),
        (("", *BOTS), "name the games"),
        ((GAMES, "-m", "bot/best", "-m", "bot/best"), "takes part twice"),
        ((GAMES, *BOTS, "--name", "a"), "2 models but 1 names"),
        (("perceive", *BOTS), "has one seat"),
        (("chequers", *BOTS), "unknown game"),
        ((GAMES, *BOTS, "--anchor", "nano"), "must be a bot"),
        ((GAMES, *BOTS, "--rounds", "0"), "--rounds must be at least 1"),
        ((GAMES, *BOTS, "--adaptive", "--certainty", "2"), "--certainty"),
        ((GAMES, *BOTS, "--checkpoints", "nowhere"), "0 checkpoints"),
        (("--into", "nowhere", "-m", "nano"), "is not a run"),
    ],
)
def test_wrong_input_is_one_sentence(ludens: Run, tmp_path: Path, argv: tuple[str, ...], words: str) -> None:
    ran = ludens("arena", *argv, *(() if "--into" in argv else ("--out", str(tmp_path / "run"))))
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_same_bot_twice_with_names(ludens: Run, tmp_path: Path) -> None:
    names = ("--name", "one", "--name", "two")
    argv = ("kuhn_poker", "-m", "bot/first", "-m", "bot/first", *names, "--rounds", "2")
    ran = ludens("arena", *argv, "--out", str(tmp_path / "run"))
    assert ran.code == 0, ran.err
    assert "one" in ran.out
    assert "two" in ran.out


def test_formats_have_the_ratings(ludens: Run, run: Path) -> None:
    data = json.loads(ludens("report", str(run), "--format", "json").out)
    [suite] = data["suites"]
    column = suite["arena"]["ratings"][0]
    assert column["games"] == "tic_tac_toe"
    first = column["entrants"]["bot/first"]
    assert first["low"] < first["mean"] < first["high"]
    assert column["entrants"]["bot/random"]["mean"] == 0
    for format in ("table", "md", "latex"):
        text = ludens("report", str(run), "--format", format).out
        assert f"{first['mean']:.0f}" in text, format
        assert "Ratings" in text
    lines = ludens("report", str(run), "--format", "csv").out.splitlines()
    assert any(line.startswith("arena,ours,bot/first,tic_tac_toe,rating,") for line in lines)
    rows = ludens("report", str(run), "--format", "episodes-csv").out.splitlines()
    assert rows[0].split(",")[5:8] == ["entrant", "spec", "rival"]


def test_page_has_charts_and_links_to_upsets(ludens: Run, run: Path) -> None:
    assert ludens("report", str(run), "--format", "html").code == 0
    page = (run / "report.html").read_text()
    titles = ("Cross-play: tiny_hanabi", "Head to head", "score % of the row", "Upsets to watch")
    for text in (*titles, 'href="#upset-1"', 'id="upset-1"'):
        assert text in page


def test_a_model_is_added_and_only_its_games_are_played(ludens: Run, run: Path) -> None:
    before = found(run)
    ran = ludens("arena", "--into", str(run), "-m", "bot/random", "--name", "other")
    assert ran.code == 2
    assert "takes part already" in ran.err
    ran = ludens("arena", "--into", str(run), "-m", "bot/constant?action=B2", "--rounds", "3")
    assert ran.code == 2
    assert "cannot change" in ran.err
    ran = ludens("arena", "--into", str(run), "-m", "bot/best")
    assert ran.code == 0, ran.err
    assert "bot/best" in ran.out
    after = found(run)
    assert before.items() <= after.items()
    assert all("bot/best" in key for key in after.keys() - before.keys())
    assert ludens("verify", str(run)).code == 0


def test_another_run_takes_no_entrants(ludens: Run, tmp_path: Path) -> None:
    run = tmp_path / "demo"
    assert (
        ludens(
            "eval", "demo", "-m", "bot/random", "--tasks", "keypad", "--limit", "1", "--out", str(run)
        ).code
        == 0
    )
    ran = ludens("arena", "--into", str(run), "-m", "bot/first")
    assert (ran.code, "is not an arena" in ran.err) == (2, True)


async def test_a_killed_arena_goes_on_where_it_was(tmp_path: Path) -> None:
    async with ModelServer(latency=0.02) as server:
        models = ("-m", f"vllm/one@{server.url}?{HASTE}", "-m", f"vllm/two@{server.url}?{HASTE}")
        argv = ("arena", "tic_tac_toe", *models, "--rounds", "4", "--listed", "true", "--no-blind-control")

        async def kill(process: asyncio.subprocess.Process) -> None:
            while len(read_progress(tmp_path / "killed")[0]) < 5:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGKILL)

        killed = await ludens_process(
            *argv, "--concurrency", "2", "--out", str(tmp_path / "killed"), meanwhile=kill
        )
        assert killed.code == -signal.SIGKILL
        done = len(found(tmp_path / "killed"))
        assert 5 <= done < 24
        again = await ludens_here("resume", str(tmp_path / "killed"), "--allow", server.url)
        assert again.code == 0, again.err
        whole = await ludens_here(*argv, "--out", str(tmp_path / "whole"))
        assert whole.code == 0, whole.err
    assert found(tmp_path / "killed") == found(tmp_path / "whole")


def notes_or_move(prompt: str, digest: bytes) -> str:
    """Writes notes when asked for them, and plays in the centre or a corner if it has notes."""
    if "Write notes for yourself" in prompt:
        return "Take B2 & the corners,\nthen block: 100%."
    legal = pick(prompt, digest)
    if "Notes that you wrote after earlier games:" in prompt and "Take B2 & the corners" in prompt:
        listed = prompt.rpartition("Your legal actions:")[2]
        return next((f"Action: {cell}" for cell in ("B2", "A1", "C3", "A3", "C1") if cell in listed), legal)
    return legal


async def test_notes_are_part_of_recorded_prompts(tmp_path: Path) -> None:
    async with ModelServer(player=notes_or_move) as server:
        argv = ("arena", "tic_tac_toe", "-m", f"vllm/one@{server.url}?{HASTE}", "--listed", "true")
        argv = (*argv, "--reflect", "2", "--rounds", "2", "--out", str(tmp_path))
        ran = await ludens_here(*argv)
        assert ran.code == 0, ran.err
        assert "Improvement by notes" in ran.out
        calls = len(server.requests)
        again = await ludens_here(*argv)
        assert (again.code, again.out) == (0, ran.out)
        assert len(server.requests) == calls  # nothing is played or written again
    notes = [json.loads(line) for line in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert [(one["entrant"], one["round"]) for one in notes] == [("one", 1), ("one", 2)]
    assert notes[0]["text"] == "Take B2 & the corners,\nthen block: 100%."
    records = list(read_records(tmp_path / "held-out-2"))
    assert len(records) == 4
    for record in records:
        prompts = [sample.messages for sample in samples(record.episode) if sample.model]
        assert prompts
        assert all(notes[1]["text"] in message[0].parts[0] for message in prompts)
        assert record.episode.theme == "random"
    assert verify_run(tmp_path / "held-out-2").ok
    played = [list(read_records(tmp_path / name)) for name in ("held-out-0", "practice-1")]
    held_out, practice = ({record.episode.seed for record in records} for records in played)
    assert not held_out & practice
    assert "Improvement by notes" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("-m", "nano"), "cannot write notes"),
        (("-m", "bot/best"), "cannot write notes"),
        (("-m", "vllm/a@http://localhost:1/v1", "--adaptive"), "cannot be combined"),
        (("-m", "vllm/a@http://localhost:1/v1", "--notes-length", "0"), "--notes-length"),
    ],
)
def test_who_cannot_reflect_is_refused(ludens: Run, argv: tuple[str, ...], words: str) -> None:
    ran = ludens("arena", "tic_tac_toe", *argv, "--reflect", "1")
    assert (ran.code, words in ran.err) == (2, True)


def test_checkpoints_of_a_training_run_take_part(ludens: Run, tmp_path: Path) -> None:
    for step in (5, 20):
        folder = write_random(tmp_path / "training" / f"step-{step:06d}", ["Action: A1B2C3"], seed=step)
        (folder / "training.json").write_text("{}")
    argv = ("tic_tac_toe", "--checkpoints", str(tmp_path / "training"), "--listed", "true")
    argv = (*argv, "--rounds", "3", "--no-blind-control", "--out", str(tmp_path / "run"))
    ran = ludens("arena", *argv)
    assert ran.code == 0, ran.err
    assert "step 5" in ran.out
    assert "step 20" in ran.out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Rating over training" in page
    assert "Points: 5, 20." in page
