"""Muon: steps of matrices along their momentum with all singular values set to about 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

COEFFICIENTS = (3.4445, -4.775, 2.0315)
STEPS = 5


class Muon(torch.optim.Optimizer):
    """For matrices inside a network; embeddings, heads and convolutions are better off with AdamW.

    Args:
        parameters: Matrices.
        lr: Learning rate: how far every direction moves, whatever the size of its gradient.
        momentum: Weight of the past.
        weight_decay: Share of the weights that is taken away, times the learning rate.
    """

    def __init__(
        self, parameters: Iterable[Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            matrices = [matrix for matrix in group["params"] if matrix.grad is not None]
            for shape in sorted({matrix.shape for matrix in matrices}):
                self._move([matrix for matrix in matrices if matrix.shape == shape], group)

    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Matrices of one shape move together: few large kernels instead of many small ones."""
        lr, keep = group["lr"], group["momentum"]
        gradients = torch.stack([matrix.grad for matrix in matrices if matrix.grad is not None])
        for matrix in matrices:
            if not self.state[matrix]:
                self.state[matrix]["momentum"] = torch.zeros_like(matrix)
        past = torch.stack([self.state[matrix]["momentum"] for matrix in matrices])
        past.lerp_(gradients, 1 - keep)
        directions = orthogonal(gradients.lerp(past, keep))
        rows, columns = matrices[0].shape
        scale = lr * max(1.0, rows / columns) ** 0.5
        torch._foreach_copy_([self.state[matrix]["momentum"] for matrix in matrices], list(past))
        torch._foreach_mul_(matrices, 1 - lr * group["weight_decay"])
        torch._foreach_add_(matrices, list(directions), alpha=-scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (number, rows, columns) with the same singular vectors, and singular values of about 1.

    By the iteration of Newton and Schulz, with coefficients that let small singular values grow fast and end
    between 0.7 and 1.2.
    """
    a, b, c = COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(STEPS):
        squares = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(squares, squares, squares, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x
