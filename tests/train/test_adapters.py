"""LoRA: adapters start as the seed says, and copies have adapters of their own, until they are released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("peft", reason="the extra 'train' is not installed")

import ludens  # noqa: E402
from ludens.core.errors import BadFile, BadOption  # noqa: E402
from ludens.models.generation import placeholders  # noqa: E402
from ludens.train.league import CHECKPOINT, FROZEN, PREVIOUS, League  # noqa: E402
from ludens.train.recipe import ModelOptions, Opponents  # noqa: E402
from ludens.train.transformers_policy import TransformersPolicy  # noqa: E402
from tests.support.tiny_policy import replies, tiny_policy  # noqa: E402
from tests.support.tiny_vlm import tiny  # noqa: E402


def adapters(policy: Any) -> list[Any]:
    return [parameter.detach().clone() for parameter in policy.parameters()]


def equal(first: list[Any], second: list[Any]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def disturbed(seed: int) -> TransformersPolicy:
    """A policy whose adapters change what it says."""
    policy = tiny_policy("llava", lora=2)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return policy


def logprobs(policy: Any, samples: Any) -> Any:
    with torch.no_grad():
        return policy.logprobs(samples)[0]


def test_adapters_start_as_the_seed_says() -> None:
    options, made = ModelOptions(kind="hf", device="cpu", lora=2), []
    for other, seed in enumerate((1, 1, 2)):
        torch.manual_seed(other)
        before = torch.random.get_rng_state()
        made.append(adapters(TransformersPolicy(*tiny("llava"), options, seed=seed)))
        assert torch.equal(torch.random.get_rng_state(), before)
    assert equal(made[0], made[1])
    assert not equal(made[0], made[2])


def test_a_checkpoint_as_opponent_does_not_replace_the_learner(tmp_path: Path) -> None:
    earlier, learner = disturbed(1), disturbed(2)
    samples = replies(earlier)
    earlier.save(tmp_path)
    own, said = adapters(learner), logprobs(learner, samples)
    name = f"{CHECKPOINT}{tmp_path}"
    league = League(ludens.make("tic_tac_toe"), learner, [Opponents({"x": name})], seed=0)
    assert equal(adapters(learner), own)
    assert torch.equal(logprobs(learner, samples), said)
    assert (logprobs(league._frozen[name], samples) - logprobs(earlier, samples)).abs().max() < 1e-5
    assert (said - logprobs(earlier, samples)).abs().max() > 1e-2


def test_a_saved_copy_is_the_copy_and_not_the_learner(tmp_path: Path) -> None:
    learner = disturbed(1)
    samples = replies(learner)
    copy, expected = learner.frozen(), logprobs(learner, samples)
    with torch.no_grad():
        for parameter in learner.parameters():
            parameter.mul_(2)
    own = adapters(learner)
    copy.save(tmp_path)
    whole = TransformersPolicy.read(str(tmp_path), ModelOptions(kind="hf", device="cpu", temperature=0.7))
    assert (logprobs(whole, samples) - expected).abs().max() < 1e-4
    restored = learner.frozen()
    restored.load(tmp_path)
    assert (logprobs(restored, samples) - expected).abs().max() < 1e-5
    assert equal(adapters(learner), own)
    assert (logprobs(learner, samples) - expected).abs().max() > 1e-2


def test_copies_that_are_not_used_any_more_are_deleted() -> None:
    learner = disturbed(1)
    opponents = [Opponents({"x": PREVIOUS}), Opponents({"o": FROZEN})]
    league = League(ludens.make("tic_tac_toe"), learner, opponents, seed=0)
    samples, counts = replies(learner), set()
    for _ in range(6):
        with torch.no_grad():
            for parameter in learner.parameters():
                parameter.add_(0.05)
        league.checkpointed()
        counts.add((len(learner.model.peft_config), len(list(learner.model.parameters()))))
        assert torch.equal(logprobs(league._frozen[PREVIOUS], samples), logprobs(learner, samples))
    assert len(counts) == 1
    assert next(iter(counts))[0] == 3
    assert len(learner.parameters()) == len(adapters(tiny_policy("llava", lora=2)))


def test_a_checkpoint_without_an_adapter_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="holds no LoRA adapter"):
        tiny_policy("llava", lora=2).load(tmp_path)


def test_targets_alpha_and_dropout() -> None:
    learner = tiny_policy("llava", lora=2, lora_targets="q v", lora_alpha=3.0, lora_dropout=0.5)
    names = {name.split(".lora_")[0] for name, p in learner.model.named_parameters() if p.requires_grad}
    assert {name.rpartition(".")[2] for name in names} == {"q_proj", "v_proj"}
    samples, layer = replies(learner), learner.model.get_submodule(sorted(names)[0])
    with torch.no_grad():
        for parameter in learner.parameters():
            parameter.fill_(0.1)
    # By hand: alpha / rank times B A x, beside the weight that is frozen.
    x = torch.randn(1, 5, layer.in_features, generator=torch.Generator().manual_seed(1))
    added = 3.0 / 2 * (x.sum(-1, keepdim=True) * 0.1) * 2 * 0.1
    with torch.no_grad():
        assert torch.allclose(layer(x), layer.base_layer(x) + added, atol=1e-5)
    # Dropout disturbs the learner in its update, and never copies, which share the model.
    copy = learner.frozen()
    calm, expected = logprobs(learner, samples), logprobs(copy, samples)
    learner.train(True)
    assert not torch.equal(logprobs(learner, samples), calm)
    assert torch.equal(logprobs(copy, samples), expected)
    assert learner.model.training


def test_targets_that_no_layer_has_are_one_sentence() -> None:
    with pytest.raises(BadOption, match="has none of 'fused'"):
        tiny_policy("llava", lora=2, lora_targets="fused")


@pytest.mark.parametrize("family", ["llava", pytest.param("qwen", marks=pytest.mark.torchvision)])
def test_entropies_and_states_of_a_transformers_model(family: str) -> None:
    """Against a pass over one reply alone, of all layers."""
    learner = tiny_policy(family)
    samples = replies(learner)
    with torch.no_grad():
        scores = learner.score(samples, entropy=True, state=True)
    assert scores.entropy is not None
    assert scores.state is not None
    for place, sample in enumerate(samples):
        inputs, mask = learner.collate([sample])
        with torch.no_grad():
            output = learner.model(**inputs, output_hidden_states=True, use_cache=False)
        length = len(sample.completion_ids)
        logits = output.logits[0, -length - 1 : -1] / sample.temperature
        logits[:, list(placeholders(learner.base))] = -torch.inf
        shares = logits.softmax(-1)
        expected = -(shares * shares.clamp(min=1e-45).log()).sum(-1)
        assert torch.allclose(scores.entropy[place, :length], expected, atol=1e-4)
        assert torch.allclose(scores.state[place], output.hidden_states[-1][0, -length - 1], atol=1e-4)
        assert mask.sum() == length
