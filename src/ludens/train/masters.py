"""float32 copies of weights that are kept in a shorter format: what the optimiser changes.

bfloat16 has 8 bits of precision: a step of 1e-6 would round to no change at all for nearly every weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter


class Masters:
    """The parameters of an optimiser: float32 ones themselves, and float32 copies of all others.

    Gradients are added up in float32 too: each is moved to its copy as soon as it was computed.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        import torch
        from torch.nn import Parameter

        self._pairs: list[tuple[Parameter, Parameter]] = []
        self.parameters: list[Parameter] = []
        for parameter in parameters:
            if parameter.dtype == torch.float32:
                self.parameters.append(parameter)
                continue
            master = Parameter(parameter.detach().float())
            self.parameters.append(master)
            self._pairs.append((parameter, master))
            self._collect(parameter, master)

    def publish(self) -> None:
        """Round the copies to the weights, after a step of the optimiser."""
        for parameter, master in self._pairs:
            parameter.data.copy_(master.data)

    def state(self) -> list[Tensor]:
        """The copies, for a checkpoint."""
        return [master.data for _, master in self._pairs]

    def restore(self, state: Sequence[Tensor]) -> None:
        """Take the copies of a checkpoint."""
        for (_, master), stored in zip(self._pairs, state, strict=True):
            master.data.copy_(stored)

    @staticmethod
    def _collect(parameter: Parameter, master: Parameter) -> None:
        def move(computed: Tensor) -> None:
            if computed.grad is None:
                return
            if master.grad is None:
                master.grad = computed.grad.float()
            else:
                master.grad.add_(computed.grad)
            computed.grad = None

        parameter.register_post_accumulate_grad_hook(move)
