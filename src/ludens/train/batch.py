"""Samples as padded tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ludens.train.sample import Sample

if TYPE_CHECKING:
    from torch import Tensor


def left_padded(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Rows of unlike length, aligned at their ends."""
    import torch

    width = max(map(len, rows))
    return torch.tensor([[value] * (width - len(row)) + list(row) for row in rows])


def right_padded(rows: Sequence[Sequence[float]], value: float, kind: type = float) -> Tensor:
    """Rows of unlike length, aligned at their beginnings."""
    import torch

    width = max(map(len, rows))
    dtype = torch.long if kind is int else torch.float32
    return torch.tensor([list(row) + [value] * (width - len(row)) for row in rows], dtype=dtype)


def chunks(samples: Sequence[Sample], size: int) -> list[list[Sample]]:
    """Batches of samples of similar length: less padding."""
    order = sorted(samples, key=lambda s: len(s.prompt_ids) + len(s.completion_ids))
    return [order[start : start + size] for start in range(0, len(order), size)]


def each(samples: Iterable[Sample], value: Callable[[Sample], float]) -> Tensor:
    """One number per sample."""
    import torch

    return torch.tensor([value(sample) for sample in samples], dtype=torch.float32)
