"""A static key-value cache changes neither tokens nor log-probabilities."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.models.generation import StaticCaches  # noqa: E402
from ludens.models.local import LocalModel  # noqa: E402
from tests.support.tiny_policy import REQUESTS, answers  # noqa: E402
from tests.support.tiny_vlm import tiny  # noqa: E402


@pytest.fixture(params=["llava", "qwen"])
def models(request: pytest.FixtureRequest) -> tuple[LocalModel, LocalModel]:
    """A model with a dynamic and one with a static cache, with the same weights."""
    weights = tiny(request.param)
    return (
        LocalModel.live(*weights, logprobs=True, batch=4),
        LocalModel.live(*weights, logprobs=True, batch=4, kv_cache="static"),
    )


def both(models: tuple[LocalModel, LocalModel], requests: Any, **sampling: Any) -> list[list[Any]]:
    made = []
    for model in models:
        torch.manual_seed(7)
        made.append(answers(model, requests, **sampling))
    return made


def assert_equal(dynamic: list[Any], static: list[Any]) -> None:
    for a, b in zip(dynamic, static, strict=True):
        assert (a.prompt_ids, a.completion_ids) == (b.prompt_ids, b.completion_ids)
        assert b.logprobs == pytest.approx(a.logprobs, abs=1e-5)


def test_batch_sizes() -> None:
    sizes = StaticCaches(256)
    assert [sizes.size(n) for n in (1, 2, 4, 5, 16, 17, 64, 65, 256)] == [1, 4, 4, 16, 16, 64, 64, 256, 256]
    assert [StaticCaches(10).size(n) for n in (1, 2, 3, 10)] == [2, 2, 10, 10]


def test_tokens_and_logprobs_are_those_of_the_dynamic_cache(models: tuple[LocalModel, LocalModel]) -> None:
    # Sampled tokens depend on the shape of the batch, so these fill it.
    assert_equal(*both(models, REQUESTS[:4], temperature=0.8, max_tokens=10))
    _, static = models
    assert static._static is not None
    [(length, cache)] = static._static._caches.values()
    address = cache.layers[0].keys.data_ptr()
    assert length == 256
    # Shorter prompts, and fewer of them, use what is left of the cache of the longer ones.
    assert_equal(*both(models, [*REQUESTS[:1], *REQUESTS[3:]], temperature=0, max_tokens=6))
    assert_equal(*both(models, REQUESTS[:4][::-1], temperature=0.8, max_tokens=3))
    assert list(static._static._caches) == [4]
    assert static._static._caches[4][1].layers[0].keys.data_ptr() == address


def test_longer_texts_get_a_longer_cache(
    models: tuple[LocalModel, LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.models.generation.LENGTH_STEP", 32)
    _, static = models
    assert static._static is not None
    for new_tokens, expected in ((2, 32), (30, 64)):
        assert_equal(*both(models, REQUESTS[3:4], temperature=0, max_tokens=new_tokens))
        [(length, cache)] = static._static._caches.values()
        assert length == cache.layers[0].keys.shape[2] == expected


def test_fillers_end_at_once(models: tuple[LocalModel, LocalModel]) -> None:
    dynamic, static = models
    assert dynamic._loaded is not None
    network = dynamic._loaded[0]
    greedy = answers(dynamic, REQUESTS[:3], temperature=0, max_tokens=20)
    # Every row ends with one of its first tokens, so that generation stops early.
    network.generation_config.eos_token_id = sorted({tokens.completion_ids[3] for tokens in greedy})
    steps: list[list[int]] = []
    for model in (dynamic, static):
        batches: list[int] = []
        handle = network.lm_head.register_forward_hook(
            lambda _, args, __, seen=batches: seen.append(len(args[0]))
        )
        ended = answers(model, REQUESTS[:3], temperature=0, max_tokens=20)
        handle.remove()
        assert max(len(tokens.completion_ids) for tokens in ended) <= 4
        steps.append(batches)
    assert set(steps[0]) == {3}
    assert set(steps[1]) == {4}
    assert len(steps[0]) == len(steps[1]) <= 4
