"""`ludens runs` and `compact`: the runs in a folder and their progress; a run as one Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Json, SuiteName
from ludens.cli.output import counted, json_out, table
from ludens.core.errors import BadFile, UsageError

_WIDEST = 60
"""Characters of a suite: those that people have played name everything in their options."""


def runs(
    folder: Annotated[Path, Parameter(help="Folder to search, with its subfolders.")] = Path("runs"),
    /,
    *,
    suite: SuiteName = None,
    json: Json = False,
) -> None:
    """List the runs in a folder: suite, entrants, finished and planned episodes, void ones, last change."""
    from ludens.run.task import import_suite

    import_suite(suite or "")
    if not folder.is_dir():
        raise BadFile(f"there is no folder {str(folder)!r}; `ludens eval` creates runs in 'runs'.")
    found = sorted(find_runs(folder), key=lambda run: str(run["changed"]), reverse=True)
    if json:
        return json_out(found)
    if not found:
        print(f"There are no runs in {folder}.")
        return None
    table(
        f"Runs in {folder}, latest first",
        ("folder", "suite", "entrants", "done", "void", "last change"),
        [_row(run) for run in found],
        ("done", "void"),
        spare=("last change", "entrants", "suite", "void"),
    )
    print("Run `ludens report FOLDER` for results, `ludens replay FOLDER` for episodes.")
    return None


def find_runs(folder: Path) -> Iterator[dict[str, Any]]:
    """Every run below a folder. One that cannot be read is listed with the error."""
    from ludens.run.lines import shards_of

    for file in sorted(folder.rglob("run.json")):
        run = file.parent
        files = [file, *(run / name for name in shards_of(run))]
        changed = datetime.fromtimestamp(max(path.stat().st_mtime for path in files), UTC)
        info: dict[str, Any] = {"folder": str(run), "changed": changed.isoformat(timespec="seconds")}
        try:
            yield {**info, **_progress(run)}
        except UsageError as error:
            yield {**info, "error": str(error)}


def _progress(run: Path) -> dict[str, Any]:
    from ludens.run.plan import seated_name
    from ludens.run.store import read_plan, read_progress

    plan, (done, voids) = read_plan(run), read_progress(run)
    return {
        "suite": plan.suite,
        "entrants": {seated_name(name, plan.seated): spec for name, spec in plan.entrants.items()},
        "done": len(done),
        "planned": plan.total(),
        "void": voids.total(),
    }


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    changed = run["changed"].replace("T", " ").removesuffix("+00:00") + " UTC"
    if "error" in run:
        return run["folder"], run["error"], "", "", "", changed
    done = f"{run['done']:,} of {run['planned']:,}"
    suite = run["suite"] if len(run["suite"]) <= _WIDEST else run["suite"][: _WIDEST - 3] + "..."
    return run["folder"], suite, ", ".join(run["entrants"]), done, f"{run['void']:,}", changed


def compact(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    json: Json = False,
) -> None:
    """Put the episodes of a run into episodes.parquet and remove the files in which they were.

    Every command reads the run as before; `ludens resume` continues it. Needs the extra `data`.
    """
    from ludens.run.compact import compact as compact_run
    from ludens.run.task import import_suite

    import_suite(suite or "")
    result = compact_run(run)
    if json:
        return json_out(asdict(result))
    sizes = f"{result.after / 1e6:,.1f} MB instead of {result.before / 1e6:,.1f} MB"
    print(f"{counted(result.episodes, 'episode')} in {run / 'episodes.parquet'}: {sizes}.")
    return None
