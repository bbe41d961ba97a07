"""Supervised training of a small model on demonstrations, with our own loop; see `sft` for transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random

from ludens.rebuild import Sample as Rebuilt
from ludens.train import ranks
from ludens.train.loss import LossOptions
from ludens.train.policy import Policy
from ludens.train.recipe import DemonstrationOptions
from ludens.train.sample import Sample
from ludens.train.small.policy import short_prompt
from ludens.train.small.tokens import Vocabulary
from ludens.train.update import OptimizerOptions, Updater


def vocabulary_of(rebuilt: Iterable[Rebuilt], marks: Iterable[str] = ()) -> Vocabulary:
    """Every piece of prompts and replies."""
    texts: set[str] = set()
    for sample in rebuilt:
        texts.update((short_prompt(sample.game, sample.ask), sample.completion))
    return Vocabulary.of(texts, marks)


def imitate(
    policy: Policy,
    samples: Sequence[Sample],
    options: DemonstrationOptions,
    optimizer: OptimizerOptions,
    seed: int = 0,
    report: Callable[[int, int, float], None] | None = None,
) -> list[float]:
    """Raise the likelihood of samples; returns the loss of every step."""
    rank, size = ranks.world()
    per_epoch = len(samples) // options.batch or 1
    steps = per_epoch * options.epochs
    schedule = replace(optimizer, lr=options.lr, epochs=1, minibatches=1)
    updater = Updater(policy, schedule, LossOptions(norm="token", kl=0.0), steps)
    losses = []
    for epoch in range(options.epochs):
        order = list(samples)
        Random(f"{seed} {epoch}").shuffle(order)
        for number in range(per_epoch):
            batch = order[number * options.batch : (number + 1) * options.batch]
            measured = updater.imitate(batch[rank::size], seed=number)
            losses.append(measured["loss"])
            if report is not None:
                report(len(losses), steps, measured["loss"])
    return losses
