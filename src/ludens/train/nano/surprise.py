"""How unlikely demonstrated replies are, with pictures that are changed a little at random."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ludens.train import ranks
from ludens.train.nano.dataset import Array, Dataset
from ludens.train.nano.pictures import GREY
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.uploaded import Uploaded
from ludens.train.recipe import SupervisedOptions

ALIGNED = 16
"""Lengths that kernels handle fastest; if all are multiples of it, the decoder is compiled only once."""


def surprises(
    policy: NanoPolicy,
    dataset: Dataset,
    there: Uploaded,
    rows: Array,
    options: SupervisedOptions,
    generator: torch.Generator,
) -> Tensor:
    """Of each reply in this rank's share, the mean over its tokens of the negative log-probability.

    Args:
        policy: Whose.
        dataset: What is to be said.
        there: The same, on the device.
        rows: Numbers of the samples of all ranks, in any order.
        options: How much pictures are changed.
        generator: Draws these changes, for the rows of all ranks: they do not depend on the number of ranks.
    """
    everyone = np.concatenate(dataset.parts(rows))
    rank, size = ranks.world()
    own = slice(rank, None, size)
    parts = dataset.parts(everyone[own])
    if not parts:
        return torch.zeros(0, device=policy.device, requires_grad=True)
    numbers = there.number(np.concatenate(parts))
    shown = there.pictures[there.picture[numbers]]
    if options.jitter:
        shown = jittered(shown, options.jitter, generator, len(everyone), own)
    if options.blank:
        shown = blanked(shown, options.blank, generator, len(everyone), own)
    sizes = list(map(len, parts))
    each = zip(parts, numbers.split(sizes), policy.see(shown).split(sizes), strict=True)
    return torch.cat([_surprise(policy, dataset, there, *part) for part in each])


def _surprise(
    policy: NanoPolicy, dataset: Dataset, there: Uploaded, rows: Array, chosen: Tensor, seen: Tensor
) -> Tensor:
    """The same for rows of similar length.

    Args:
        policy: Whose.
        dataset: Knows how long they are, without a look at the device.
        there: What is to be said.
        rows: Numbers of samples.
        chosen: The same, on the device.
        seen: Features of their pictures.
    """
    width, height = int(dataset.prompt_lengths[rows].max()), int(dataset.reply_lengths[rows].max())
    more = padding_of(width, height)
    ids = torch.cat([there.prompts[chosen, -width:], there.replies[chosen, :height]], 1).long()
    lengths = there.reply_lengths[chosen]
    mask = (torch.arange(height, device=seen.device)[None] < lengths[:, None]).float()
    values = policy.values(F.pad(ids, (more, 0)), more + width - there.prompt_lengths[chosen], mask, seen)
    return -values.sum(1) / lengths


def padding_of(prompt: int, reply: int) -> int:
    """How many tokens of padding make what the decoder reads, all but the last token, a multiple of 16."""
    return (1 - prompt - reply) % ALIGNED


ALL = slice(None)


def blanked(
    pictures: Tensor, share: float, generator: torch.Generator, count: int = 0, own: slice = ALL
) -> Tensor:
    """Pictures, some of them blank: a model then says without looking what is most frequent.

    Args:
        pictures: Bytes.
        share: Of blank pictures.
        generator: Draws which.
        count: Pictures of all ranks, where there are others.
        own: Which of them these are.
    """
    drawn = torch.rand(count or len(pictures), generator=generator, device=pictures.device)
    return pictures.masked_fill((drawn[own] < share)[:, None, None, None], GREY)


def jittered(
    pictures: Tensor, strength: float, generator: torch.Generator, count: int = 0, own: slice = ALL
) -> Tensor:
    """Pictures, bytes, with contrast and brightness of each colour channel changed at random."""
    shape = (2, count or len(pictures), 3, 1, 1)
    drawn = torch.rand(shape, generator=generator, device=pictures.device)[:, own] * 2 - 1
    contrast, brightness = 1 + strength * drawn[0], 64 * strength * drawn[1]
    changed = (pictures.float() - 127.5) * contrast + 127.5 + brightness
    return changed.round().clamp(0, 255).to(torch.uint8)
