"""`ludens report RUN ...`: what runs found, as a table, a page or data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import SuiteName, Whole, at_least
from ludens.cli.output import aside, console, writable
from ludens.core.errors import BadFile, BadOption, UnknownName

_INTO_THE_RUN = {"html": "report.html", "parquet": "report.parquet"}
"""Formats nobody wants in a terminal, and the file they get in the first run's folder."""


def report(
    *run: Annotated[Path, Parameter(help="The folder of a run; several are put into one report.")],
    format: Annotated[
        str | None,
        Parameter(
            help="table, md, latex, csv, parquet, html or json; by default what --out ends in, else table."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Parameter(help="File for the report; by default the terminal, and RUN/report.html for html."),
    ] = None,
    metric: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A metric to show instead of the first of each task; may be repeated; 'all' for all.",
        ),
    ] = (),
    suite: SuiteName = None,
    ratings: Annotated[
        str | None,
        Parameter(help="How games are weighed in playground's scores: formula (usual), or paper as printed."),
    ] = None,
    anchors: Annotated[
        str | None,
        Parameter(help="Between what vs-bench's returns are normalised: paper (usual), measured or none."),
    ] = None,
    first: Annotated[
        str | None,
        Parameter(help="The metric of comma's suites that stands beside the published: PSR, SR, AM or ACL."),
    ] = None,
    episodes: Annotated[
        Whole, Parameter(help="Episodes shown of each task and entrant in html, at most.")
    ] = 4,
) -> None:
    """Say what runs found: models x tasks with intervals, fallbacks, voids and blind controls."""
    from ludens.run.report import FORMATS, load_results, render, suffixes
    from ludens.run.task import import_suite

    if not run:
        raise BadOption("RUN is missing: name the folder of at least one run; `ludens runs` lists them.")
    wanted = format or (suffixes.get(out.suffix.lower()) if out is not None else "table")
    if wanted is None:
        raise BadOption(f"--out {str(out)!r} does not say which format it wants; add --format.")
    if wanted not in FORMATS:
        raise UnknownName("format", wanted, FORMATS)
    at_least("--episodes", episodes, 0)
    chosen = {"ratings": ratings, "anchors": anchors, "first": first}
    import_suite(suite or "")
    results = load_results(run, {name: value for name, value in chosen.items() if value is not None})
    file = out or (run[0] / _INTO_THE_RUN[wanted] if wanted in _INTO_THE_RUN else None)
    if file is not None:
        writable(file)
    made = render(results, wanted, metric, episodes=episodes, width=console().width if file is None else 160)
    if file is None:
        sys.stdout.write(made.decode())
        return
    try:
        file.write_bytes(made)
    except OSError as error:
        raise BadFile(f"cannot write {str(file)!r}: {(error.strerror or str(error)).lower()}.") from None
    for found in results.suites:
        for warning in found.warnings:
            aside(f"warning: {warning}")
    print(f"The report is in {file}.")
