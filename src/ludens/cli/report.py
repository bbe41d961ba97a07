"""`ludens report RUN ...`: the results of runs as tables, a page or data."""

from __future__ import annotations

import sys
from pathlib import Path

from ludens.cli.arguments import SuiteName, Whole, Words, at_least
from ludens.cli.output import aside, console, writable
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.files import write_atomically

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
    from ludens.run.task import import_suite

    if not run:
        raise BadOption("missing argument RUN: name the folder of a run; `ludens runs` lists them.")
    wanted = format or (suffixes.get(out.suffix.lower()) if out is not None else "table")
    if wanted is None:
        raise BadOption(f"--out {str(out)!r} has no suffix of a known format; add --format.")
    if wanted not in FORMATS:
        raise UnknownName("format", wanted, FORMATS)
    at_least("--episodes", episodes, 0)
    chosen = {"ratings": ratings, "anchors": anchors, "first": first}
    import_suite(suite or "")
    results = load_results(run, {name: value for name, value in chosen.items() if value is not None})
    file = out or (run[0] / _DEFAULT_FILES[wanted] if wanted in _DEFAULT_FILES else None)
    if file is not None:
        writable(file)
    made = render(results, wanted, metric, episodes=episodes, width=console().width if file is None else 160)
    if file is None:
        sys.stdout.write(made.decode())
        return
    try:
        write_atomically(file, made)
    except OSError as error:
        raise BadFile(f"cannot write {str(file)!r}: {(error.strerror or str(error)).lower()}.") from None
    for found in results.suites:
        for warning in warnings(found):
            aside(f"warning: {warning}")
    print(f"Report written to {file}.")
