"""Random changes of pictures in training: geometry, colours, and what compression and cameras do to them.

All of it happens on the device, for a whole batch at once: the same drawn picture is never seen twice alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from ludens.train.nano.inputs import GREY
from ludens.train.recipe import SupervisedOptions

UNCHANGED = 0.35
"""The share of pictures that keep their geometry: they are what a model sees most."""
LOST = 4 / 3
"""How far pictures are moved beyond the edge, in half sides, where they are moved by up to 1."""
STEPS = 8
"""By how many pixels a steady picture is moved at most: half a patch. Two digits that always share one may
never be told apart."""
BLOCK = 8
"""Pixels per side of the blocks of JPEG."""


@dataclass(frozen=True)
class PictureDraws:
    """Random numbers for the pictures of one rank, drawn for those of all ranks: they do not depend on the
    number of ranks. There are `count` pictures in all, and those of this rank are `rows` of them."""

    generator: torch.Generator
    count: int
    rows: slice = field(default_factory=lambda: slice(None))

    def uniform(self, *shape: int) -> Tensor:
        numbers = torch.rand((self.count, *shape), generator=self.generator, device=self.generator.device)
        return numbers[self.rows]

    def between(self, low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * self.uniform(*shape)


def changed(pictures: Tensor, options: SupervisedOptions, draws: PictureDraws, steady: Tensor) -> Tensor:
    """Pictures, bytes, (rows, 3, side, side), changed as the options say.

    Args:
        steady: Of each picture, whether it is moved by whole pixels only.
    """
    if options.warp:
        pictures = warped(pictures, options.warp, draws, steady)
    if options.wear:
        pictures = worn(pictures, options.wear, draws)
    if options.jitter:
        pictures = jittered(pictures, options.jitter, draws)
    if options.blank:
        pictures = blanked(pictures, options.blank, draws)
    return pictures


def blanked(pictures: Tensor, share: float, draws: PictureDraws) -> Tensor:
    """Pictures, some of them blank: for these, a model learns the most frequent replies."""
    return pictures.masked_fill((draws.uniform() < share)[:, None, None, None], GREY)


def jittered(pictures: Tensor, strength: float, draws: PictureDraws) -> Tensor:
    """Pictures with contrast and brightness of each colour channel changed at random."""
    changes = draws.between(-1, 1, 2, 3, 1, 1)
    contrast, brightness = 1 + strength * changes[:, 0], 64 * strength * changes[:, 1]
    return _bytes((pictures.float() - 127.5) * contrast + 127.5 + brightness)


def warped(pictures: Tensor, most: float, draws: PictureDraws, steady: Tensor) -> Tensor:
    """Pictures that are moved, stretched, shrunk into a frame, or cropped.

    Shrunk by up to twice `most`; width and height differ by as much; moved until up to two thirds of `most`
    of their side are lost: more would hide whole lines of a board. Those that are `steady` are moved by a few
    whole pixels, which changes no print. What lies outside is white, black, the colour of the corner, or any
    other.
    """
    size = draws.between(1 - 2 * most, 1 + most / 2)
    stretch = draws.between(-most / 2, most / 2)
    scale = torch.stack([size * (1 + stretch), size * (1 - stretch)], 1)
    way = draws.between(-1, 1, 2)
    shift = way * ((1 - scale).clamp(min=0) + LOST * most)
    steps = torch.round(way * STEPS) * 2 / pictures.shape[-1]
    keeps = draws.uniform() < UNCHANGED
    scale = scale.where(~steady[:, None], torch.ones_like(scale))
    shift = shift.where(~steady[:, None], steps)
    grounds = _grounds(pictures, draws)[..., None, None]
    theta = torch.zeros(len(pictures), 2, 3, device=pictures.device)
    theta[:, 0, 0], theta[:, 1, 1] = 1 / scale[:, 0], 1 / scale[:, 1]
    theta[:, :, 2] = -shift / scale
    grid = F.affine_grid(theta, list(pictures.shape), align_corners=False)
    moved = F.grid_sample(pictures.float() - grounds, grid, align_corners=False) + grounds
    return _bytes(moved).where(~keeps[:, None, None, None], pictures)


def _grounds(pictures: Tensor, draws: PictureDraws) -> Tensor:
    """The colour around each picture, (rows, 3)."""
    choice, any_colour = draws.uniform(1), draws.between(0, 255, 3)
    corner = pictures[:, :, 0, 0].float()
    plain = 255.0 * (choice < 0.4).float().expand(-1, 3)
    return plain.where(choice < 0.55, corner.where(choice < 0.85, any_colour))


def worn(pictures: Tensor, share: float, draws: PictureDraws) -> Tensor:
    """Pictures, this share of them each compressed, blurred or noisy.

    How many is not drawn: to ask the device for a number would wait for everything before.
    """
    order, strength = draws.uniform().argsort(), draws.uniform(1, 1, 1)
    grain = torch.rand(pictures.shape[1:], generator=draws.generator, device=pictures.device) - 0.5
    each = round(share * len(pictures))
    for number, wear in enumerate((compressed, blurred, noisy)):
        rows = order[number * each : (number + 1) * each]
        if each:
            after = wear(pictures[rows].float(), strength[rows], grain)
            pictures = pictures.index_copy(0, rows, _bytes(after))
    return pictures


def compressed(pictures: Tensor, strength: Tensor, _: Tensor) -> Tensor:
    """Pictures as JPEG leaves them: fine waves of every block are rounded coarsely."""
    rows, colours, height, width = pictures.shape
    waves, steps = _waves(pictures.device)
    blocks = pictures.reshape(rows, colours, height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    blocks = blocks.transpose(3, 4) - 127.5
    step = (steps * (0.15 + 1.2 * strength))[:, :, None, None]
    coarse = torch.round(waves @ blocks @ waves.T / step) * step
    restored = (waves.T @ coarse @ waves + 127.5).transpose(3, 4)
    return restored.reshape(pictures.shape)


@lru_cache(maxsize=4)
def _waves(device: torch.device) -> tuple[Tensor, Tensor]:
    """The cosine transform of a block, and how coarsely each of its waves is rounded."""
    at = torch.arange(BLOCK, dtype=torch.float32)
    waves = torch.cos(math.pi / BLOCK * (at[None] + 0.5) * at[:, None]) * math.sqrt(2 / BLOCK)
    waves[0] /= math.sqrt(2)
    return waves.to(device), (10 + 10 * (at[None] + at[:, None])).to(device)


def blurred(pictures: Tensor, strength: Tensor, _: Tensor) -> Tensor:
    """Pictures out of focus: mixed with means over three by three pixels, twice."""
    mean = F.avg_pool2d(F.pad(pictures, (2, 2, 2, 2), mode="replicate"), 3, 1)
    mean = F.avg_pool2d(mean, 3, 1)
    return pictures + (0.2 + 0.7 * strength) * (mean - pictures)


def noisy(pictures: Tensor, strength: Tensor, grain: Tensor) -> Tensor:
    return pictures + 60 * strength * grain


def _bytes(pictures: Tensor) -> Tensor:
    return pictures.round().clamp(0, 255).to(torch.uint8)
