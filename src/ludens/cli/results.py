"""`ludens report`, `paper`, `runs`, `compact` and `study`: results of runs, and data of studies."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ludens.cli.arguments import Flag, Json, SuiteName, Whole, Words, at_least
from ludens.cli.output import aside, check_writable, console, json_out, table, write_file
from ludens.core.errors import BadFile, BadOption, MissingExtra, UnknownName, UsageError
from ludens.core.files import check_empty, save_file
from ludens.core.plain import plural, shorten
from ludens.core.policy import Setter, permit
from ludens.run.lines import shards_of
from ludens.run.plan import seated_name
from ludens.run.store import read_plan, read_progress
from ludens.run.task import import_suite
from ludens.run.trust import check_packed, plan_accesses

_DEFAULT_FILES = {
    "html": "report.html", "parquet": "report.parquet", "episodes-parquet": "episodes.parquet"
}  # fmt: skip
"""Formats that are not printed, and their file in the folder of the first run."""


def report(
    *run: Path,
    format: str | None = None,
    out: Path | None = None,
    metric: Words = (),
    suite: SuiteName = None,
    ratings: str | None = None,
    anchors: str | None = None,
    first: str | None = None,
    episodes: Whole = 4,
) -> None:
    """Report the results of runs as a table, a web page or data.

    Entrants x tasks with intervals, fallbacks, voids and blind controls.

    Args:
        run: The folder of a run; several runs make one report.
        format: table, md, latex, csv, parquet, html or json; episodes-csv or episodes-parquet for one row per
            episode; default: by the suffix of --out, else table.
        out: File for the report; by default it is printed, html goes to RUN/report.html.
        metric: A metric to show instead of the first of each task; repeatable; 'all' for all.
        ratings: Weights of games in playground's scores: formula (default), or paper as printed.
        anchors: Anchors that normalise vs-bench's returns: paper (default), measured or none.
        first: The first metric of comma's suites, next to the published one: PSR, SR, AM or ACL.
        episodes: Maximum number of episodes of each task and entrant in html.
    """
    from ludens.run.report import FORMATS, load_results, render, suffixes
    from ludens.run.report.references import warnings

    if not run:
        raise BadOption("missing argument RUN: name the folder of a run; `ludens runs` lists them.")
    format = format or (suffixes.get(out.suffix.lower()) if out is not None else "table")
    if format is None:
        raise BadOption(f"--out {str(out)!r} has no suffix of a known format; add --format.")
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    at_least("--episodes", episodes, 0)
    options = {"ratings": ratings, "anchors": anchors, "first": first}
    import_suite(suite or "")
    results = load_results(run, {name: value for name, value in options.items() if value is not None})
    file = out or (run[0] / _DEFAULT_FILES[format] if format in _DEFAULT_FILES else None)
    if file is not None:
        check_writable(file)
    width = console().width if file is None else 160
    data = render(results, format, metric, episodes=episodes, width=width)
    if file is None:
        sys.stdout.write(data.decode())
        return
    write_file(file, data)
    for suite_results in results.suites:
        for warning in warnings(suite_results):
            aside(f"warning: {warning}")
    print(f"Report written to {file}.")


_WIDEST = 60
"""Characters of a suite: those that people have played name everything in their options."""


def paper(*run: Path, out: Path | None = None, suite: SuiteName = None) -> None:
    """Make a PDF of runs: table, figure, deviations, seeds, versions, settings and BibTeX.

    ludens paper runs/first runs/second --out paper
    ludens paper results.ludens                       a pack

    The folder has the source too, tables for LaTeX, and the numbers as CSV. The PDF needs the extra `paper`.

    Args:
        run: The folder of a run, or a pack; several make one document.
        out: Folder for the paper; must be empty or not exist. Default: RUN/paper, or next to a pack.
    """
    from ludens.run.paper import DOCUMENT, PDF, compile_pdf, write_paper
    from ludens.run.results import load_results

    if not run:
        raise BadOption("missing argument RUN: name the folder of a run; `ludens runs` lists them.")
    folder = out or (run[0] / "paper" if run[0].is_dir() else run[0].with_name(f"{run[0].stem}-paper"))
    check_empty(folder)
    import_suite(suite or "")
    with _run_folders(run) as folders:
        files = write_paper(load_results(folders), folder)
    print(f"{folder}: {', '.join(file.name for file in files)}")
    try:
        pages = compile_pdf(folder / DOCUMENT, folder / PDF)
    except MissingExtra as error:
        aside(f"no PDF: {error} Or compile {folder / DOCUMENT} with any Typst.")
        return
    print(f"{folder / PDF}: {plural(pages, 'page')}")


@contextmanager
def _run_folders(runs: Sequence[Path]) -> Iterator[list[Path]]:
    """The runs as folders: packs are unpacked into temporary ones of the same name."""
    from ludens.run.pack import BadPack, unpack

    with TemporaryDirectory(prefix="ludens-") as temporary:
        folders = []
        for number, run in enumerate(runs):
            if run.is_file():
                folder = Path(temporary) / str(number) / run.stem
                folder.mkdir(parents=True)
                try:
                    check_packed(unpack(run, folder).plan)
                except BadPack as error:
                    raise BadPack(f"{str(run)!r}: {error}") from None
                run = folder
            folders.append(run)
        yield folders


def runs(
    folder: Path = Path("runs"),
    /,
    *,
    suite: SuiteName = None,
    json: Json = False,
) -> None:
    """List the runs in a folder and their progress: finished, planned and void episodes, last change.

    Args:
        folder: Folder to search, with its subfolders.
    """
    import_suite(suite or "")
    if not folder.is_dir():
        raise BadFile(f"there is no folder {str(folder)!r}; `ludens eval` creates runs in 'runs'.")
    listed = sorted(_find_runs(folder), key=lambda run: str(run["changed"]), reverse=True)
    if json:
        return json_out(listed)
    if not listed:
        print(f"There are no runs in {folder}.")
        return None
    table(
        f"Runs in {folder}, latest first",
        ("folder", "suite", "entrants", "done", "void", "last change"),
        [_row(run) for run in listed],
        ("done", "void"),
        spare=("last change", "entrants", "suite", "void"),
    )
    print("Run `ludens report FOLDER` for results, `ludens replay FOLDER` for episodes.")


def _find_runs(folder: Path) -> Iterator[dict[str, Any]]:
    """Every run below a folder. One that cannot be read is listed with the error."""
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
    plan, (keys, voids) = read_plan(run), read_progress(run)
    return {
        "suite": plan.suite,
        "entrants": {seated_name(name, plan.seated): spec for name, spec in plan.entrants.items()},
        "done": len(keys),
        "planned": plan.total(),
        "void": voids.total(),
    }


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    changed = run["changed"].replace("T", " ").removesuffix("+00:00") + " UTC"
    if "error" in run:
        return run["folder"], run["error"], "", "", "", changed
    count = f"{run['done']:,} of {run['planned']:,}"
    return (
        run["folder"],
        shorten(run["suite"], _WIDEST),
        ", ".join(run["entrants"]),
        count,
        f"{run['void']:,}",
        changed,
    )


def compact(run: Path, /, *, suite: SuiteName = None, json: Json = False) -> None:
    """Put the episodes of a run into one Parquet file and remove the files in which they were.

    Every command reads the run as before; `ludens resume` continues it. Needs the extra `data`.

    Args:
        run: Folder of the run; `ludens runs` lists them.
    """
    from ludens.run.compact import compact as compact_run

    import_suite(suite or "")
    result = compact_run(run)
    if json:
        return json_out(asdict(result))
    sizes = f"{result.after / 1e6:,.1f} MB instead of {result.before / 1e6:,.1f} MB"
    print(f"{plural(result.episodes, 'episode')} in {run / 'compact.parquet'}: {sizes}.")


_STUDY_ACTIONS = ("export", "exclude", "include", "dry-run")
_STUDY_FORMATS = ("csv", "parquet")


def study(
    action: str,
    folder: Path,
    participant: str | None = None,
    /,
    *,
    why: str | None = None,
    out: Path | None = None,
    format: str = "csv",
    excluded: Flag = False,
    participants: Whole = 12,
) -> None:
    """Export the data of a study with people; exclude participants from its results; try a study out.

    ludens study export STUDY --format parquet     tables: participants, answers, episodes, moves
    ludens study exclude STUDY p003 --why "..."    leave a participant out; nothing is deleted
    ludens study include STUDY p003                and take it back
    ludens study dry-run FILE.toml                 play it with scripted participants, and print the table

    Args:
        action: export, exclude, include or dry-run.
        folder: Folder of the study; `ludens runs` lists them. For dry-run, the file of the study.
        participant: The participant, such as p003.
        why: Reason for an exclusion; it is recorded.
        out: Folder for the tables; default: STUDY/export. For dry-run, the folder of the run.
        format: csv or parquet.
        excluded: Export the data of excluded participants too.
        participants: For dry-run: how many take part.
    """
    if action not in _STUDY_ACTIONS:
        raise UnknownName("action of `ludens study`", action, _STUDY_ACTIONS)
    if action == "export":
        if participant is not None or why is not None:
            raise BadOption("`ludens study export` takes the folder of a study, no participant and no --why.")
        return _export_study(folder, out or folder / "export", format, excluded)
    if action == "dry-run":
        if participant is not None or why is not None or format != "csv" or excluded:
            raise BadOption("`ludens study dry-run` takes the file of a study, --out and --participants.")
        return _try_study(folder, out, participants)
    if participant is None:
        raise BadOption(f"missing participant, as in: ludens study {action} {folder} p003.")
    if out is not None or format != "csv" or excluded:
        raise BadOption("--out, --format and --excluded are options of `ludens study export`.")
    return _change_participant(action, folder, participant, why)


def _try_study(file: Path, out: Path | None, participants: int) -> None:
    from ludens.run.report import load_results, render
    from ludens.suites.people import MOST_PARTICIPANTS, read_study
    from ludens.suites.people.dry_run import DryRun

    if not 1 <= participants <= MOST_PARTICIPANTS:
        raise BadOption(f"--participants must be 1 to {MOST_PARTICIPANTS:,}.")
    described = read_study(file)
    folder = out or Path("runs") / f"{described.name}-dry-run"
    if folder.exists():
        raise BadOption(f"{str(folder)!r} exists already: delete it, or choose another folder with --out.")
    trial = DryRun(described, folder)
    permit(plan_accesses(trial.plan), Setter.FILE)
    trial.run(participants)
    excluded = [each.name for each in trial.records.participants.values() if each.excluded is not None]
    print(render(load_results([folder]), "table", width=console().width).decode(), end="")
    print(f"{plural(participants, 'scripted participant')} in {folder}.")
    if excluded:
        print(f"Excluded, because of a failed attention check: {', '.join(excluded)}.")


def _export_study(folder: Path, out: Path, format: str, excluded: bool) -> None:
    from ludens.run.report.data import csv_bytes, parquet_bytes
    from ludens.suites.people.export import tables

    if format not in _STUDY_FORMATS:
        raise UnknownName("format", format, _STUDY_FORMATS)
    write = parquet_bytes if format == "parquet" else csv_bytes
    files = {
        out / f"{name}.{format}": (write(part.types, part.rows), len(part.rows))
        for name, part in tables(folder, excluded).items()
    }
    for file, (data, rows) in files.items():
        save_file(file, data)
        print(f"{file}: {rows:,} rows")


def _change_participant(action: str, folder: Path, name: str, why: str | None) -> None:
    from ludens.suites.people.records import OpenRecords, Records

    if action == "exclude" and not (why or "").strip():
        raise BadOption("an exclusion needs a reason: add --why.")
    if action == "include" and why is not None:
        raise BadOption("--why is an option of `ludens study exclude`.")
    Records(folder).read().get(name)
    with OpenRecords(folder) as records:
        participant = records.get(name)
        if action == "exclude":
            records.note(participant, "excluded", why=(why or "").strip())
            print(f"{name} is excluded: `ludens report` and `ludens study export` leave out their games.")
        elif participant.excluded is None:
            print(f"{name} is not excluded.")
        else:
            records.note(participant, "included")
            print(f"{name} is included again.")
