"""Replies from a vLLM server: a stand-in that speaks its format draws, the local model trains.

The stand-in samples with `generate` of transformers and computes log-probabilities from its scores, so that
nothing of what is compared is computed by the same code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

import ludens  # noqa: E402
from ludens.agents.vlm import Vlm  # noqa: E402
from ludens.core.agent import Agent  # noqa: E402
from ludens.core.ask import build_ask  # noqa: E402
from ludens.core.config import PlayConfig  # noqa: E402
from ludens.core.errors import UsageError  # noqa: E402
from ludens.core.random import stream  # noqa: E402
from ludens.core.view import RenderOptions, view_of  # noqa: E402
from ludens.models.chat import Answer  # noqa: E402
from ludens.train import ranks  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.recipe import Recipe  # noqa: E402
from ludens.train.session import train  # noqa: E402
from ludens.train.transformers_policy import TransformersPolicy  # noqa: E402
from ludens.train.vllm import VllmPolicy  # noqa: E402
from tests.support.vllm_stand_in import VllmStandIn  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp(tmp_path_factory.mktemp("tiny"))


def sharp(folder: Path, seed: int = 0) -> Path:
    """A tiny model whose replies are not all equally probable: otherwise wrong weights would hardly show."""
    from safetensors.torch import load_file, save_file

    from tests.support.tiny_vlm import build

    file = build(folder, seed) / "model.safetensors"
    weights = load_file(file)
    weights[next(name for name in weights if name.endswith("lm_head.weight"))] *= 20
    save_file(weights, file, {"format": "pt"})
    return folder


def recipe_of(folder: Path, url: str, lora: int = 4, episodes: int = 1, **server: Any) -> Recipe:
    return Recipe.of(
        {
            "run": {"iterations": 2},
            "model": {
                "kind": "hf",
                "path": str(folder),
                "lora": lora,
                "temperature": 0.5,
                "max_tokens": 4,
                "device": "cpu",
            },
            "server": {"url": url, "retries": 0, **server},
            "play": {"game": "kuhn_poker", "episodes": episodes, "held_out": 0},
            "opponents": [{"players": {"second": "bot/random"}}],
            "advantage": {"kind": "none"},
            "loss": {"kl": 0.0},
            "optimizer": {"lr": 0.1, "warmup": 0.0, "grad_norm": 0.0},
            "monitor": {"checkpoint": 1, "blind": 0, "games": 0},
        }
    )


def policy_of(recipe: Recipe, folder: Path) -> VllmPolicy:
    return VllmPolicy(TransformersPolicy.read(recipe.model.path, recipe.model), recipe.server, folder, 16)


def trainer_of(recipe: Recipe, folder: Path) -> Trainer:
    return Trainer(recipe, policy_of(recipe, folder / "served"), folder)


def iterate(trainer: Trainer, times: int = 1) -> list[dict[str, float]]:
    async def go() -> list[dict[str, float]]:
        try:
            return [await trainer.iterate() for _ in range(times)]
        finally:
            await trainer.close()

    return asyncio.run(go())


@pytest.mark.parametrize("lora", [4, pytest.param(0, marks=pytest.mark.slow)])
def test_drawn_log_probabilities_match_after_a_push(
    folder: Path, lora: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with VllmStandIn(folder) as server:
        trainer = trainer_of(recipe_of(folder, server.url, lora), tmp_path)
        repeat_games(trainer, monkeypatch)
        before = [parameter.detach().clone() for parameter in trainer.policy.parameters()]
        first, second = iterate(trainer, 2)
        assert first["samples"] >= 1
        assert max(first["gap"], second["gap"]) < 1e-3
        changes = zip(before, trainer.policy.parameters(), strict=True)
        assert max(float((a - b.detach()).abs().max()) for a, b in changes) > 0.05
        body = server.bodies[-1]
        assert (body["temperature"], body["top_k"], body["top_p"]) == (0.5, -1, 1.0)
        assert server.adapters == ([body["model"]] if lora else [])
        assert server.counts["/reset_encoder_cache"] == (0 if lora else 2)
        assert len({request["cache_salt"] for request in server.bodies}) == 2
        assert [path.name for path in (tmp_path / "served").iterdir()] == [body["cache_salt"]]


def test_a_push_that_is_ignored_stops_the_run(folder: Path, tmp_path: Path) -> None:
    with VllmStandIn(folder, "deaf") as server:
        trainer = trainer_of(recipe_of(folder, server.url), tmp_path)
        assert iterate(trainer)[0]["gap"] < 1e-3
        with pytest.raises(UsageError, match="log-probabilities of the vLLM server differ"):
            iterate(trainer)


def ahead_of(recipe: Recipe) -> Recipe:
    play, monitor = replace(recipe.play, ahead=1), replace(recipe.monitor, checkpoint=9)
    return replace(recipe, run=replace(recipe.run, iterations=4), play=play, monitor=monitor)


@pytest.mark.parametrize("lora", [4, pytest.param(0, marks=pytest.mark.slow)])
def test_a_server_plays_during_the_update(folder: Path, lora: int, tmp_path: Path) -> None:
    with VllmStandIn(folder) as server:
        trainer = trainer_of(ahead_of(recipe_of(folder, server.url, lora)), tmp_path)
        history = iterate(trainer, 3)
        assert [measured["staleness"] for measured in history] == [0, 1, 1]
        assert history[2]["weight"] != 1
        # The weights before each update but the first also played the games before it.
        assert len({request["cache_salt"] for request in server.bodies}) == 3


def test_an_ignored_push_is_noticed_beside_the_update_too(folder: Path, tmp_path: Path) -> None:
    with VllmStandIn(folder, "deaf") as server:
        trainer = trainer_of(ahead_of(recipe_of(folder, server.url)), tmp_path)
        assert iterate(trainer)[0]["staleness"] == 0
        with pytest.raises(UsageError, match="log-probabilities of the vLLM server differ"):
            iterate(trainer)


def test_prefixes_of_older_weights_would_stop_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with VllmStandIn(folder) as server:
        trainer = trainer_of(recipe_of(folder, server.url, 0), tmp_path)
        repeat_games(trainer, monkeypatch)
        assert isinstance(trainer.policy, VllmPolicy)
        serve = trainer.policy.model.serve
        monkeypatch.setattr(trainer.policy.model, "serve", lambda model, version: serve(model, "same"))
        assert iterate(trainer)[0]["gap"] < 1e-3
        with pytest.raises(UsageError, match="log-probabilities of the vLLM server differ"):
            iterate(trainer)


def repeat_games(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same games in every iteration, so that prompts come again."""
    jobs = trainer.jobs()
    monkeypatch.setattr(trainer, "jobs", lambda **_: jobs)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raw", "differ by .* --logprobs-mode processed_logprobs"),
        ("template", "chat template"),
        ("no_ids", "returns no token ids"),
        ("no_lora", "HTTP 404: Not Found.*VLLM_ALLOW_RUNTIME_LORA_UPDATING=True.*--max-lora-rank 4"),
    ],
)
def test_a_server_that_answers_otherwise_stops_the_run(
    folder: Path, fault: str, message: str, tmp_path: Path
) -> None:
    with VllmStandIn(folder, fault) as server, pytest.raises(UsageError, match=message):
        iterate(trainer_of(recipe_of(folder, server.url), tmp_path))


