"""Reports: what runs found, in the format a reader or a program wants.

    results = load_results([Path("runs/first"), Path("runs/second")])
    Path("report.html").write_bytes(render(results, "html"))

Each format is a small module over the same tables. Nothing in a report depends on the clock or the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ludens.core.errors import UnknownName
from ludens.run.report.parted import parted
from ludens.run.report.tables import Table, composites, details, digest, further, pairs, scores
from ludens.run.results import Results, load_results

__all__ = ["FORMATS", "Format", "load_results", "render", "suffixes", "tables"]

Format = Literal["table", "md", "latex", "csv", "parquet", "html", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

suffixes: dict[str, Format] = {
    ".txt": "table", ".md": "md", ".tex": "latex", ".csv": "csv", ".parquet": "parquet", ".html": "html",
    ".htm": "html", ".json": "json",
}  # fmt: skip
"""Which format a file's name asks for."""


def render(
    results: Results,
    format: str = "table",
    metrics: Sequence[str] = (),
    *,
    episodes: int = 4,
    width: int = 160,
) -> bytes:
    """The report as bytes.

    Args:
        results: What runs found.
        format: One of `FORMATS`.
        metrics: Which metrics tables show; the first of each task when none is named.
        episodes: How many episodes of each task and entrant the HTML page shows at most.
        width: Of a terminal, for the format `table`.
    """
    match format:
        case "table":
            from ludens.run.report.text import text

            return text(tables(results, metrics), width).encode()
        case "md":
            from ludens.run.report.markdown import markdown

            return markdown(tables(results, metrics)).encode()
        case "latex":
            from ludens.run.report.latex import latex

            wide = [scores(found, metrics) for found in results.suites]
            return latex([part for whole in wide for part in parted(whole)]).encode()
        case "csv":
            from ludens.run.report.tidy import as_csv

            return as_csv(results).encode()
        case "parquet":
            from ludens.run.report.tidy import as_parquet

            return as_parquet(results)
        case "json":
            from ludens.run.report.as_json import as_json

            return as_json(results)
        case "html":
            from ludens.run.report.page import page

            return page(results, metrics, episodes).encode()
    raise UnknownName("format", format, FORMATS)


def tables(results: Results, metrics: Sequence[str] = ()) -> list[Table]:
    """Scores, further metrics, conduct and comparisons of every suite."""
    found: list[Table] = []
    for one in results.suites:
        rest = [composites(one), digest(one), further(one, metrics), details(one), pairs(one)]
        found += [*parted(scores(one, metrics)), *filter(None, rest)]
    return found
