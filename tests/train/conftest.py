"""Training on CPU: one thread, so that parallel tests do not wait for one another."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from ludens.models.torchvision_ops import import_torchvision

if find_spec("torch") is not None:
    import_torchvision()  # before tests import peft, trl or transformers, which fail beside a broken one


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
