"""Models in this process: tiny ones with random weights, treated like any other."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from ludens.core.activity import current_activity
from ludens.core.errors import BadOption, MissingExtra, ModelRejected, UnknownName
from ludens.models import Message, Model, Request, Tokens, model
from ludens.models import local as local_module
from ludens.models.local import LocalModel
from ludens.run.lines import iter_records
from tests.models.conftest import picture

try:
    import torch
    import transformers  # noqa: F401
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

needs_train = pytest.mark.skipif(not INSTALLED, reason="the extra 'train' is not installed")

Weights = tuple[Any, Any]
"""Model and processor."""


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ludens\[train\]'"):
        model("hf/some/model")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("llava", marks=pytest.mark.slow),
        pytest.param("qwen", marks=pytest.mark.torchvision),
    ],
)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.tiny_vlm import build

    return build(tmp_path_factory.mktemp("tiny"), family=request.param)


@pytest.fixture
async def tiny(folder: Path) -> AsyncIterator[Model]:
    async with model(f"hf/{folder}?temperature=0&max_tokens=12&batch=4&gather=50") as made:
        yield made


@pytest.fixture
def weights(folder: Path) -> Weights:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    loaded = AutoModelForImageTextToText.from_pretrained(folder, dtype="float32")
    return loaded, AutoProcessor.from_pretrained(folder)


def ask(text: str, shade: int = 0, **more: Any) -> Request:
    return Request([Message("system", ("Play.",)), Message("user", (picture(shade), text))], **more)


def record(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """The first argument of every call of a method from now on."""
    calls, original = [], getattr(owner, name)

    def recorded(self: Any, first: Any, *rest: Any, **more: Any) -> Any:
        calls.append(first)
        return original(self, first, *rest, **more)

    monkeypatch.setattr(owner, name, recorded)
    return calls


@needs_train
async def test_concurrent_requests_share_a_batch(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = record(monkeypatch, LocalModel, "generate")
    questions = [ask("Where is the king now, and why?"[: 5 + 3 * n], n) for n in range(6)]
    together = await asyncio.gather(*map(tiny.answer, questions))
    # Random weights do not stop by themselves: every answer is cut off and extended.
    assert sum(map(len, batches)) == 12
    assert max(map(len, batches)) == 4
    assert [answer.finish for answer in together] == ["length"] * 6
    assert [answer.usage.output_tokens for answer in together] == [12 + 24] * 6
    assert [answer.usage.images for answer in together] == [2] * 6
    lengths = [answer.usage.input_tokens for answer in together]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == 6
    alone = [await tiny.answer(question) for question in questions]
    assert [answer.text for answer in alone] == [answer.text for answer in together]


@needs_train
async def test_batch_starts_when_every_episode_waits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = record(monkeypatch, LocalModel, "generate")
    async with model(f"hf/{folder}?temperature=0&max_tokens=2&extend=false&gather=60000") as tiny:

        async def episode(number: int) -> None:
            activity = current_activity()
            with activity.running():
                for move in range(2):
                    with activity.waiting():
                        await tiny.answer(ask(f"Move {move}?", number))

        async with asyncio.timeout(30):
            await asyncio.gather(*map(episode, range(3)))
    assert [len(batch) for batch in batches] == [3, 3]


@needs_train
async def test_cut_off_answers_are_not_extended_when_switched_off(folder: Path) -> None:
    async with model(f"hf/{folder}?temperature=0&max_tokens=5&extend=false&gather=0") as tiny:
        answer = await tiny.answer(ask("Well?"))
    assert (answer.finish, answer.usage.output_tokens, answer.usage.calls) == ("length", 5, 1)
    assert "extend=false" in tiny.spec


@needs_train
async def test_answers_depend_on_the_picture(tiny: Model) -> None:
    first, second = await asyncio.gather(tiny.answer(ask("Well?", 0)), tiny.answer(ask("Well?", 1)))
    assert first.text != second.text


@needs_train
async def test_seed_repeats_a_sample(folder: Path) -> None:
    async with model(f"hf/{folder}?temperature=1&max_tokens=8&seed=5&gather=0") as tiny:
        first, again = await tiny.answer(ask("Well?")), await tiny.answer(ask("Well?"))
        second = await tiny.answer(ask("Well?", sample=1))
        second_again = await tiny.answer(ask("Well?", sample=1))
    async with model(f"hf/{folder}?temperature=1&max_tokens=8&seed=6&gather=0") as tiny:
        other = await tiny.answer(ask("Well?"))
    assert first.text == again.text != other.text
    assert second.text == second_again.text != first.text


@needs_train
async def test_pictures_are_taken_as_arrays_and_processed_once(
    weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, processor = weights
    shown = picture(3)
    monkeypatch.setattr(type(shown), "png", lambda self: pytest.fail("encoded as PNG"))
    calls = record(monkeypatch, type(processor.image_processor), "__call__")
    both = Request([Message("user", (picture(5), shown, "Same?"))])
    async with LocalModel.live(network, processor, temperature=0, max_tokens=4) as cached:
        first = [await cached.answer(r) for r in (ask("Well?", 3), both, ask("Well?", 3), both)]
    processed = [len(images) for images in calls]
    assert processed == [1, 1]
    async with LocalModel.live(network, processor, temperature=0, max_tokens=4, pixel_cache=0) as uncached:
        again = [await uncached.answer(r) for r in (ask("Well?", 3), both, ask("Well?", 3), both)]
    assert [answer.text for answer in first] == [answer.text for answer in again]
    assert len(calls) == 2 + 4


@needs_train
async def test_what_is_no_model(tmp_path: Path) -> None:
    async with model(f"hf/{tmp_path}") as nothing:
        with pytest.raises(ModelRejected, match="cannot be loaded"):
            await nothing.answer(ask("Well?"))


@needs_train
@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("hf/x?batch=0", BadOption),
        ("hf/x?dtype=float31", UnknownName),
        ("hf/x?rpm=3", UnknownName),
        ("hf/x?reasoning_effort=low", BadOption),
        ("hf/x@http://gpu/v1", BadOption),
        ("hf/", BadOption),
    ],
)
def test_wrong_specs(spec: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        model(spec)


@needs_train
def test_spec_has_only_options_that_affect_answers() -> None:
    assert model("hf//models/x?batch=2&temperature=0&device=cpu").spec == "hf//models/x?temperature=0"


# Live models


def gaps(network: Any, processor: Any, request: Request, tokens: Tokens, **wrong: Any) -> float:
    """The largest difference between recorded log-probabilities and those of a forward pass."""
    temperature = wrong.get("temperature", tokens.temperature)
    conversation = local_module.conversation(request)
    inputs = processor.apply_chat_template(
        [conversation], add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )
    assert inputs["input_ids"][0].tolist() == tokens.prompt_ids
    ids = torch.tensor([tokens.prompt_ids + tokens.completion_ids])
    more = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if "mm_token_type_ids" in inputs:
        kinds = inputs["mm_token_type_ids"]
        more["mm_token_type_ids"] = torch.nn.functional.pad(kinds, (0, len(tokens.completion_ids)))
    with torch.no_grad():
        logits = network(**{**inputs, **more}).logits[0, len(tokens.prompt_ids) - 1 : -1].float()
    if wrong.get("suppress", True):
        logits[:, list(tokens.suppressed)] = -torch.inf
    values = torch.log_softmax(logits / temperature, -1)
    recomputed = values.gather(1, torch.tensor(tokens.completion_ids)[:, None])[:, 0]
    return float((recomputed - torch.tensor(tokens.logprobs)).abs().max())


REQUESTS: Sequence[Callable[[], Request]] = (
    lambda: ask("Well?", 0),
    lambda: ask("Where is the king now, and why?", 3),
    lambda: Request([Message("user", (picture(5), picture(1), "Same?"))]),
    lambda: Request([Message("user", ("No picture.",))]),
)


@needs_train
@pytest.mark.parametrize("temperature", [1.0, 0.6, 0.0])
async def test_logprobs_are_those_of_the_sampling_distribution(weights: Weights, temperature: float) -> None:
    network, processor = weights
    # What a published model may bring along must not leak into the distribution.
    network.generation_config.update(
        top_k=3, top_p=0.5, min_p=0.2, repetition_penalty=1.5, temperature=0.3, do_sample=True
    )
    torch.manual_seed(3)
    requests = [make() for make in REQUESTS]
    async with LocalModel.live(
        network, processor, temperature=temperature, max_tokens=24, gather=50, logprobs=True
    ) as live:
        answers = await asyncio.gather(*map(live.answer, requests))
    for request, answer in zip(requests, answers, strict=True):
        assert answer.tokens is not None
        assert len(answer.tokens.logprobs) == len(answer.tokens.completion_ids) == answer.usage.output_tokens
        assert gaps(network, processor, request, answer.tokens) < 1e-4
        assert gaps(network, processor, request, answer.tokens, suppress=False) > 1e-3
        if temperature == 0.6:
            assert gaps(network, processor, request, answer.tokens, temperature=1.0) > 0.05
    ranks = {token for answer in answers if answer.tokens for token in answer.tokens.completion_ids}
    assert len(ranks) > 3 * (temperature > 0)


@needs_train
async def test_top_p_limits_the_distribution(weights: Weights) -> None:
    network, processor = weights
    async with LocalModel.live(network, processor, top_p=0.001, max_tokens=8, logprobs=True) as live:
        answer = await live.answer(Request([Message("user", ("No picture.",))]))
    assert answer.tokens is not None
    assert answer.tokens.logprobs == [0.0] * 8


@needs_train
async def test_completion_ends_with_the_stop_token(weights: Weights) -> None:
    network, processor = weights
    ends = list(range(0, 200, 5))
    end = network.generation_config.eos_token_id
    network.generation_config.eos_token_id = [*ends, end]
    requests = [ask(f"{'Well? ' * n}", n) for n in range(1, 5)]
    async with LocalModel.live(network, processor, max_tokens=64, gather=50, seed=1) as live:
        answers = await asyncio.gather(
            *(live.answer(Request(r.messages, want_tokens=True)) for r in requests)
        )
    lengths = set()
    for request, answer in zip(requests, answers, strict=True):
        assert answer.tokens is not None
        *before, last = answer.tokens.completion_ids
        assert answer.finish == "stop"
        assert last in (*ends, end)
        assert not {*ends, end} & set(before)
        assert len(answer.tokens.logprobs) == answer.usage.output_tokens == len(before) + 1
        assert gaps(network, processor, request, answer.tokens) < 1e-4
        lengths.add(len(before))
    assert len(lengths) > 1, "the rows of the batch end at different places"


@needs_train
async def test_live_weights_are_used_as_they_are_and_kept(weights: Weights) -> None:
    network, processor = weights
    network.train()
    side = processor.tokenizer.padding_side
    live = LocalModel.live(network, processor, temperature=0, max_tokens=6, gather=0)
    before = await live.answer(ask("Well?"))
    await live.close()
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    after = await live.answer(ask("Well?"))
    await live.close()
    assert before.text != after.text
    assert (before.tokens, live.spec) == (None, "hf/live?temperature=0&max_tokens=6&extend=false")
    assert network.training
    assert processor.tokenizer.padding_side == side
    assert type(processor.image_processor).__module__.startswith("transformers")
    inputs = processor.tokenizer("Well?", return_tensors="pt")
    network(**inputs).logits.sum().backward()


@needs_train
def test_live_rejects_options_of_loading(weights: Weights) -> None:
    for wrong in ({"device": "cpu"}, {"dtype": "float32"}, {"cache": "x.db"}):
        with pytest.raises(BadOption, match="given weights"):
            LocalModel.live(*weights, **wrong)
    with pytest.raises(UnknownName, match="temperature"):
        LocalModel.live(*weights, temprature=1)


@needs_train
async def test_tokens_are_never_cached(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    async with model(f"hf/{folder}?temperature=0&max_tokens=4&extend=false&gather=0&cache={path}") as tiny:
        plain = await tiny.answer(ask("Well?"))
        tokens = await tiny.answer(ask("Well?", want_tokens=True))
        again = await tiny.answer(ask("Well?"))
    assert (plain.tokens, again.tokens, again.cached) == (None, None, True)
    assert tokens.tokens is not None
    assert (tokens.cached, "tokens" in tokens.to_dict()) == (False, False)


@needs_train
async def test_two_models_are_loaded_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, together = [], list[int]()

    def load(self: LocalModel) -> Any:
        loading.append(self)
        sleep(0.05)
        together.append(len(loading))
        loading.remove(self)
        raise ModelRejected("loaded")

    monkeypatch.setattr(LocalModel, "_load", load)
    request = Request([Message("user", ("hello",))])
    models = [model(f"hf/{name}") for name in ("one", "two")]
    answers = await asyncio.gather(*(each.answer(request) for each in models), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["loaded", "loaded"]
    assert together == [1, 1]
    for each in models:
        await each.close()


@needs_train
@pytest.mark.slow
def test_a_model_plays_another_one(tmp_path: Path) -> None:
    """In a new process: both threads import parts of transformers."""
    from tests.support.tiny_vlm import build

    for name in ("one", "two"):
        build(tmp_path / name)
    run = tmp_path / "run"
    specs = [f"hf/{tmp_path / name}?max_tokens=4" for name in ("one", "two")]
    command = ["eval", "vision-zero", "--tasks", "flat", "--model", specs[0], "--reference", specs[1]]
    options = ["--size", "256", "--limit", "2", "--no-blind-control", "--out", str(run), "--yes"]
    subprocess.run([sys.executable, "-m", "ludens", *command, *options], check=True)
    assert [record.episode.status for record in iter_records(run)] == ["done", "done"]
