"""The job runner: failures void the job or end the run; models are shared, limited and metered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ludens.agents.bots import First
from ludens.core.episode import Episode
from ludens.core.errors import MissingKey, UsageError
from ludens.models.cache import Cached
from ludens.models.chat import Model
from ludens.models.client import Client
from ludens.run.jobs import JobRunner, Metered
from ludens.run.plan import Plan
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, plan_of

ADDRESS = "http://127.0.0.1:1/v1"


async def test_exception_in_a_game_voids_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("bot/first", suite=TURNS, theme="plain", size=300)
    runner = JobRunner(plan)

    def broken(self: object, seed: int) -> Any:
        raise ZeroDivisionError("no stones")

    monkeypatch.setattr(type(runner.game("turns")), "start", broken)
    outcome = await runner.play(next(iter(plan.jobs)))
    episode = Episode.from_json(outcome.data)
    assert outcome.row.void
    assert outcome.row.error == episode.error == "tic_tac_toe raised ZeroDivisionError: no stones"
    assert (episode.theme, episode.size, episode.config["retries"]) == ("plain", 300, 2)


async def test_exception_in_an_agent_voids_the_job_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    runner = JobRunner(plan)

    async def broken(self: object, ask: Any) -> Any:
        raise ZeroDivisionError("no stones")

    monkeypatch.setattr(First, "act", broken)
    outcome = await runner.play(next(iter(plan.jobs)))
    assert outcome.row.void
    assert outcome.row.error == "bot/first raised ZeroDivisionError: no stones"
    assert "Traceback" in caplog.text
    assert "ZeroDivisionError: no stones" in caplog.text


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("returns", {"x": float("nan"), "o": 0.0}, "the returns are not finite"),
        ("facts", {"corners": {1, 3}}, "not JSON serializable"),
    ],
)
async def test_result_that_cannot_be_saved_voids_the_job(
    attribute: str, value: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    runner = JobRunner(plan)
    monkeypatch.setattr(type(runner.game("turns").start(0)), attribute, property(lambda self: value))
    outcome = await runner.play(next(iter(plan.jobs)))
    assert outcome.row.void
    episode = Episode.from_json(outcome.data)
    assert episode.error == outcome.row.error
    assert "tic_tac_toe" in episode.error
    assert reason in episode.error
    assert len(episode.moves) >= 5


async def test_outcome_counts_calls_tokens_and_retries() -> None:
    async with ModelServer(script=["length", "length", "ok"]) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS)
        runner = JobRunner(plan)
        outcome = await runner.play(next(iter(plan.jobs)))
        await runner.close()
    episode = Episode.from_json(outcome.data)
    usage = outcome.row.usage + outcome.row.other_usage
    assert usage.calls == len(server.requests) == episode.usage().calls == runner.usage.calls
    assert usage.tokens == runner.usage.tokens == 100 * usage.calls + runner.usage.output_tokens
    assert [move.verdict for move in episode.moves].count("retried") == 1
    assert outcome.row.fallbacks + outcome.row.other_fallbacks == 0
    assert runner.usage.images == usage.calls


def test_check_creates_every_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey):
        JobRunner(plan_of("openai/gpt-4.1")).check()
    with pytest.raises(UsageError, match="bot/mcts plays OpenSpiel games only"):
        JobRunner(plan_of("bot/mcts")).check()
    JobRunner(plan_of("bot/mcts", suite=TURNS)).check()


def test_check_finds_wrong_templates(tmp_path: Path) -> None:
    (tmp_path / "tic_tac_toe.md").write_text("# rulez\nPlay.\n")
    plan = plan_of(f"vllm/x@{ADDRESS}", suite=TURNS, templates=str(tmp_path))
    with pytest.raises(Exception, match="did you mean 'rules'"):
        JobRunner(plan).check()
    (tmp_path / "tic_tac_toe.md").unlink()
    (tmp_path / "agent.md").write_text("# system\nPlay, $nobody.\n")
    with pytest.raises(Exception, match="uses an unknown word"):
        JobRunner(plan_of(f"vllm/x@{ADDRESS}?templates={tmp_path}", suite=TURNS)).check()


def _client(plan: Plan, **more: int) -> tuple[Client, Model]:
    runner = JobRunner(plan, **more)
    runner.check()
    [model] = runner._models.values()
    assert isinstance(model, Metered)
    inner = model.inner.inner if isinstance(model.inner, Cached) else model.inner
    assert isinstance(inner, Client)
    return inner, model


def test_seats_share_one_model() -> None:
    runner = JobRunner(plan_of(f"vllm/x@{ADDRESS}?style=cot", f"vllm/x@{ADDRESS}?blind=true"))
    runner.check()
    assert len(runner._models) == 1


@pytest.mark.parametrize(
    ("options", "concurrency", "workers", "limits"),
    [
        ("", 1, 1, (64, 0, 0)),
        ("", 256, 1, (256, 0, 0)),
        ("?concurrency=8", 256, 1, (8, 0, 0)),
        ("?concurrency=8&rpm=100&tpm=9000", 4, 3, (2, 33, 3000)),
        ("?concurrency=1&rpm=1", 4, 3, (1, 1, 0)),
    ],
)
def test_workers_share_the_limits(
    options: str, concurrency: int, workers: int, limits: tuple[int, int, int], tmp_path: Path
) -> None:
    for cache in ("", ("&" if options else "?") + f"cache={tmp_path / 'answers'}"):
        plan = plan_of(f"vllm/x@{ADDRESS}{options}{cache}", suite=TURNS)
        client, model = _client(plan, concurrency=concurrency, workers=workers)
        settings = client.settings
        assert (settings.concurrency, settings.rpm, settings.tpm) == limits
        assert model.spec == client.spec == f"vllm/x@{ADDRESS}"
