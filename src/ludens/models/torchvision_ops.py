"""torchvision beside a torch without CUDA: its wheels are built for torch with CUDA.

Their compiled operators (boxes, JPEG) cannot be loaded there, and the import fails because it describes two
that do not exist. Image processors of transformers need none of them: once those two are declared, they
work. Where an operator is called, torch says that it has no implementation.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from threading import Lock
from typing import Any

_DECLARED = ("nms", "qnms")
_LOCK = Lock()
_libraries: list[Any] = []
"""Kept alive here, because a declaration ends with the object that made it."""


def import_torchvision() -> bool:
    """Import torchvision where it is installed, before transformers does; returns whether it can be used."""
    with _LOCK:
        if find_spec("torchvision") is None:
            return False
        try:
            import torchvision
        except RuntimeError as error:
            if "torchvision::" not in str(error):
                raise
            declare_operators()
            import torchvision  # noqa: F401
        return True


def declare_operators() -> None:
    """Declare what the import describes, and forget what it has imported so far."""
    from torch.library import Library

    library = Library("torchvision", "FRAGMENT")
    for name in _DECLARED:
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _libraries.append(library)
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
