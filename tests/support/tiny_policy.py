"""Tiny transformers models as policies, and what they say to a few fixed questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludens.draw.picture import Picture
from ludens.models import Message, Request, Sampling
from ludens.models.local import LocalModel, _Item
from ludens.train.policy import TokenSample
from ludens.train.recipe import ModelOptions
from ludens.train.transformers_policy import TransformersPolicy
from tests.support.tiny_vlm import tiny


def picture(shade: int) -> Picture:
    """A picture of random squares: 16 tokens of the Qwen family."""
    squares = np.random.default_rng(shade).integers(0, 256, (4, 4, 3), np.uint8)
    return Picture(squares.repeat(28, 0).repeat(28, 1))


REQUESTS = (
    Request([Message("user", (picture(1), "Well?"))]),
    Request([Message("system", ("Play.",)), Message("user", (picture(2), "Where is the king, and why?"))]),
    Request([Message("user", (picture(3), picture(1), "Same?"))]),
    Request([Message("user", ("No picture.",))]),
    Request([Message("user", (picture(2), "Then?"))]),
)
PICTURES = 3
"""Distinct pictures in them."""


def tiny_policy(family: str, dtype: str = "float32", **options: Any) -> TransformersPolicy:
    chosen = {"temperature": 0.7, "max_tokens": 8, "batch": 8, **options}
    return TransformersPolicy(*tiny(family, dtype=dtype), ModelOptions(kind="hf", device="cpu", **chosen))


def answers(model: LocalModel, requests: Sequence[Request], **sampling: Any) -> list[Any]:
    """The tokens of the answers to one batch of requests."""
    items = [_Item(request, Sampling(**sampling), True) for request in requests]
    return [answer.tokens for answer in model.generate(items)]


def replies(policy: TransformersPolicy, requests: Sequence[Request] = REQUESTS) -> list[TokenSample]:
    """Samples of the policy, of unlike lengths, with advantages."""
    options = policy.options
    made = answers(policy.sampler, requests, temperature=options.temperature, max_tokens=options.max_tokens)
    samples = []
    for number, tokens in enumerate(made):
        length = max(1, len(tokens.completion_ids) - number % 3)
        samples.append(
            TokenSample(
                prompt_ids=tokens.prompt_ids,
                completion_ids=tokens.completion_ids[:length],
                logprobs=tokens.logprobs[:length],
                pictures=tokens.pictures,
                temperature=tokens.temperature,
                advantage=1.0 - number % 2 * 2,
            )
        )
    return samples
