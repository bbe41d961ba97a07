"""`ludens report RUN ...`: the results of runs as tables, a page or data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import SuiteName, Whole, at_least
from ludens.cli.output import aside, console, writable
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.files import write_atomically

_DEFAULT_FILES = {
    "html": "report.html", "parquet": "report.parquet", "episodes-parquet": "episodes.parquet"
}  # fmt: skip
"""Formats that are not printed, and their file in the folder of the first run."""


def report(
    *run: Annotated[Path, Parameter(help="The folder of a run; several runs make one report.")],
    format: Annotated[
        str | None,
        Parameter(
            help="table, md, latex, csv, parquet, html or json; episodes-csv or episodes-parquet for one row "
            "per episode; default: by the suffix of --out, else table."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Parameter(help="File for the report; by default it is printed, html goes to RUN/report.html."),
    ] = None,
    metric: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A metric to show instead of the first of each task; repeatable; 'all' for all.",
        ),
    ] = (),
    suite: SuiteName = None,
    ratings: Annotated[
        str | None,
        Parameter(help="Weights of games in playground's scores: formula (default), or paper as printed."),
    ] = None,
    anchors: Annotated[
        str | None,
        Parameter(help="Anchors that normalise vs-bench's returns: paper (default), measured or none."),
    ] = None,
    first: Annotated[
        str | None,
        Parameter(help="The first metric of comma's suites, next to the published one: PSR, SR, AM or ACL."),
    ] = None,
    episodes: Annotated[
        Whole, Parameter(help="Maximum number of episodes of each task and entrant in html.")
    ] = 4,
) -> None:
    """Report the results of runs: entrants x tasks with intervals, fallbacks, voids and blind controls."""
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
