"""Import by name, and where the package's own catalogues of names are."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from ludens.core.errors import BadFile

CATALOGUES: dict[str, tuple[str, ...]] = {}
"""Entry-point group to the catalogues ("module:attribute") that ship with Ludens; filled by `ludens` itself,
so that no layer names a layer above it."""


def load(path: str) -> Any:
    """The object named "module:attribute"."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def load_typed(kind: str, path: str) -> Any:
    """The object of a path that the user typed, also from modules in the current folder.

    Never for a path read from a file: a file must not choose what is imported.
    """
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)
    try:
        return load(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadFile(f"the {kind} {path!r} cannot be loaded: {error}.") from None
