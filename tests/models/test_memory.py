"""A full GPU is recognised by what torch says of it."""

from __future__ import annotations

import pytest

from ludens.models.generation import out_of_memory


class OutOfMemoryError(RuntimeError):
    pass


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OutOfMemoryError("Tried to allocate 20.00 MiB."), True),
        (RuntimeError("CUDA error: out of memory\nFor debugging consider ..."), True),
        (RuntimeError("Expected mha_graph.execute(handle, variant_pack, ...).is_good() to be true"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_a_full_gpu(error: Exception, full: bool) -> None:
    assert out_of_memory(error) is full
