"""Many processes (torchrun): each plays its own seeds and keeps its samples; gradients are summed.

Gradients are reduced once per optimiser step, not during the backward pass, so ranks may compute unlike
numbers of batches.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.nn import Parameter


def start() -> None:
    """Join the process group that `torchrun` describes in the environment, if any."""
    import torch
    from torch import distributed

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        cuda = torch.cuda.is_available()
        distributed.init_process_group("nccl" if cuda else "gloo")
        if cuda:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))


def stop() -> None:
    """Leave the process group."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def world() -> tuple[int, int]:
    """Rank of this process and number of processes."""
    from torch import distributed

    if not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def gather(value: Any) -> list[Any]:
    """The value of every rank, on all of them."""
    from torch import distributed

    if not distributed.is_initialized():
        return [value]
    values: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values


def sum_gradients(parameters: Sequence[Parameter]) -> None:
    """Replace the gradients by their sums over all ranks; missing ones count as zero."""
    import torch
    from torch import distributed

    if not distributed.is_initialized():
        return
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    flat = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])
    distributed.all_reduce(flat)
    start = 0
    for parameter in parameters:
        assert parameter.grad is not None
        size = parameter.numel()
        parameter.grad.copy_(flat[start : start + size].view_as(parameter))
        start += size


def wait() -> None:
    """Until all ranks are here."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.barrier()