def test_another_model_stops_the_run(folder: Path, tmp_path: Path) -> None:
    other = sharp(tmp_path / "other", seed=1)
    with VllmStandIn(other) as server, pytest.raises(UsageError, match="differ by"):
        iterate(trainer_of(recipe_of(folder, server.url), tmp_path))


def test_all_weights_need_the_development_endpoints(folder: Path, tmp_path: Path) -> None:
    with VllmStandIn(folder, "no_dev") as server:
        with pytest.raises(UsageError, match=r"collective_rpc, HTTP 404.*VLLM_SERVER_DEV_MODE=1"):
            iterate(trainer_of(recipe_of(folder, server.url, 0), tmp_path))
        assert list((tmp_path / "served").iterdir()) == []


def test_a_run_goes_on_after_its_server_died(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with VllmStandIn(folder) as server, monkeypatch.context() as patch:
        save = Trainer.save

        def then_down(trainer: Trainer) -> Path:
            server.faults.add("down")
            return save(trainer)

        patch.setattr(Trainer, "save", then_down)
        with pytest.raises(UsageError, match=r"does not answer .*: start it and repeat the command"):
            train(recipe_of(folder, server.url), tmp_path, said.append)
        assert not (tmp_path / "step-000002").exists()
    with VllmStandIn(folder) as server:
        trainer = train(recipe_of(folder, server.url), tmp_path, said.append)
    assert f"going on from {tmp_path / 'step-000001'}" in said
    assert trainer.iteration == 2
    assert trainer.history[1]["gap"] < 1e-3


def test_a_server_that_dies_during_play_stops_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with VllmStandIn(folder) as server:
        trainer = trainer_of(recipe_of(folder, server.url), tmp_path)
        publish: Callable[[], Any] = trainer.policy.publish

        async def then_down() -> None:
            await publish()
            server.faults.add("down")

        monkeypatch.setattr(trainer.policy, "publish", then_down)
        with pytest.raises(UsageError, match=r"gave no answer .* repeat the command"):
            iterate(trainer)


@pytest.mark.parametrize("lora", [pytest.param(0, marks=pytest.mark.slow), 4])
def test_servers_share_the_games_and_one_that_is_gone_is_left_out(
    folder: Path, tmp_path: Path, lora: int, caplog: pytest.LogCaptureFixture
) -> None:
    with VllmStandIn(folder) as one, VllmStandIn(folder) as other:
        trainer = trainer_of(recipe_of(folder, f"{one.url} {other.url}", lora, episodes=4), tmp_path)
        [first] = iterate(trainer)
        asked = [server.counts["/v1/chat/completions"] for server in (one, other)]
        assert min(asked) > 0.3 * sum(asked)
        other.faults.add("down during play")
        [second] = iterate(trainer)
        assert f"the vLLM server at {other.url} is left out" in caplog.text
        other.faults.add("down")
        [third] = iterate(trainer)
        other.faults.clear()
        before = other.counts["/v1/chat/completions"]
        [fourth] = iterate(trainer)
        assert other.counts["/v1/chat/completions"] > before
        assert {measured["episodes"] for measured in (first, second, third, fourth)} == {4}
        assert max(measured["gap"] for measured in (first, second, third, fourth)) < 1e-3


def test_seeds_depend_on_episode_and_iteration(folder: Path, tmp_path: Path) -> None:
    policy = policy_of(recipe_of(folder, "http://127.0.0.1:1"), tmp_path)
    game = ludens.make("kuhn_poker")
    state = game.start(0)
    ask = build_ask(view_of(game, RenderOptions(), 0), state, "first", "image", PlayConfig())

    def seeds(episode: int, *names: int) -> list[int | None]:
        policy.reseed(*names)
        player = policy.agent().sit(game, "first", stream(episode, "agent"))
        assert isinstance(player, Vlm)
        policy.stale = False
        return [player.request(ask).sampling.seed for _ in range(3)]

    assert seeds(0, 7, 0, 0) == seeds(0, 7, 0, 0)
    drawn = [*seeds(0, 7, 0, 0), *seeds(1, 7, 0, 0), *seeds(0, 7, 1, 0), *seeds(0, 8, 0, 0)]
    assert len(set(drawn)) == 12
    assert None not in drawn


def test_one_rank_pushes_and_all_ask_for_what_it_pushed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_of(recipe_of(folder, "http://127.0.0.1:1"), tmp_path)
    monkeypatch.setattr(ranks, "world", lambda: (1, 2))
    monkeypatch.setattr(ranks, "gather", lambda own: [({"http://127.0.0.1:1": "adapter-7"}, "7"), own])
    asyncio.run(policy.publish())
    [model] = policy.model.members.values()
    assert model.model_name == "adapter-7"
    assert model.extra["cache_salt"] == "7"
    assert list(tmp_path.iterdir()) == []


def test_weights_that_did_not_change_are_not_pushed_again(folder: Path, tmp_path: Path) -> None:
    with VllmStandIn(folder) as server:
        policy = policy_of(recipe_of(folder, server.url + "/v1", 0), tmp_path)
        for _ in range(2):
            asyncio.run(policy.publish())
        assert server.counts == {"/collective_rpc": 1, "/reset_encoder_cache": 1, "/v1/models": 1}


def test_changed_weights_must_be_published_before_games(folder: Path, tmp_path: Path) -> None:
    policy = policy_of(recipe_of(folder, "http://127.0.0.1:1", 0), tmp_path)
    for change in (lambda: policy.train(True), lambda: policy.load(folder)):
        policy.stale = False
        change()
        with pytest.raises(RuntimeError, match="publish"):
            asyncio.run(ludens.play(ludens.make("kuhn_poker"), both(policy.agent()), 0))
    policy.stale = False
    policy.train(False)
    assert not policy.stale


def both(agent: Agent) -> dict[str, Agent]:
    return {"first": agent, "second": agent}


def test_answers_without_log_probabilities(folder: Path, tmp_path: Path) -> None:
    [model] = policy_of(recipe_of(folder, "http://127.0.0.1:1"), tmp_path).model.members.values()
    content = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.5}]
    choice: dict[str, Any] = {
        "message": {"content": "ab"},
        "token_ids": [5, 6],
        "logprobs": {"content": content},
    }
    body = {"choices": [choice], "prompt_token_ids": [1, 2, 3]}
    answer = model.read(orjson.dumps(body))
    assert isinstance(answer, Answer)
    assert answer.tokens is not None
    assert (answer.tokens.prompt_ids, answer.tokens.completion_ids) == ([1, 2, 3], [5, 6])
    assert (answer.tokens.logprobs, answer.tokens.temperature) == ([-0.5, -1.5], 0.5)
    for wrong in (
        None,
        {"content": None},
        {"content": content[:1]},
        {"content": [*content[:1], {"logprob": "x"}]},
    ):
        choice["logprobs"] = wrong
        with pytest.raises(UsageError, match="log-probabilities and 2 ids"):
            model.read(orjson.dumps(body))
