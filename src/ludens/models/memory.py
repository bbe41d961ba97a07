"""Whether an error means that the memory of a GPU is full."""

from __future__ import annotations

SIGNS = ("out of memory", "mha_graph.execute")
"""CUDA says so while a graph is captured; the attention of cuDNN fails without a reason."""


def out_of_memory(error: BaseException) -> bool:
    """Whether torch ran out of memory; it has several ways to say so."""
    return type(error).__name__ == "OutOfMemoryError" or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in SIGNS)
    )
