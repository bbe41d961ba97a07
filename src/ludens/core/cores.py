"""How many cores this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Those that it is allowed to run on, where the system can tell; else all."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1
