"""Many processes (torchrun): each plays its own seeds and keeps its samples; gradients are summed.

Gradients are reduced once per optimiser step, not during the backward pass, so ranks may compute unlike
numbers of batches. All ranks pass the same collectives in the same order: what depends on files, which one
rank may see later than another, is decided by the first one (`from_first`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from ludens.core.errors import BadOption, UsageError
from ludens.core.spending import spending

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter

T = TypeVar("T")


def start() -> None:
    """Join the process group that `torchrun` describes in the environment, if any."""
    import torch
    from torch import distributed

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
        local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        # More processes than GPUs can train with model.device = "cpu".
        if local_rank < torch.cuda.device_count():
            torch.cuda.set_device(local_rank)


def stop() -> None:
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def limit_memory(share: float, workers: int) -> None:
    """Let this process take this share of its GPU's memory; half of it where processes play beside it, which
    divide the other half."""
    import torch

    if not torch.cuda.is_available():
        raise BadOption("--memory limits the memory of a GPU, and torch finds none with CUDA here.")
    torch.cuda.set_per_process_memory_fraction(share / 2 if workers else share)


def memory_of_worker(workers: int) -> float:
    """The share of the GPU's memory for each process that plays beside this one; 1 without a limit."""
    import torch

    share: float = torch.cuda.get_per_process_memory_fraction()
    return share / workers if share < 1 else 1.0


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
    with spending("wait"):
        distributed.all_gather_object(values, value)
    return values


def from_first(make: Callable[[], T]) -> T:
    """Call a function on the first rank only; all ranks return its result, or raise its `UsageError`."""
    from torch import distributed

    if not distributed.is_initialized():
        return make()
    shared: list[Any] = [None, None]
    failure: UsageError | None = None
    if distributed.get_rank() == 0:
        try:
            shared[0] = make()
        except UsageError as error:
            failure, shared[1] = error, str(error)
    distributed.broadcast_object_list(shared)
    value, message = shared
    if message is not None:
        raise failure or UsageError(message)
    result: T = value
    return result


def sum_gradients(parameters: Sequence[Parameter]) -> None:
    """Replace the gradients by their sums over all ranks; missing ones count as zero."""
    import torch
    from torch import distributed

    if not distributed.is_initialized():
        return
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        gradients.append(parameter.grad)
    with spending("wait"):
        _together(gradients, distributed.all_reduce)


def broadcast_weights(parameters: Sequence[Parameter]) -> None:
    """Replace the weights by those of the first rank."""
    from torch import distributed

    if distributed.is_initialized():
        # In the order of the parameters: that of a set of types differs between processes.
        for dtype in dict.fromkeys(parameter.dtype for parameter in parameters):
            alike = [parameter.data for parameter in parameters if parameter.dtype == dtype]
            _together(alike, lambda flat: distributed.broadcast(flat, 0))


def check_equal(parameters: Iterable[Parameter]) -> None:
    """Raise a `UsageError` on all ranks where one has other weights; those shared out exist once."""
    import torch
    from torch.distributed.tensor import DTensor

    if world()[1] == 1:
        return
    parameters = [parameter for parameter in parameters if not isinstance(parameter, DTensor)]
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    sums = [
        int(parameter.detach().contiguous().view(whole[parameter.element_size()]).sum(dtype=torch.int64))
        for parameter in parameters
    ]
    checksums = gather(blake2b(repr(sums).encode(), digest_size=4).hexdigest())
    if len(set(checksums)) > 1:
        raise UsageError(
            f"the weights differ between the processes (checksums {', '.join(checksums)}), so nothing was "
            "stored: the same command goes on from the last checkpoint; if it happens again, train with one "
            "process."
        )


def _together(tensors: Sequence[Tensor], collective: Callable[[Tensor], object]) -> None:
    """Pass tensors of one type through a collective as one, in place."""
    import torch

    flat = torch.cat([tensor.flatten() for tensor in tensors])
    collective(flat)
    parts = flat.split([tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))


def wait() -> None:
    from torch import distributed

    if distributed.is_initialized():
        distributed.barrier()
