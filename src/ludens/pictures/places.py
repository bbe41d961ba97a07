"""Where picture sets are looked for: `LUDENS_DATA`, the user's cache folder, and the package itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PARTS = "parts"
"""Folder inside a set that is not finished."""
SHIPPED = Path(__file__).parent / "sets"


def user_folder() -> Path:
    """The folder that new sets go to: `LUDENS_DATA`, or `ludens` in the user's cache folder."""
    if chosen := os.environ.get("LUDENS_DATA"):
        return Path(chosen)
    return _cache() / "ludens"


def places() -> list[Path]:
    """The folders whose subfolders are picture sets, in the order they are searched."""
    return list(dict.fromkeys([user_folder(), _cache() / "ludens", SHIPPED]))


def _cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache"
