"""From data and a Typst document to a PDF."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import MissingExtra
from ludens.core.plain import one_line, shorten
from ludens.draw.fonts import FOLDER as FONTS
from ludens.run.report.charts import PUBLISHED_RINGS, Bar, BarChart
from ludens.run.report.table import NOTHING, Column, Entry, Table, TableRow, Value

TEMPLATES = Path(__file__).parent / "templates"
MOST_COLUMNS = 6
"""Columns of numbers that fit on a page, next to a name."""
LABEL = 30
"""Most characters next to a bar."""


def as_json(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def table_data(table: Table) -> dict[str, Any]:
    """A table as plain values; numbers are texts in their final form."""
    return {
        "title": one_line(table.title),
        "columns": [asdict(column) for column in table.columns],
        "rows": [
            {"kind": row.kind, "entries": [_entry(entry) for entry in row.entries]} for row in table.rows
        ],
        "notes": [one_line(note) for note in table.notes],
        "warnings": [one_line(warning) for warning in table.warnings],
        "legend": " ".join(map(one_line, table.legend)),
    }


def _entry(entry: Entry) -> dict[str, str]:
    if isinstance(entry, Value):
        return {"text": entry.number, "interval": entry.interval}
    return {"text": one_line(entry), "interval": ""}


def fitted(table: Table) -> list[Table]:
    """The table in parts no wider than a page: tasks become rows where that is enough, else it is divided."""
    names = next((place for place, column in enumerate(table.columns) if column.numbers), 1)
    numbers = range(names, len(table.columns))
    if len(numbers) <= MOST_COLUMNS:
        return [table]
    if names == 1 and len(table.rows) <= MOST_COLUMNS:
        return [_transposed(table)]
    parts, wide = [], -(-len(numbers) // -(-len(numbers) // MOST_COLUMNS))
    for start in range(0, len(numbers), wide):
        some = numbers[start : start + wide]
        places = [*range(names), *some]
        columns = [table.columns[place] for place in places]
        rows = [
            replace(row, entries=[row.entries[place] for place in places])
            for row in table.rows
            if any(row.entries[place] != NOTHING for place in some)
        ]
        parts.append(replace(table, columns=columns, rows=rows))
    return [*(replace(part, notes=(), warnings=(), legend=()) for part in parts[:-1]), parts[-1]]


def _transposed(table: Table) -> Table:
    first, *others = table.columns
    columns = [Column(first.name, numbers=False), *(Column(str(row.entries[0])) for row in table.rows)]
    rows = [
        TableRow("ours", [f"{column.name}, {column.unit}" if column.unit else column.name, *entries])
        for column, entries in zip(
            others, zip(*(row.entries[1:] for row in table.rows), strict=True), strict=True
        )
    ]
    return replace(table, columns=[replace(columns[0], name="task"), *columns[1:]], rows=rows)


def chart_data(chart: BarChart) -> dict[str, Any]:
    """A chart as plain values; what is not a finite number is null."""
    return {
        "title": one_line(chart.title),
        "low": chart.low,
        "high": chart.high,
        "ticks": chart.ticks,
        "bars": [_bar(bar) for bar in _few(chart)],
        "lines": [{"value": line.value, "style": line.style} for line in chart.lines],
    }


def _bar(bar: Bar) -> dict[str, Any]:
    label = shorten(one_line(bar.short or bar.label), LABEL)
    span = {"low": bar.low, "high": bar.high} if bar.interval else {"low": None, "high": None}
    return {"label": label, "value": bar.value, "text": bar.text, "kind": bar.kind, **span}


def _few(chart: BarChart) -> list[Bar]:
    """All bars of ours and the best published ones."""
    sign = 1 if chart.title.endswith("lower is better") else -1
    published = [bar for bar in chart.bars if bar.kind == "published"]
    best = sorted(published, key=lambda bar: sign * bar.value)[:PUBLISHED_RINGS]
    return [bar for bar in chart.bars if bar not in published or bar in best]


def compile_pdf(document: Path, pdf: Path) -> int:
    """Compile a Typst document into a PDF; returns the number of pages.

    Only files in the folder of the document are read, and fonts of the machine are not used.

    Raises:
        MissingExtra: Typst is not installed.
    """
    try:
        import typst
    except ImportError:
        raise MissingExtra("making the PDF", "paper") from None
    # Without a time the same source gives the same PDF.
    typst.compile(
        str(document),
        output=str(pdf),
        root=str(document.parent),
        font_paths=[str(FONTS)],
        ignore_system_fonts=True,
        timestamp=0,
    )
    return count_pages(pdf)


def count_pages(pdf: Path) -> int:
    """The pages of a PDF that Typst has written."""
    counts = re.findall(rb"/Type ?/Pages ?/Count (\d+)", pdf.read_bytes())
    return max(map(int, counts), default=0)
