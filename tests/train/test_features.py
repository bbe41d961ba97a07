"""Picture features computed once give the log-probabilities and gradients of the plain way."""

from __future__ import annotations

import logging
from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.train.policy import TokenSample  # noqa: E402
from ludens.train.transformers_policy import TransformersPolicy  # noqa: E402
from tests.support.tiny_policy import PICTURES, replies, tiny_policy  # noqa: E402
from tests.train.test_logprobs import gap  # noqa: E402

families = pytest.mark.parametrize("family", ["llava", "qwen"])


def seen(policy: TransformersPolicy) -> list[int]:
    """The number of pictures in every pass of the vision tower from now on."""
    passes: list[int] = []
    vision = getattr(policy.base.model, "visual", None) or policy.base.model.vision_tower

    def count(_: Any, arguments: Any, named: Any, __: Any) -> None:
        grid = named.get("grid_thw")
        passes.append(len(arguments[0]) if grid is None else len(grid))

    vision.register_forward_hook(count, with_kwargs=True)
    return passes


def values(policy: TransformersPolicy, samples: list[TokenSample]) -> Any:
    with torch.no_grad():
        return policy.logprobs(samples)[0]


@families
def test_features_once_equal_the_plain_way(family: str) -> None:
    plain, once = tiny_policy(family, feature_cache=0), tiny_policy(family)
    samples = replies(plain)
    expected, passes = values(plain, samples), seen(once)
    assert gap(plain, samples) < 1e-4
    for chunk in (samples, samples[::-1], samples[1:3]):
        assert (values(once, chunk) - values(plain, chunk)).abs().max() < 1e-4
    assert passes == [PICTURES]
    for wrong in (dict(zip("abc", "bca", strict=True)), {"a": "b", "b": "b", "c": "c"}):
        names = dict(zip("abc", once._features.cache.values, strict=True))
        mixed = tiny_policy(family)
        values(mixed, samples)
        for name, other in wrong.items():
            mixed._features.cache.values[names[name]] = once._features.cache.values[names[other]]
        assert (values(mixed, samples) - expected).abs().max() > 1e-4


@families
def test_play_and_update_share_the_features(family: str) -> None:
    policy = tiny_policy(family, lora=2)
    passes = seen(policy)
    samples = replies(policy)
    assert passes == [PICTURES]
    assert gap(policy, samples, size=2) < 1e-4
    assert gap(policy.frozen(), samples, size=2) < 1e-4
    assert passes == [PICTURES]


def test_every_iteration_starts_without_features() -> None:
    policy = tiny_policy("llava")
    samples = replies(policy)
    passes = seen(policy)
    values(policy, samples)
    policy.reseed(0, 1)
    values(policy, samples)
    assert passes == [PICTURES]


def test_positions_of_pictures_are_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tiny_policy("qwen")
    samples = replies(policy)
    assert gap(policy, samples) < 1e-4
    monkeypatch.setattr(policy, "_takes_kinds", False)
    assert gap(policy, samples) > 1e-4


@families
def test_gradients_are_those_of_the_plain_way(family: str) -> None:
    gradients, samples = [], replies(tiny_policy(family))
    for megabytes in (0, 64):
        policy = tiny_policy(family, feature_cache=megabytes)
        policy.logprobs(samples)[0].sum().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None]))
    assert gradients[0].norm() > 0.1
    assert (gradients[0] - gradients[1]).norm() < 1e-5 * gradients[0].norm()


@families
def test_a_vision_tower_in_training_is_asked_every_time(family: str) -> None:
    policy = tiny_policy(family, freeze_vision=False)
    samples = replies(policy)
    for asked in (policy, policy.frozen()):
        assert isinstance(asked, TransformersPolicy)
        passes = seen(asked)
        values(asked, samples)
        values(asked, samples)
        assert len(passes) == 2
    assert not policy._features.cache.values
    with torch.no_grad():
        next(p for n, p in policy.model.named_parameters() if "vis" in n and p.ndim > 1).mul_(3)
    assert gap(policy, samples) > 1e-4


@families
def test_a_small_cache_drops_the_oldest(family: str) -> None:
    policy = tiny_policy(family)
    samples = replies(policy)
    expected = values(policy, samples)
    one = next(iter(policy._features.cache.values.values()))
    policy._features.cache.limit = one.element_size() * one.nelement()
    passes = seen(policy)
    for _ in range(3):
        assert torch.equal(values(policy, samples), expected)
        assert len(policy._features.cache.values) == 1
    assert passes == [PICTURES - 1] * 2


@families
def test_other_layouts_fall_back_to_the_plain_way(
    family: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain, policy = tiny_policy(family, feature_cache=0), tiny_policy(family)
    samples = replies(plain)
    original = type(policy.base.model).get_image_features

    @wraps(original)
    def with_layers(self: Any, *arguments: Any, **named: Any) -> Any:
        output = original(self, *arguments, **named)
        output["deepstack_features"] = [output.pooler_output]
        return output

    monkeypatch.setattr(type(policy.base.model), "get_image_features", with_layers)
    with caplog.at_level(logging.WARNING, "ludens.models"):
        for _ in range(2):
            assert torch.equal(values(policy, samples), values(plain, samples))
    assert [record.message.partition(":")[2] for record in caplog.records] == [
        " picture features are computed in every pass: unknown layout"
    ]
    assert not policy._features.cache.values


def test_models_without_the_method_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    policy = tiny_policy("llava")
    with (
        caplog.at_level(logging.WARNING, "ludens.models"),
        policy._features.reuse(SimpleNamespace(model=SimpleNamespace()), ["a"]),
    ):
        pass
    assert "unknown layout" in caplog.text
