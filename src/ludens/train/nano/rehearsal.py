"""Rehearsal: demonstrations of other games, learnt beside play so that a model does not forget them."""

from __future__ import annotations

import numpy as np
import torch

from ludens.core.errors import BadOption
from ludens.train import ranks
from ludens.train.demonstrations import rehearsed
from ludens.train.nano.dataset import Shape, rounds
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.surprise import surprises
from ludens.train.nano.uploaded import Uploaded
from ludens.train.recipe import Recipe


class Rehearsal:
    """A batch of demonstrations for every step of the optimiser; every rank has a share of it.

    Args:
        recipe: Says what is rehearsed, and how much it counts.
        policy: What is trained.
    """

    def __init__(self, recipe: Recipe, policy: NanoPolicy) -> None:
        self.policy, self.options = policy, recipe.supervised
        self.batch, self.weight = recipe.rehearsal.batch, recipe.rehearsal.weight
        self.seed = recipe.run.seed
        shape = Shape(policy.size.side, policy.size.longest, policy.max_tokens)
        sources, workers = rehearsed(recipe), self.options.workers
        [self.dataset] = rounds(sources, policy.vocabulary, shape, workers=workers)
        if not len(self.dataset):
            raise BadOption(
                "nothing can be rehearsed: replies are longer than max_tokens, or have words that the model "
                "does not know."
            )
        self.there = Uploaded.of(self.dataset, policy.device)

    def backward(self, step: int) -> float:
        """Add the gradients of this rank's share of the batch of this step; returns the loss of the batch."""
        size = min(self.batch, len(self.dataset))
        rows = np.random.default_rng([self.seed, step]).permutation(len(self.dataset))[:size]
        changes = torch.Generator(self.policy.device).manual_seed(1000 * self.seed + step)
        own = surprises(self.policy, self.dataset, self.there, rows, self.options, changes)
        loss = own.sum() / size
        (self.weight * loss).backward()
        return float(sum(ranks.gather(float(loss.detach()))))
