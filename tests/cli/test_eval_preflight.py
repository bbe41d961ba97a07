"""What `ludens eval` finds out before the first episode: budgets, refusals of models, missing extras."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from ludens.core.errors import MissingExtra
from ludens.run.lines import read_records
from ludens.run.store import read_progress
from tests.cli.conftest import Run
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, QUICK, TURNS, ludens_here
from tests.support.runs import ludens as real

PICTURES = "no_pictures"


def spec_of(server: ModelServer, options: str = HASTE) -> str:
    return f"vllm/tiny@{server.url}?{options}"


@pytest.mark.parametrize("flags", [("--max-calls", "2"), ("--max-tokens", "500"), ("--max-cost", "0.0001")])
async def test_budget_that_covers_no_episode(tmp_path: Path, flags: tuple[str, str]) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["vllm/tiny"]\ninput = 1.0\noutput = 1.0\n')
    async with ModelServer() as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(tmp_path / "run"))
        ran = await ludens_here(*argv, *flags, LUDENS_PRICES=str(prices))
        assert server.requests == []
    assert ran.code == 2, ran.err
    assert "the budget covers no episode" in ran.err
    assert f"({flags[0]} {flags[1]})" in ran.err
    assert not (tmp_path / "run").exists()


async def test_budget_cuts_episodes_that_are_longer_than_estimated(tmp_path: Path) -> None:
    """Every reply is illegal, so that each move takes three calls."""
    run = tmp_path / "run"
    async with ModelServer(player=lambda prompt, digest: "no move") as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--max-calls", "8")
        ran = await ludens_here(*argv, "--concurrency", "8")
        assert len(server.requests) <= 8
    assert ran.code == 3, ran.err
    assert "(--max-calls 8)" in ran.err
    assert f"ludens resume {run}" in ran.err


@pytest.mark.parametrize("workers", ["0", "2"])
async def test_model_without_pictures_ends_the_run_at_once(tmp_path: Path, workers: str) -> None:
    run = tmp_path / "run"
    async with ModelServer(script=[PICTURES] * 99) as server:
        argv = ("eval", TURNS, "-m", spec_of(server, "retries=30"), "--out", str(run), "--workers", workers)
        ran = await ludens_here(*argv)
        assert len(server.requests) == 1  # the probe
        content = server.requests[0]["messages"][0]["content"]
        assert [part["type"] for part in content] == ["image_url", "text"]
        assert ran.code == 2, ran.err
        assert "--modality text" in ran.err
        text = await ludens_here(
            "eval", TURNS, "-m", spec_of(server), "--modality", "text", "--out", f"{run}-2"
        )
        assert text.code == 0, text.err
        assert not any("image_url" in str(request) for request in server.requests[1:])
    assert read_records(run) == []


async def test_probe_that_is_not_answered_stops_the_run(tmp_path: Path) -> None:
    async with ModelServer(script=["500"] * 99) as server:
        argv = ("eval", TURNS, "-m", spec_of(server, f"{HASTE}&retries=2"), "--out", str(tmp_path / "run"))
        ran = await ludens_here(*argv)
        assert len(server.requests) == 3
    assert ran.code == 3, ran.err
    assert "gave no answer in 3 attempts" in ran.err


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
async def test_sigterm_drops_calls_that_wait_to_retry(tmp_path: Path, workers: str) -> None:
    """`timeout` signals the process and its group: both signals arrive at nearly the same time."""
    async with ModelServer(script=["ok", *["500"] * 99]) as server:

        async def terminate(process: asyncio.subprocess.Process) -> None:
            while server.met["500"] < 2:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            for _ in range(2):
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.05)

        argv = ("eval", TURNS, "-m", spec_of(server, "backoff=100"), "--out", str(tmp_path / "run"))
        argv += ("--workers", workers, "--concurrency", "2")
        ran = await asyncio.wait_for(real(*argv, meanwhile=terminate), 60)
    assert ran.code == 130, ran.err
    assert "stopped early: interrupted" in ran.err
    voids = read_progress(tmp_path / "run")[1]
    assert sum(voids.values()) >= 2


def _no_atari(self: object, seed: int) -> None:
    raise MissingExtra("together", "atari")


def test_all_problems_are_reported_before_the_first_episode(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ludens.games.coin_dilemma import CoinDilemma

    monkeypatch.setattr(CoinDilemma, "start", _no_atari)
    run = tmp_path / "run"
    ran = ludens("eval", QUICK, "-m", "bot/random", "--out", str(run))
    assert ran.code == 2
    assert "pip install 'ludens[atari]'" in ran.err
    assert "--skip-unavailable to skip together" in ran.err
    assert not run.exists()
    ran = ludens("eval", QUICK, "-m", "bot/random", "--out", str(run), "--skip-unavailable")
    assert ran.code == 3, ran.err
    assert "skipped: together" in ran.err
    played = {record.task for record in read_records(run)}
    assert played
    assert "together" not in played
    monkeypatch.undo()
    ran = ludens("resume", str(run), "--suite", QUICK)
    assert ran.code == 0, ran.err
    assert "together" in {record.task for record in read_records(run)}


def test_problems_of_several_tasks_and_models_are_one_message(ludens: Run, tmp_path: Path) -> None:
    argv = ("eval", QUICK, "-m", "bot/mcts", "-m", "openai/gpt-4.1", "--out", str(tmp_path / "run"))
    ran = ludens(*argv)
    assert ran.code == 2
    assert "OPENAI_API_KEY" in ran.err
    assert "bot/mcts plays OpenSpiel games only" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


async def test_key_in_an_answer_is_not_stored(tmp_path: Path) -> None:
    key = "sk-very-secret-9876"
    async with ModelServer(key=key, script=["echo_ok"] * 99) as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--limit", "1", "--out", str(tmp_path / "run"))
        ran = await ludens_here(*argv, VLLM_API_KEY=key)
    stored = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert "***" in stored
    assert key not in stored + ran.out + ran.err
