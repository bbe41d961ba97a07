"""The player: what fails is void or ends the run, models are shared, paced and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import BadOption, MissingKey
from ludens.models.cache import Cached
from ludens.models.chat import Model
from ludens.models.client import Client
from ludens.run.jobs import JobRunner
from ludens.run.meter import Metered
from ludens.run.plan import Plan
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, plan_of

ADDRESS = "http://127.0.0.1:1/v1"


async def test_a_bug_in_a_game_is_a_void_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("bot/first", suite=TURNS, theme="plain", size=300)
    player = JobRunner(plan)

    def broken(self: object, seed: int) -> Any:
        raise ZeroDivisionError("no stones")

    monkeypatch.setattr(type(player.game("turns")), "start", broken)
    outcome = await player.play(next(plan.jobs()))
    episode = Episode.from_json(outcome.data)
    assert outcome.void
    assert outcome.error == episode.error == "tic_tac_toe raised ZeroDivisionError: no stones"
    assert (episode.theme, episode.size, episode.config["retries"]) == ("plain", 300, 2)


@pytest.mark.parametrize(
    ("what", "wrong", "told"),
    [
        ("returns", {"x": float("nan"), "o": 0.0}, "ValueError: the returns are not finite"),
        ("facts", {"corners": {1, 3}}, "TypeError: Type is not JSON serializable: set"),
    ],
)
async def test_what_no_file_could_hold_is_a_void(
    what: str, wrong: object, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    player = JobRunner(plan)
    monkeypatch.setattr(type(player.game("turns").start(0)), what, property(lambda self: wrong))
    outcome = await player.play(next(plan.jobs()))
    assert outcome.void
    assert f"tic_tac_toe raised {told}" in Episode.from_json(outcome.data).error


async def test_an_outcome_counts_what_its_episode_holds() -> None:
    async with ModelServer(script=["length", "length", "ok"]) as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", suite=TURNS)
        player = JobRunner(plan)
        outcome = await player.play(next(plan.jobs()))
        await player.close()
    episode = Episode.from_json(outcome.data)
    assert outcome.calls == len(server.requests) == episode.usage().calls == player.meter.calls
    assert outcome.tokens == player.meter.tokens == 100 * outcome.calls + player.meter.output_tokens
    assert (outcome.retried, outcome.moves) == (1, len(episode.moves))
    assert player.meter.images == outcome.calls


def test_everybody_is_seated_before_the_first_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey):
        JobRunner(plan_of("openai/gpt-4.1")).check()
    with pytest.raises(BadOption, match="bot/mcts plays OpenSpiel games only"):
        JobRunner(plan_of("bot/mcts")).check()
    JobRunner(plan_of("bot/mcts", suite=TURNS)).check()


def test_words_that_are_wrong_are_found_before_the_first_episode(tmp_path: Path) -> None:
    (tmp_path / "tic_tac_toe.md").write_text("# rulez\nPlay.\n")
    plan = plan_of(f"vllm/x@{ADDRESS}", suite=TURNS, templates=str(tmp_path))
    with pytest.raises(Exception, match="did you mean 'rules'"):
        JobRunner(plan).check()
    (tmp_path / "tic_tac_toe.md").unlink()
    (tmp_path / "agent.md").write_text("# system\nPlay, $nobody.\n")
    with pytest.raises(Exception, match="uses an unknown word"):
        JobRunner(plan_of(f"vllm/x@{ADDRESS}?templates={tmp_path}", suite=TURNS)).check()


def _client(plan: Plan, **more: int) -> tuple[Client, Model]:
    player = JobRunner(plan, **more)
    player.check()
    [model] = player._models.values()
    assert isinstance(model, Metered)
    inner = model.inner.inner if isinstance(model.inner, Cached) else model.inner
    assert isinstance(inner, Client)
    return inner, model


def test_seats_share_one_model() -> None:
    player = JobRunner(plan_of(f"vllm/x@{ADDRESS}?style=cot", f"vllm/x@{ADDRESS}?blind=true"))
    player.check()
    assert len(player._models) == 1


@pytest.mark.parametrize(
    ("options", "concurrency", "processes", "limits"),
    [
        ("", 1, 1, (64, 0, 0)),
        ("", 256, 1, (256, 0, 0)),
        ("?concurrency=8", 256, 1, (8, 0, 0)),
        ("?concurrency=8&rpm=100&tpm=9000", 4, 3, (2, 33, 3000)),
        ("?concurrency=1&rpm=1", 4, 3, (1, 1, 0)),
    ],
)
def test_limits_are_shared_out(
    options: str, concurrency: int, processes: int, limits: tuple[int, int, int], tmp_path: Path
) -> None:
    for cache in ("", ("&" if options else "?") + f"cache={tmp_path / 'answers'}"):
        plan = plan_of(f"vllm/x@{ADDRESS}{options}{cache}", suite=TURNS)
        client, model = _client(plan, concurrency=concurrency, processes=processes)
        settings = client.settings
        assert (settings.concurrency, settings.rpm, settings.tpm) == limits
        assert model.spec == client.spec == f"vllm/x@{ADDRESS}"
