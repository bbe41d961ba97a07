"""`ludens repair RUN`: move invalid lines of a run aside."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, SuiteName
from ludens.cli.output import counted, json_out
from ludens.core.plain import one_line

_LISTED = 40


def repair(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    json: Json = False,
) -> None:
    """Move invalid lines to episodes.bad.jsonl; `ludens resume` then plays the missing episodes again."""
    from ludens.run import repair as repairs
    from ludens.run.task import import_suite

    import_suite(suite or "")
    found = repairs.repair(run)
    if json:
        moved = [{"line": number, "reason": reason} for number, reason in found.moved]
        return json_out(
            {"moved": moved, "done": found.done, "planned": found.planned, "missing": found.missing}
        )
    if found.moved:
        print(f"{counted(len(found.moved), 'line')} moved to {run / repairs.BAD_LINES}:")
    for number, reason in found.moved[:_LISTED]:
        print(f"  line {number}: {one_line(reason)}")
    if len(found.moved) > _LISTED:
        print(f"  ... and {len(found.moved) - _LISTED:,} more")
    valid = "" if found.moved else "All lines are valid. "
    print(f"{valid}{found.done:,} of {found.planned:,} episodes done.")
    if found.missing:
        print(f"To play the {counted(found.missing, 'missing episode')}: ludens resume {quote(str(run))}")
    return None
