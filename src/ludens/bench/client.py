"""`ludens bench client`: what one picture call costs, ours beside other clients."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ludens.bench import Row

OTHERS = "LUDENS_OTHERS"
"""Names the folder that `python -m ludens.models.bench --setup DIR` made."""


def rows(seconds: float) -> Iterator[Row]:
    """Picture calls to a local server, 64 at once, per second of the client's core."""
    from ludens.models.bench import TARGET_MS, measure

    folder = os.environ.get(OTHERS)
    calls = max(200, round(1500 * seconds))
    for row in measure(calls=calls, others=Path(folder) if folder else None):
        ours = row["client"] == "ludens"
        yield Row(
            f"{row['client']} {row['version']}",
            1000 / row["cpu_ms"],
            "calls/s",
            1000 / TARGET_MS if ours else None,
            None if ours else row["ratio"],
            f"{row['cpu_ms']:.2f} ms of CPU a call",
        )
    if not folder:
        how = f"python -m ludens.models.bench --setup DIR, then set {OTHERS}=DIR"
        yield Row("openai SDK, Inspect AI", None, "calls/s", note=how)
