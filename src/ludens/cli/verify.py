"""`ludens verify RUN`: replay every episode of a run and verify it."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, SuiteName, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import json_out
from ludens.core.plain import one_line

if TYPE_CHECKING:
    from ludens.run.verify import RunVerification

_SECONDS_BETWEEN_LINES = 10.0
_NAMED = 10
"""The most keys of one kind in the summary; --json has all."""


def verify(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    workers: Annotated[
        Whole | None, Parameter(help="Worker processes; 0 for none. Default: one per core for large runs.")
    ] = None,
    json: Json = False,
) -> int:
    """Replay every episode of a run: moves, replies, pictures, returns; and that all planned ones are there.

    Writes verified.json, which reports refer to. Exit code 1 if an episode fails, is repeated or not planned,
    or is missing from a run that was finished.
    """
    from ludens.run.task import import_suite
    from ludens.run.verify import verify_run

    at_least("--workers", workers or 0, 0)
    import_suite(suite or "")
    progress = _Progress()
    try:
        result = verify_run(run, workers=workers, on_progress=progress)
    finally:
        progress.close()
    code = DONE if result.ok else FAILED
    if json:
        json_out(_fields(result))
        return code
    for key, reason in result.failures:
        print(f"{one_line(key)}: {one_line(reason)}")
    found = result.verified
    print(f"planned {result.planned:,}, present {result.present:,}, proven {result.proven:,}{_rest(result)}.")
    print(f"{found.moves:,} moves, {found.replies:,} replies, {found.pictures:,} pictures verified.")
    if result.missing:
        print(
            "Episodes are missing although the run was finished: they were removed."
            if result.finished
            else f"The run is unfinished; to play the missing episodes: ludens resume {quote(str(run))}"
        )
    return code


def _fields(result: RunVerification) -> dict[str, object]:
    names = (
        "planned",
        "present",
        "proven",
        "finished",
        "missing",
        "repeated",
        "unplanned",
        "voids",
        "episodes",
    )
    return {
        **{name: getattr(result, name) for name in names},
        **{name: getattr(result.verified, name) for name in ("moves", "replies", "pictures")},
        "failures": [{"key": key, "reason": reason} for key, reason in result.failures],
    }


def _rest(result: RunVerification) -> str:
    """What is void, repeated, not planned or missing, with the keys."""
    parts = [f", void {result.voids:,}"] if result.voids else []
    for name, keys in (
        ("missing", result.missing),
        ("repeated", result.repeated),
        ("not planned", result.unplanned),
    ):
        if keys:
            more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
            parts.append(f"; {name} {len(keys):,}: {', '.join(map(one_line, keys[:_NAMED]))}{more}")
    return "".join(parts)


class _Progress:
    """A line on stderr: redrawn in a terminal, else printed every few seconds."""

    def __init__(self) -> None:
        self._live, self._shown, self._drawn = sys.stderr.isatty(), monotonic(), False

    def __call__(self, result: RunVerification) -> None:
        done = result.episodes + len(result.failures)
        failed = f", {len(result.failures):,} failed" if result.failures else ""
        text = f"{done:,}/{result.total:,} episodes{failed}"
        if self._live:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self._drawn = True
        elif monotonic() - self._shown >= _SECONDS_BETWEEN_LINES:
            self._shown = monotonic()
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
