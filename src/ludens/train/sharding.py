"""Weights shared out among ranks by FSDP2 of torch: each rank holds a part of every parameter, of its
gradient and of its moments in the optimiser.

In an update, the weights of one unit at a time (a layer of the language model) are gathered, and all ranks
make the same number of passes (`update.passes`). For play they are gathered once (`unsharded`): ranks then
generate without waiting for one another, however many replies each of them draws.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

M = TypeVar("M", bound="Module")


def skeleton(module: M) -> M:
    """A copy without weights, which takes no memory: parameters and buffers are on the device `meta`."""
    from torch.nn import Parameter

    memo: dict[int, Any] = {}
    for parameter in module.parameters():
        memo[id(parameter)] = Parameter(parameter.data.to("meta"), parameter.requires_grad)
    for buffer in module.buffers():
        memo[id(buffer)] = buffer.to("meta")
    return copy.deepcopy(module, memo)


def share_out(root: Module, units: Sequence[Module], device: Any, short: bool = False) -> None:
    """Share out the weights of a module; each unit is gathered separately, and so is the rest.

    Args:
        short: Compute with weights rounded to bfloat16, and add gradients up in float32.
    """
    import torch
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(torch.device(device).type, (distributed.get_world_size(),))
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if short else MixedPrecisionPolicy()
    for module in (*units, root):
        # Always, or weights gathered for a pass without gradients would outlive the next step.
        fully_shard(module, mesh=mesh, reshard_after_forward=True, mp_policy=policy)
        assert isinstance(module, FSDPModule)
        # Losses are divided by the number of samples of all ranks: gradients are summed.
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)
        # A rank whose samples have no pictures has no gradient of what sees, and others have one.
        module.set_reduce_scatter_unused_params(True)


def is_shared_out(root: Module) -> bool:
    """Whether this rank holds only parts now."""
    from torch.distributed.tensor import DTensor

    return any(isinstance(parameter, DTensor) for parameter in root.parameters())


@contextmanager
def unsharded(root: Module) -> Iterator[None]:
    """Hold all weights on this rank. Passes inside need no other rank, and must not compute gradients."""
    from torch.distributed.fsdp import FSDPModule

    if not is_shared_out(root):
        yield
        return
    units = [module for module in root.modules() if isinstance(module, FSDPModule)]
    assert isinstance(root, FSDPModule)
    root.set_reshard_after_forward(False)
    for unit in units:
        unit.unshard()
    try:
        yield
    finally:
        root.set_reshard_after_forward(True)
        for unit in units:
            unit.reshard()


def make_empty(module: Module, device: Any) -> None:
    """Give a skeleton memory on a device; parameters that several modules share stay shared."""
    places: dict[int, list[tuple[Module, str]]] = defaultdict(list)
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False, remove_duplicate=False):
            places[id(parameter)].append((owner, name))
    module.to_empty(device=device)
    for (owner, name), *rest in places.values():
        for other, other_name in rest:
            setattr(other, other_name, getattr(owner, name))


def fill(empty: Module, weights: Mapping[str, Tensor], buffers: Mapping[str, Tensor]) -> None:
    """Give a skeleton its weights on the CPU."""
    make_empty(empty, "cpu")
    names = {**dict(empty.named_parameters()), **dict(empty.named_buffers())}
    for name, value in {**weights, **buffers}.items():
        names[name].data.copy_(value)


def copy_shares(source: Module, copied: Module) -> None:
    """Give a module, shared out alike, the weights and buffers of another."""
    from torch.distributed.tensor import DTensor

    own = dict(copied.named_parameters())
    for name, parameter in source.named_parameters():
        if name in own:
            assert isinstance(parameter, DTensor)
            own[name].to_local().data.copy_(parameter.to_local().data)
    buffers = dict(copied.named_buffers())
    for name, buffer in source.named_buffers():
        buffers[name].copy_(buffer)


def frozen_copy(module: M, empty: M, share: Callable[[M], None], device: Any) -> M:
    """A copy of a shared-out module, made from its skeleton and shared out alike, that is not trained."""
    twin = copy.deepcopy(empty)
    share(twin)
    make_empty(twin, device)
    copy_shares(module, twin)
    return twin.requires_grad_(False).eval()


def whole(tensor: Tensor) -> Tensor:
    """A tensor in full, on the CPU. All ranks call it in the same order."""
    from torch.distributed.tensor import DTensor

    full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
    return full.detach().cpu().clone()


def part(tensor: Tensor, like: Tensor) -> Tensor:
    """The part of a whole tensor that this rank holds, if `like` is shared out; the tensor itself if not."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if not isinstance(like, DTensor) or tensor.shape != like.shape:
        return tensor
    placed = tensor.to(like.device)
    return distribute_tensor(placed, like.device_mesh, like.placements, src_data_rank=None)


def set_weights(root: Module, weights: Mapping[str, Tensor]) -> None:
    """Give a module that is shared out the weights of these names."""
    import torch

    for name, parameter in root.named_parameters():
        if name in weights:
            with torch.no_grad():
                parameter.copy_(part(weights[name].to(parameter.dtype), parameter))


def whole_state(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an optimiser with whole tensors: it does not depend on the number of ranks."""
    moments = {
        number: {name: whole(value) if hasattr(value, "cpu") else value for name, value in values.items()}
        for number, values in state["state"].items()
    }
    return {**state, "state": moments}


def shared_state(state: dict[str, Any], parameters: Sequence[Tensor]) -> dict[str, Any]:
    """The parts of such a state that this rank holds."""
    moments = {
        number: {name: part(value, parameters[number]) for name, value in values.items()}
        for number, values in state["state"].items()
    }
    return {**state, "state": moments}
