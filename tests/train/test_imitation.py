"""Imitation of hf models by rounds: samples that other processes encode, the loss, rates, time limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson
import pytest
import torch

pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption
from ludens.models.chat import Request
from ludens.train.checks import check
from ludens.train.demonstrations import chunks_of, replies
from ludens.train.imitation import MOST_SKIPPED, TransformersImitation, encode, rounds
from ludens.train.recipe import Recipe
from ludens.train.session import train
from ludens.train.transformers_policy import TransformersPolicy
from ludens.train.update import Diverged
from tests.support.tiny_policy import answers
from tests.support.tiny_training import recipe
from tests.support.tiny_vlm import build

DEMONSTRATIONS = [{"bot": "bot/minimax", "game": "tic_tac_toe", "episodes": 2}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("llava")))


def by_rounds(path: str, **supervised: Any) -> Recipe:
    model = {"kind": "hf", "path": path, "max_tokens": 4, "device": "cpu", "freeze_vision": False}
    options = {"engine": "rounds", "workers": 1, "batch": 4, "lr": 1e-2, "rounds": 2, **supervised}
    return recipe(
        run={"algorithm": "sft"}, model=model, demonstrations=DEMONSTRATIONS, supervised=options, monitor={}
    )


def test_prompts_are_those_of_play(folder: str) -> None:
    """The same tokens and the same log-probabilities, whoever processed the pictures."""
    small = by_rounds(folder)
    policy = TransformersPolicy.read(folder, small.model)
    [chunk, *_] = chunks_of(small.sources)
    [first, *_] = replies(chunk)
    sample = next(encode(folder, chunk).samples())
    request = Request(first.messages)
    [played] = answers(policy.sampler, [request], temperature=1.0, max_tokens=4)
    assert sample.prompt_ids == played.prompt_ids
    words = policy.processor.tokenizer
    assert words.decode(sample.completion_ids) == f"{first.completion}{words.eos_token}"
    values, _ = policy.logprobs([sample])
    drawn, _ = policy.logprobs([replace(sample, pictures=first.pictures)])
    assert float((values - drawn).detach().abs().max()) < 1e-3


def test_every_round_has_games_of_its_own(folder: str) -> None:
    first, second = rounds(folder, by_rounds(folder).sources, 2, workers=1)
    assert [s.completion_ids for s in first] != [s.completion_ids for s in second]


def test_the_loss_is_the_mean_over_tokens_and_rates_differ(folder: str) -> None:
    small = by_rounds(folder, vision_lr=0.05, weight_decay=0.0)
    policy = TransformersPolicy.read(folder, small.model)
    imitation = TransformersImitation(policy, small)
    [samples] = rounds(folder, small.sources, 1, workers=1)
    before = {name: weight.detach().clone() for name, weight in policy.model.named_parameters()}
    values, mask = policy.logprobs(samples)
    imitation.step(samples, share=0.5)
    assert imitation.losses[0] == pytest.approx(-float((values.sum() / mask.sum()).detach()), rel=1e-4)
    moved = {
        name: float((weight.detach() - before[name]).abs().max())
        for name, weight in policy.model.named_parameters()
    }
    # The first step of Adam moves every weight by the rate.
    seeing = max(way for name, way in moved.items() if "vision_tower" in name)
    speaking = max(way for name, way in moved.items() if "language_model" in name)
    assert seeing == pytest.approx(5 * speaking, rel=1e-2)


def test_a_run_learns_stores_its_losses_and_can_be_read(folder: str, tmp_path: Path) -> None:
    said: list[str] = []
    train(by_rounds(folder, epochs=2), tmp_path, said.append)
    stored = orjson.loads((tmp_path / "imitation.json").read_bytes())
    assert stored["rounds"] == 2
    assert stored["losses"][-1] < stored["losses"][0] / 2
    assert any("of the time waiting" in line for line in said)
    TransformersPolicy.read(str(tmp_path / "supervised"), by_rounds(folder).model)


def test_gradients_that_are_not_finite_are_left_out(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One step with them would make every weight a nan; many in turn end the run."""
    small = by_rounds(folder)
    policy = TransformersPolicy.read(folder, small.model)
    imitation = TransformersImitation(policy, small)
    samples = next(rounds(folder, small.sources, 1, workers=1))[:2]
    weight = policy.parameters()[0]
    hook = weight.register_hook(lambda gradient: gradient * float("inf"))
    before = weight.detach().clone()
    imitation.step(samples, share=0.5)
    assert (imitation.skipped, imitation.losses) == (1, [])
    assert bool((weight == before).all())
    for _ in range(MOST_SKIPPED - 2):
        imitation.step(samples, share=0.5)
    with pytest.raises(Diverged, match="the gradient is not finite"):
        imitation.step(samples, share=0.5)
    hook.remove()
    imitation.step(samples, share=0.5)
    assert len(imitation.losses) == 1
    assert bool(weight.isfinite().all())


def test_a_loss_that_rises_far_brings_earlier_weights_back(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.train.imitation.LATEST", 3)
    small = by_rounds(folder, lr=1e-3)
    policy = TransformersPolicy.read(folder, small.model)
    imitation = TransformersImitation(policy, small)
    samples = next(rounds(folder, small.sources, 1, workers=1))[:2]

    def steps() -> None:
        for _ in range(3):
            imitation.step(samples, share=0.5)

    steps()
    assert not imitation.judge()
    before = fmean(imitation.latest())
    good = [weight.detach().clone() for weight in policy.parameters()]
    rates, imitation.rates = imitation.rates, (1.0, 1.0)
    steps()
    imitation.rates = rates
    assert imitation.judge()
    assert imitation.rates == (rates[0] / 2, rates[1] / 2)
    assert all(bool((a == b).all()) for a, b in zip(policy.parameters(), good, strict=True))
    steps()
    assert fmean(imitation.latest()) < before
    assert imitation.returns == 1


def test_attention_is_not_that_of_cudnn(folder: str) -> None:
    """Its gradients are nan for some widths of padded rows on Hopper: pytorch issue 196678."""
    torch.backends.cuda.enable_cudnn_sdp(True)
    policy = TransformersPolicy.read(folder, by_rounds(folder).model)
    allowed: list[bool] = []
    policy.base.register_forward_pre_hook(lambda *_: allowed.append(torch.backends.cuda.cudnn_sdp_enabled()))
    [samples] = rounds(folder, by_rounds(folder).sources, 1, workers=1)
    policy.logprobs(samples)
    assert allowed == [False]


def test_time_ends_it(folder: str, tmp_path: Path) -> None:
    train(by_rounds(folder, rounds=10_000, minutes=0.02), tmp_path, lambda _: None)
    assert orjson.loads((tmp_path / "imitation.json").read_bytes())["rounds"] < 10_000


@pytest.mark.parametrize(
    ("supervised", "model", "words"),
    [
        ({"engine": "trl", "vision_lr": 1e-3}, {}, "need supervised.engine"),
        ({"engine": "trl", "minutes": 1.0}, {}, "need supervised.engine"),
        ({"vision_lr": 1e-3}, {"freeze_vision": True}, "freeze_vision = false"),
        ({}, {"kind": "nano", "path": ""}, "nano has rounds in any case"),
    ],
)
def test_what_does_not_fit(
    folder: str, supervised: dict[str, Any], model: dict[str, Any], words: str
) -> None:
    small = by_rounds(folder, **supervised)
    with pytest.raises(BadOption, match=words):
        check(replace(small, model=replace(small.model, **model)))
