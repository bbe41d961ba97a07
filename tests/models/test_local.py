"""A real model in this process: tiny, random, and treated like any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ludens.core.errors import BadOption, MissingExtra, ModelRejected, UnknownName
from ludens.models import Message, Model, Request, model
from ludens.models import local as local_module
from tests.models.conftest import picture

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError:
    THERE = False
else:
    THERE = True

needs_train = pytest.mark.skipif(not THERE, reason="the extra 'train' is not installed")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ludens\[train\]'"):
        model("hf/some/model")


@pytest.fixture(scope="module", params=["llava", "qwen"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.tiny_vlm import build

    if request.param == "qwen":
        pytest.importorskip("torchvision", exc_type=ImportError)
    return build(tmp_path_factory.mktemp("tiny"), family=request.param)


@pytest.fixture
async def tiny(folder: Path) -> AsyncIterator[Model]:
    async with model(f"hf/{folder}?temperature=0&max_tokens=12&batch=4&gather=50") as made:
        yield made


def ask(text: str, shade: int = 0) -> Request:
    return Request([Message("system", ("Play.",)), Message("user", (picture(shade), text))])


@needs_train
async def test_asks_that_arrive_together_share_a_batch(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    generate = type(tiny).generate  # type: ignore[attr-defined]

    def counted(self: Model, asks: list[object]) -> object:
        sizes.append(len(asks))
        return generate(self, asks)

    monkeypatch.setattr(type(tiny), "generate", counted)
    questions = [ask("Where is the king now, and why?"[: 5 + 3 * n], n) for n in range(6)]
    together = await asyncio.gather(*map(tiny.answer, questions))
    # Random weights do not stop by themselves: every answer is cut off, and asked for once more.
    assert sum(sizes) == 12
    assert max(sizes) == 4
    assert [answer.finish for answer in together] == ["length"] * 6
    assert [answer.usage.output_tokens for answer in together] == [12 + 24] * 6
    assert [answer.usage.images for answer in together] == [2] * 6
    lengths = [answer.usage.input_tokens for answer in together]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == 6
    alone = [await tiny.answer(question) for question in questions]
    assert [answer.text for answer in alone] == [answer.text for answer in together]


@needs_train
async def test_pictures_are_really_seen(tiny: Model) -> None:
    first, second = await asyncio.gather(tiny.answer(ask("Well?", 0)), tiny.answer(ask("Well?", 1)))
    assert first.text != second.text


@needs_train
async def test_a_seed_repeats_a_draw(folder: Path) -> None:
    async with model(f"hf/{folder}?temperature=1&max_tokens=8&seed=5&gather=0") as tiny:
        first, again = await tiny.answer(ask("Well?")), await tiny.answer(ask("Well?"))
    async with model(f"hf/{folder}?temperature=1&max_tokens=8&seed=6&gather=0") as tiny:
        other = await tiny.answer(ask("Well?"))
    assert first.text == again.text != other.text


@needs_train
async def test_what_is_no_model_is_told(tmp_path: Path) -> None:
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
def test_what_is_wrong_is_said(spec: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        model(spec)


@needs_train
def test_the_spec_names_what_shapes_answers() -> None:
    assert model("hf//models/x?batch=2&temperature=0&device=cpu").spec == "hf//models/x?temperature=0"
