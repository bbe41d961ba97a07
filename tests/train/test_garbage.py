"""Tensors are freed as soon as nothing needs them: garbage collection is rare while games are played, and
what it alone could free would fill the memory of a GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.concurrent import play_sync  # noqa: E402
from ludens.core.registry import make  # noqa: E402
from ludens.train.policy import Policy, TokenSample  # noqa: E402
from ludens.train.recipe import LossOptions, OptimizerOptions  # noqa: E402
from ludens.train.update import Updater  # noqa: E402
from tests.support.nano import questions  # noqa: E402
from tests.support.tiny_training import VOCABULARY, policy  # noqa: E402


@contextmanager
def cycles() -> Iterator[list[Any]]:
    """The objects that only garbage collection could free, once the block has ended."""
    garbage, was = list[Any](), gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield garbage
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        garbage += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was:
            gc.enable()


def tensors_left_by(work: Callable[[], object]) -> list[tuple[int, ...]]:
    work()  # what is made once may have cycles
    with cycles() as garbage:
        work()
    return [tuple(each.shape) for each in garbage if isinstance(each, torch.Tensor)]


def updates(learner: Policy, samples: list[TokenSample]) -> Callable[[], object]:
    updater = Updater(learner, OptimizerOptions(minibatches=2, micro=3), LossOptions(kl=0.1), 10)
    reference = learner.frozen()
    return lambda: updater.update(samples, reference)


def test_what_only_garbage_collection_frees_is_found() -> None:
    def work() -> None:
        kept: list[Any] = [torch.zeros(3)]
        kept.append(kept)

    assert tensors_left_by(work) == [(3,)]


def test_nano_leaves_no_tensors() -> None:
    learner = policy()
    prompts = [VOCABULARY.encode("tic_tac_toe x\n")] * 4
    assert tensors_left_by(lambda: learner.sample(questions(prompts, [()] * 4, range(4)))) == []
    records = learner.sample(questions(prompts, [()] * 4, range(4)))
    samples = [TokenSample(r.prompt_ids, r.completion_ids, r.logprobs, advantage=1.0) for r in records]
    assert tensors_left_by(updates(learner, samples)) == []
    assert tensors_left_by(learner.frozen) == []


def test_copies_of_nano_that_played_leave_no_tensors() -> None:
    game = make("tic_tac_toe")

    def play() -> None:
        copy = policy().frozen()
        play_sync(game, dict.fromkeys(game.seats, copy.agent()), 0)

    assert tensors_left_by(play) == []


@pytest.mark.parametrize("family", ["qwen", "llava"])
@pytest.mark.parametrize("options", [{}, {"lora": 2}, {"kv_cache": "static"}], ids=str)
def test_models_of_transformers_leave_no_tensors(family: str, options: dict[str, Any]) -> None:
    pytest.importorskip("transformers", reason="the extra 'train' is not installed")
    from tests.support.tiny_policy import replies, tiny_policy

    learner = tiny_policy(family, **options)
    assert tensors_left_by(lambda: replies(learner)) == []
    assert tensors_left_by(updates(learner, replies(learner))) == []
