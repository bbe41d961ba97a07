"""Whether the episodes of a run were verified, as `ludens verify` recorded in `verified.json`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import orjson

from ludens.core.plain import one_line
from ludens.run.store import read_lines

VERIFIED = "verified.json"


def verification(folder: Path) -> str:
    """One line about a run."""
    remedy = f"run `ludens verify {quote(str(folder))}`"
    record = _read(folder / VERIFIED)
    if record is None:
        return f"not verified: {remedy}."
    episodes = sum(1 for _ in read_lines(folder))
    count, failures = record["episodes"], record["failures"]
    when = one_line(str(record.get("when", "")))[:40]
    at = f" on {when}" if when else ""
    if failures:
        return f"not verified: {failures:,} of {count:,} episodes failed verification{at}."
    if count < episodes:
        return f"not verified: only {count:,} of {episodes:,} episodes were verified{at}; {remedy}."
    return f"verified{at}: replaying all {count:,} episodes gave the same pictures, returns and facts."


def _read(file: Path) -> dict[str, Any] | None:
    """The record; None if there is none that can be read."""
    try:
        record = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    if isinstance(record, dict) and all(isinstance(record.get(k), int) for k in ("episodes", "failures")):
        return record
    return None
