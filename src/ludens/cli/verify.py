"""`ludens verify RUN`: replay every episode of a run and verify it."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, SuiteName, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import counted, json_out
from ludens.core.plain import one_line

if TYPE_CHECKING:
    from ludens.run.verify import RunVerification

_SECONDS_BETWEEN_LINES = 10.0


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
    """Replay every episode of a run: moves, replies, pictures, returns and that it belongs to the plan.

    Writes verified.json, which reports refer to. Exit code 1 if an episode fails.
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
    counts = {name: getattr(result.verified, name) for name in ("moves", "replies", "pictures")}
    if json:
        failures = [{"key": key, "reason": reason} for key, reason in result.failures]
        json_out({"episodes": result.episodes, **counts, "failures": failures})
        return FAILED if failures else DONE
    for key, reason in result.failures:
        print(f"{one_line(key)}: {one_line(reason)}")
    print(f"{counted(result.episodes, 'episode')} of {result.total:,} verified: {_counts(counts)}.")
    return FAILED if result.failures else DONE


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


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
