"""Reports of runs in several formats.

    results = load_results([Path("runs/first"), Path("runs/second")])
    Path("report.html").write_bytes(render(results, "html"))

All formats show the same tables. A report depends on nothing but the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ludens.core.errors import UnknownName
from ludens.run.report.tables import Table, all_tables, scores, split
from ludens.run.results import Results, load_results

__all__ = ["FORMATS", "Format", "load_results", "render", "suffixes", "tables_of"]

Format = Literal["table", "md", "latex", "csv", "parquet", "html", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

suffixes: dict[str, Format] = {
    ".txt": "table", ".md": "md", ".tex": "latex", ".csv": "csv", ".parquet": "parquet", ".html": "html",
    ".htm": "html", ".json": "json",
}  # fmt: skip
"""The format of a file by the end of its name."""


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
        results: The results of one or several runs.
        format: One of `FORMATS`.
        metrics: Which metrics tables show; by default the first of each task.
        episodes: How many episodes of each task and entrant the HTML page shows at most.
        width: Of the terminal, for the format `table`.
    """
    from ludens.run.report import data, text

    match format:
        case "table":
            return text.plain(tables_of(results, metrics), width).encode()
        case "md":
            return text.markdown(tables_of(results, metrics)).encode()
        case "latex":
            parts = [part for found in results.suites for part in split(scores(found, metrics))]
            return text.latex(parts).encode()
        case "csv":
            return data.as_csv(results).encode()
        case "parquet":
            return data.as_parquet(results)
        case "json":
            return data.as_json(results)
        case "html":
            from ludens.run.report.page import page

            return page(results, metrics, episodes).encode()
    raise UnknownName("format", format, FORMATS)


def tables_of(results: Results, metrics: Sequence[str] = ()) -> list[Table]:
    """Every table of every suite."""
    return [table for found in results.suites for table in all_tables(found, metrics)]
