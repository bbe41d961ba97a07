"""Reaching code by name, when it is needed and not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(path: str) -> Any:
    """The attribute behind "module:attribute"."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
