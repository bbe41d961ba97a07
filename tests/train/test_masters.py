"""Weights in bfloat16 are trained through float32 copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.train.imitation import supervised_transformers  # noqa: E402
from ludens.train.recipe import ModelOptions, Recipe  # noqa: E402
from ludens.train.transformers_policy import TransformersPolicy  # noqa: E402
from ludens.train.update import (  # noqa: E402
    LossOptions,
    Masters,
    OptimizerOptions,
    Updater,
)
from tests.support.tiny_policy import replies, tiny_policy  # noqa: E402
from tests.support.tiny_vlm import build  # noqa: E402

# Some CPUs compute bfloat16 in another way, and torch says so.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")

RATE = OptimizerOptions(lr=1e-6, warmup=0.0, schedule="constant", micro=2)


def moved(before: Any, after: Any) -> float:
    """The share of numbers that changed."""
    count = sum(int((a != b).sum()) for a, b in zip(before, after, strict=True))
    return count / sum(tensor.numel() for tensor in before)


def copies(parameters: Any) -> list[Any]:
    return [parameter.detach().clone() for parameter in parameters]


def test_small_steps_are_not_lost() -> None:
    """The share of weights that ten steps of 1e-6 change: nearly none in bfloat16 itself."""
    torch.manual_seed(0)
    start = (torch.randn(10_000) * 0.02).bfloat16()
    shares = []
    for bare in (False, True):
        weight = torch.nn.Parameter(start.clone())
        masters = Masters([weight])
        trained = [weight] if bare else masters.parameters
        optimizer = torch.optim.AdamW(trained, lr=RATE.lr, weight_decay=0.0)
        for _ in range(10):
            for parameter in trained:
                parameter.grad = torch.ones_like(parameter)
            optimizer.step()
        if not bare:
            assert moved([start.float()], copies(trained)) == 1.0
            masters.publish()
            assert torch.equal(weight, masters.parameters[0].bfloat16())
        shares.append(moved([start], [weight.detach()]))
    assert shares[0] > 0.15
    assert shares[1] < 0.1


def test_policies_in_bfloat16_are_trained_through_copies() -> None:
    policy = tiny_policy("llava", dtype="bfloat16", max_tokens=2)
    samples = replies(policy)
    assert all(parameter.dtype == torch.bfloat16 for parameter in policy.parameters())
    updater = Updater(policy, RATE, LossOptions(kl=0.0), 1000)
    assert all(master.dtype == torch.float32 for master in updater.parameters)
    before = copies(updater.parameters)
    updater.update(samples, None)
    assert moved(before, copies(updater.parameters)) > 0.5
    for weight, master in zip(policy.parameters(), updater.parameters, strict=True):
        assert torch.equal(weight, master.bfloat16())


def test_gradients_add_up_in_float32() -> None:
    weight = torch.nn.Parameter(torch.ones(1, dtype=torch.bfloat16))
    masters = Masters([weight])
    for gradient in (256.0, 1.0, 1.0):  # in bfloat16 256 + 1 is 256
        (weight * gradient).sum().backward()
    assert weight.grad is None
    assert masters.parameters[0].grad is not None
    assert masters.parameters[0].grad.item() == 258


def test_float32_needs_no_copies() -> None:
    policy = tiny_policy("llava")
    assert all(
        a is b for a, b in zip(Masters(policy.parameters()).parameters, policy.parameters(), strict=True)
    )
    adapted = tiny_policy("llava", dtype="bfloat16", lora=2)
    assert adapted.base.dtype == torch.bfloat16
    assert {parameter.dtype for parameter in adapted.parameters()} == {torch.float32}


def test_a_checkpoint_has_the_copies(tmp_path: Path) -> None:
    from ludens.train.checkpoint import Checkpoints

    policy = tiny_policy("llava", dtype="bfloat16", max_tokens=2)
    samples = replies(policy)
    updater = Updater(policy, RATE, LossOptions(kl=0.0), 10)
    updater.update(samples, None)
    path = Checkpoints(tmp_path).write(1, policy, None, updater.state(), {"iteration": 1})
    again = tiny_policy("llava", dtype="bfloat16")
    resumed = Updater(again, RATE, LossOptions(kl=0.0), 10)
    state, _ = Checkpoints(tmp_path).read(path, again)
    resumed.restore(state)
    for step in (updater, resumed):
        step.policy.reseed(1)
        step.update(samples, None, seed=1)
    for a, b in zip(updater.parameters, resumed.parameters, strict=True):
        assert torch.equal(a, b)


def test_format_of_weights_that_are_read(tmp_path: Path) -> None:
    build(tmp_path)
    for wanted, expected in (("auto", torch.float32), ("bfloat16", torch.bfloat16)):
        policy = TransformersPolicy.read(str(tmp_path), ModelOptions(kind="hf", device="cpu", dtype=wanted))
        assert policy.base.dtype == expected


class Asked(Exception):
    """A model was to be read with these options."""


@pytest.mark.parametrize(("lora", "expected"), [(0, "float32"), (2, "bfloat16")])
def test_supervised_training_of_all_weights_is_in_float32(
    lora: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str, options: ModelOptions, seed: int) -> TransformersPolicy:
        raise Asked(options)

    monkeypatch.setattr(TransformersPolicy, "read", staticmethod(read))
    model = {"kind": "hf", "path": "x", "dtype": "bfloat16", "lora": lora}
    recipe = Recipe.of({"model": model, "demonstrations": [{"episodes": 1}]})
    with pytest.raises(Asked) as asked:
        supervised_transformers(recipe, tmp_path / "supervised", print)
    assert asked.value.args[0].dtype == expected
