"""Importing objects by name when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(path: str) -> Any:
    """The object named "module:attribute"."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
