"""Muon: steps of matrices with all singular values near 1."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.nano.supervised import Muon, orthogonal  # noqa: E402


@pytest.mark.parametrize("shape", [(8, 8), (4, 12), (12, 4)])
def test_singular_values_become_about_one_and_vectors_stay(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(3, *shape) * torch.tensor([1e-3, 1.0, 1e3])[:, None, None]
    made = orthogonal(matrix)
    for one, other in zip(matrix, made, strict=True):
        left, values, right = torch.linalg.svd(one, full_matrices=False)
        turned = left.T @ other @ right.T
        assert torch.allclose(turned, torch.diag(turned.diagonal()), atol=1e-3)
        large = values > 0.05 * values.max()
        assert turned.diagonal()[large].min() > 0.6
        assert turned.diagonal()[large].max() < 1.3


def test_matrices_move_together_as_they_would_alone() -> None:
    torch.manual_seed(0)
    shapes = [(6, 4), (4, 6), (6, 4), (4, 4)]
    first = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    second = [torch.nn.Parameter(one.detach().clone()) for one in first]
    together, alone = (
        Muon(first, 0.1, weight_decay=0.1),
        [Muon([one], 0.1, weight_decay=0.1) for one in second],
    )
    for _ in range(3):
        for one, other in zip(first, second, strict=True):
            one.grad = torch.randn(one.shape)
            other.grad = one.grad.clone()
        together.step()
        for optimizer in alone:
            optimizer.step()
    for one, other in zip(first, second, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_a_step_is_as_long_as_its_rate_and_shape_say() -> None:
    torch.manual_seed(0)
    for rows, columns in ((16, 16), (64, 16), (16, 64)):
        matrix = torch.nn.Parameter(torch.zeros(rows, columns))
        matrix.grad = torch.randn(rows, columns) * 1e-4
        Muon([matrix], 0.02).step()
        longest = torch.linalg.matrix_norm(matrix.detach(), 2) / (0.02 * max(1, rows / columns) ** 0.5)
        assert 0.6 < longest < 1.3


def test_it_finds_the_solution_of_a_linear_problem() -> None:
    torch.manual_seed(0)
    inputs, wanted = torch.randn(64, 8), torch.randn(8, 5)
    matrix = torch.nn.Parameter(torch.zeros(8, 5))
    optimizer = Muon([matrix], 0.1)
    for step in range(200):
        optimizer.param_groups[0]["lr"] = 0.1 * (1 - step / 200)
        loss = ((inputs @ matrix - inputs @ wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 1e-3
