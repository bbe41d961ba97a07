"""Whether the episodes of a run were verified, as `ludens verify` recorded in `verified.json`."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from shlex import quote
from typing import Any

import orjson

from ludens.core.plain import one_line
from ludens.run.store import EPISODES

VERIFIED = "verified.json"
_CHUNK = 1 << 20


def verification(folder: Path) -> str:
    """One line about a run."""
    remedy = f"run `ludens verify {quote(str(folder))}`"
    record = _read(folder / VERIFIED)
    if record is None:
        return f"not verified: {remedy}."
    count, failed, when = record["episodes"], record["failed"], one_line(record["time"])[:40]
    if record["hash"] != hash_run(folder):
        return f"not verified: the run has changed since it was verified on {when}; {remedy}."
    if failed:
        return f"not verified: {failed:,} of {count + failed:,} episodes failed verification on {when}."
    return f"verified: all {count:,} episodes, on {when}."


def hash_run(folder: Path) -> str:
    """A hash of `run.json` and `episodes.jsonl`, the files that are verified."""
    found = blake2b(digest_size=16)
    for path in (folder / "run.json", folder / EPISODES):
        found.update(b"%d:" % (path.stat().st_size if path.exists() else 0))
        if path.exists():
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    found.update(chunk)
    return found.hexdigest()


def _read(file: Path) -> dict[str, Any] | None:
    """The record; None if there is none that can be read."""
    try:
        record = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    types = {"episodes": int, "failed": int, "hash": str, "time": str}
    valid = isinstance(record, dict) and all(type(record.get(name)) is kind for name, kind in types.items())
    return record if valid else None
