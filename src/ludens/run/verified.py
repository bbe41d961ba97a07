"""`verified.json`: the result of the last `ludens verify` of a run, and whether the run has changed since."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from shlex import quote

import orjson

from ludens.core.files import write_atomically
from ludens.core.plain import one_line
from ludens.run.lines import EPISODES

VERIFIED = "verified.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """The result of verifying a run."""

    time: str
    """When, in UTC, as 2026-01-31T12:00:00+00:00."""
    hash: str
    """Hash of the files that were verified (`hash_run`)."""
    episodes: int
    """Lines that were verified, void episodes included."""
    moves: int
    replies: int
    pictures: int
    failed: int
    """Lines that could not be verified, are repeated, or are not of the plan."""
    planned: int
    present: int
    """Planned episodes that were played."""
    proven: int
    """Planned episodes that were played and verified."""
    finished: bool
    """Whether all planned episodes had been played (`finished.json`)."""


def read_verified(folder: Path) -> tuple[VerifiedRun, bool] | None:
    """The result of the last verification of a run, and whether it is still valid; None if there is none.

    It is not valid if `run.json` or `episodes.jsonl` have changed since.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        data = (folder / VERIFIED).read_bytes()
        found = TypeAdapter(VerifiedRun).validate_json(data, strict=True)
        return found, hash_run(folder) == found.hash
    except (OSError, ValidationError):
        return None


def verification_text(folder: Path) -> str:
    """One sentence about the verification of a run, for reports."""
    remedy = f"run `ludens verify {quote(str(folder))}`"
    read = read_verified(folder)
    if read is None:
        return f"not verified: {remedy}."
    found, valid = read
    when = one_line(found.time)[:40].replace("T", " ").removesuffix("+00:00") + " UTC"
    if not valid:
        return f"not verified: the run has changed since it was verified on {when}; {remedy}."
    if found.failed:
        total = found.episodes + found.failed
        return f"not verified: {found.failed:,} of {total:,} episodes failed verification on {when}."
    if found.proven == found.planned:
        return f"verified: all {found.planned:,} episodes, on {when}."
    if found.finished:
        missing = found.planned - found.present
        return f"not verified: {missing:,} of {found.planned:,} episodes were missing on {when}."
    return (
        f"verified: {found.proven:,} of {found.planned:,} planned episodes, on {when}; the run is unfinished."
    )


def write_verified(folder: Path, result: VerifiedRun) -> None:
    """Write `verified.json` atomically."""
    data = orjson.dumps(asdict(result), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(folder / VERIFIED, data)


def hash_run(folder: Path) -> str:
    """A hash of `run.json` and `episodes.jsonl`."""
    found = blake2b(digest_size=16)
    for name in ("run.json", EPISODES):
        path = folder / name
        found.update(b"%d:" % (path.stat().st_size if path.exists() else 0))
        if path.exists():
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    found.update(chunk)
    return found.hexdigest()
