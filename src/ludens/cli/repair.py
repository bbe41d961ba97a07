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
    """Move invalid lines to episodes.bad.jsonl; `ludens resume` then plays the missing episodes again.

    Those of a study's participants.jsonl are moved to participants.bad.jsonl.
    """
    from ludens.run import repair as repairs
    from ludens.run.lines import EPISODES
    from ludens.run.task import import_suite
    from ludens.suites.people import records

    import_suite(suite or "")
    found = repairs.repair(run)
    study = run / records.PARTICIPANTS
    people = repairs.set_aside(study, records.LINE_START, records.read_line)
    if json:
        result = {"moved": _json(found.moved), "done": found.done, "planned": found.planned}
        result |= {"missing": found.missing} | ({"participants": _json(people)} if study.exists() else {})
        return json_out(result)
    for path, moved in ((run / EPISODES, found.moved), (study, people)):
        _list(repairs.bad_lines(path), moved)
    valid = "" if found.moved or people else "All lines are valid. "
    print(f"{valid}{found.done:,} of {found.planned:,} episodes done.")
    if found.missing and not study.exists():
        print(f"To play the {counted(found.missing, 'missing episode')}: ludens resume {quote(str(run))}")
    return None


def _list(path: Path, moved: list[tuple[int, str]]) -> None:
    if moved:
        print(f"{counted(len(moved), 'line')} moved to {path}:")
    for number, reason in moved[:_LISTED]:
        print(f"  line {number}: {one_line(reason)}")
    if len(moved) > _LISTED:
        print(f"  ... and {len(moved) - _LISTED:,} more")


def _json(moved: list[tuple[int, str]]) -> list[dict[str, object]]:
    return [{"line": number, "reason": reason} for number, reason in moved]
