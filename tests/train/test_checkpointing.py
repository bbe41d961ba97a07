"""Activations of the language model are recomputed; the vision tower runs once and without gradients."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from tests.support.tiny_policy import replies, tiny_policy  # noqa: E402


def counted(module: Any) -> list[bool]:
    """Whether the output of each pass from now on has a gradient."""
    passes: list[bool] = []

    def count(_: Any, __: Any, output: Any) -> None:
        first = output[0] if isinstance(output, tuple) else output
        passes.append(first.requires_grad)

    module.register_forward_hook(count)
    return passes


@pytest.mark.parametrize("lora", [0, 2])
@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_only_the_language_model_is_recomputed(family: str, lora: int) -> None:
    gradients, passes = [], []
    samples = replies(tiny_policy(family))
    for checkpointing in (False, True):
        torch.manual_seed(0)
        policy = tiny_policy(family, lora=lora, checkpointing=checkpointing, feature_cache=0)
        assert policy.base.model.language_model.is_gradient_checkpointing == checkpointing
        inner = policy.base.model
        if family == "qwen":
            vision, entrance = inner.visual.blocks[0], inner.visual.patch_embed
        else:
            vision = inner.vision_tower.encoder.layers[0]
            entrance = inner.vision_tower.embeddings
        assert not entrance._forward_hooks
        assert not inner.get_input_embeddings()._forward_hooks
        layers = [counted(vision), counted(inner.language_model.layers[0].self_attn.o_proj)]
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)
        policy.train(True)
        policy.logprobs(samples)[0].sum().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None]))
        passes.append(layers)
    assert passes[0] == [[False], [True]]
    assert passes[1] == [[False], [True, True]]
    assert gradients[0].norm() > 0.1
    assert (gradients[0] - gradients[1]).norm() < 1e-5 * gradients[0].norm()
