r"""Tables as text: for a terminal, as GitHub's Markdown, and as LaTeX for `\usepackage{booktabs}`."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

from ludens.core.plain import one_line
from ludens.run.report.table import Entry, Table, TableRow, Value, in_parts

WIDTH = 160

_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "∞": r"$\infty$",
    "†": r"\dag{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def plain(tables: Sequence[Table], width: int = WIDTH) -> str:
    """Tables for a terminal, intervals below their means; split into parts that fit the width."""
    return "\n".join(_plain_table(part, width) for table in tables for part in _fit(table, width))


def _fit(table: Table, width: int) -> list[Table]:
    """The table in parts no wider than the terminal; the columns that name a row are in every part."""
    widths = [_width(table, index) + 3 for index in range(len(table.columns))]
    names = next((index for index, column in enumerate(table.columns) if column.numbers), 1)
    parts: list[list[int]] = [[]]
    for index in range(names, len(widths)):
        if parts[-1] and sum(widths[i] for i in (*range(names), *parts[-1], index)) > width:
            parts.append([])
        parts[-1].append(index)
    return in_parts([_columns(table, [*range(names), *indices]) for indices in parts])


def _columns(table: Table, indices: Sequence[int]) -> Table:
    rows = [TableRow(row.kind, [row.entries[i] for i in indices]) for row in table.rows]
    return replace(table, columns=[table.columns[i] for i in indices], rows=rows)


def _width(table: Table, index: int) -> int:
    column = table.columns[index]
    entries = (_plain_entry(row.entries[index]) for row in table.rows)
    texts = (one_line(column.name), one_line(column.unit), *entries)
    return max(len(line) for text in texts for line in text.split("\n"))


def _plain_table(table: Table, width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    made = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        heading = "\n".join(filter(None, (one_line(column.name), one_line(column.unit))))
        made.add_column(heading, justify="right" if column.numbers else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*map(_plain_entry, row.entries))
    out = io.StringIO()
    Console(file=out, width=width, markup=False, highlight=False, emoji=False, color_system=None).print(made)
    body = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join([one_line(table.title), body, *map(one_line, table.notes), ""])


def _plain_entry(entry: Entry) -> str:
    if isinstance(entry, Value):
        return "\n".join(filter(None, (entry.number, entry.interval)))
    return one_line(entry)


def markdown(tables: Sequence[Table]) -> str:
    """Tables with headings, and notes below."""
    return "\n".join(map(_markdown_table, tables))


def _markdown_table(table: Table) -> str:
    heads = [f"{c.name} ({c.unit})" if c.unit else c.name for c in table.columns]
    rules = ["---:" if column.numbers else "---" for column in table.columns]
    rows = [[markdown_escape(str(entry)) for entry in row.entries] for row in table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (map(markdown_escape, heads), rules, *rows)]
    notes = [f"- {markdown_escape(note)}" for note in table.notes]
    return "\n".join([f"## {markdown_escape(table.title)}", "", *lines, *(["", *notes] if notes else []), ""])


def markdown_escape(text: str) -> str:
    """The text as Markdown without markup."""
    escaped = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)


def latex(tables: Sequence[Table]) -> str:
    """Floating tables."""
    return "\n".join(map(_latex_table, tables))


def _latex_table(table: Table) -> str:
    spec = "".join("r" if column.numbers else "l" for column in table.columns)
    heads = " & ".join(latex_escape(column.name) for column in table.columns)
    units = " & ".join(rf"{{\scriptsize {latex_escape(c.unit)}}}" if c.unit else "" for c in table.columns)
    rows: list[str] = []
    for number, row in enumerate(table.rows):
        if number and row.kind in ("reference", "published") and table.rows[number - 1].kind != row.kind:
            rows.append(r"\midrule")
        rows.append(" & ".join(map(_latex_entry, row.entries)) + r" \\")
    first, rest = table.notes[:1], table.notes[1:]
    caption = latex_escape(" ".join([f"{table.title}.", *first]))
    # Not in the caption, which is one paragraph and is repeated in the list of tables.
    notes = [rf"{{\footnotesize {latex_escape(note)}\par}}" for note in rest]
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule", rf"{heads} \\", *([rf"{units} \\"] if any(c.unit for c in table.columns) else []),
            r"\midrule", *rows, r"\bottomrule", r"\end{tabular}",
            *([r"\par\smallskip", *notes] if notes else []), r"\end{table}", "",
        ]
    )  # fmt: skip


def _latex_entry(entry: Entry) -> str:
    if not isinstance(entry, Value):
        return latex_escape(entry)
    number = f"${entry.number}$" if entry.known else "--"
    interval = rf" {{\scriptsize {latex_escape(entry.interval)}}}" if entry.interval else ""
    return number.replace("∞", r"\infty") + interval


def latex_escape(text: str) -> str:
    """The text as LaTeX without markup."""
    return "".join(_LATEX.get(c, c) for c in one_line(text))
