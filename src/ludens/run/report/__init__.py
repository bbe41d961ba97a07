"""Reports of runs in several formats.

    results = load_results([Path("runs/first"), Path("runs/second")])
    write_atomically(Path("report.html"), render(results, "html"))

Except for the tables with one row per episode, all formats show the same. A report depends only on the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ludens.core.errors import UnknownName
from ludens.core.plain import one_line
from ludens.run.report.arena import arena_tables, headline_tables, improvement
from ludens.run.report.table import Table, split
from ludens.run.report.tables import all_tables, judged_table, scores, standard_deviations, task_scores
from ludens.run.results import Results, SuiteResults, load_results
from ludens.run.verify import verification_text

__all__ = ["FORMATS", "Format", "load_results", "render", "suffixes", "tables_of"]

Format = Literal["table", "md", "latex", "csv", "parquet", "html", "json", "episodes-csv", "episodes-parquet"]
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
    from ludens.run.report import data, table

    match format:
        case "table":
            lines = "".join(f"{line}\n" for line in table.wrap_lines(verification_lines(results), width))
            return (table.plain(tables_of(results, metrics), width) + lines).encode()
        case "md":
            lines = "".join(f"- {table.markdown_escape(line)}\n" for line in verification_lines(results))
            return f"{table.markdown(tables_of(results, metrics))}\n{lines}".encode()
        case "latex":
            parts = [part for suite in results.suites for part in _first_tables(suite, metrics)]
            return table.latex(parts).encode()
        case "csv" | "parquet":
            write = data.csv_bytes if format == "csv" else data.parquet_bytes
            return write(data.types_of(data.ResultRow), data.all_rows(results))
        case "json":
            return data.as_json(results)
        case "episodes-csv" | "episodes-parquet":
            write = data.csv_bytes if format == "episodes-csv" else data.parquet_bytes
            return write(data.episode_types(results), data.episode_rows(results))
        case "html":
            from ludens.run.report.page import page

            return page(results, metrics, episodes).encode()
    raise UnknownName("format", format, FORMATS)


def tables_of(results: Results, metrics: Sequence[str] = ()) -> list[Table]:
    return [table for suite in results.suites for table in _all_tables(suite, metrics) if table is not None]


def _all_tables(suite: SuiteResults, metrics: Sequence[str]) -> list[Table | None]:
    if suite.is_arena:
        return [*arena_tables(suite), judged_table(suite)]
    rest = standard_deviations(suite), judged_table(suite)
    return [*all_tables(suite, metrics), improvement(suite), *rest]


def _first_tables(suite: SuiteResults, metrics: Sequence[str] = ()) -> list[Table]:
    return headline_tables(suite) if suite.is_arena else split(scores(suite, metrics))


def main_tables(results: Results) -> list[Table]:
    """The scores of every suite alone."""
    tables = [
        part
        for suite in results.suites
        for part in (*_first_tables(suite), task_scores(suite), improvement(suite))
    ]
    return [table for table in tables if table is not None]


def verification_lines(results: Results) -> list[str]:
    return [one_line(f"{folder}: {verification_text(folder)}") for folder in results.plans]
