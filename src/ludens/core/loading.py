"""Import by name, and where the package's own catalogues of names are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

CATALOGUES: dict[str, tuple[str, ...]] = {}
"""Entry-point group to the catalogues ("module:attribute") that ship with Ludens; filled by `ludens` itself,
so that no layer names a layer above it."""


def load(path: str) -> Any:
    """The object named "module:attribute"."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
