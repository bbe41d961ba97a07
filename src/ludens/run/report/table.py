"""A table as a value, and as text: for a terminal, as GitHub's Markdown, and as LaTeX."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from math import isnan
from textwrap import wrap
from typing import Literal

from ludens.core.plain import one_line
from ludens.run.stats import Estimate

RowKind = Literal["ours", "blind", "reference", "published"]

NOTHING = "–"
MARK = "†"
"""After a score that is not above the blind baseline."""
WEAK = "°"
"""A task that a player which never looks solves more than half."""
TRAINED = "‡"
"""After an entrant that was trained on the tasks of the table."""
MAX_COLUMNS, CHUNK = 12, 8
"""A table with more columns is split into parts of at most CHUNK columns."""


@dataclass(frozen=True, slots=True)
class Source:
    """The episodes behind a number: of one entrant, on one task and seed; of all where empty."""

    entrant: str = ""
    task: str = ""
    seed: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, in the unit the table shows."""

    estimate: Estimate
    digits: int = 1
    signed: bool = False
    published: bool = False
    """Published numbers have no interval."""
    marked: bool = False
    source: Source | None = None
    """Whose episodes it was computed from."""

    @property
    def is_known(self) -> bool:
        return not isnan(self.estimate.mean)

    @property
    def point(self) -> bool:
        """Whether all observations were equal, so that their spread is unknown."""
        return not self.published and self.estimate.n > 0 and self.estimate.low == self.estimate.high

    @property
    def mean(self) -> str:
        return self._text(self.estimate.mean, self.signed)

    @property
    def number(self) -> str:
        return self.mean + (MARK if self.marked else "")

    @property
    def interval(self) -> str:
        if self.published or not self.is_known:
            return ""
        if isnan(self.estimate.low):
            return f"[n = {self.estimate.n}]"
        if self.point:
            return f"[{self.estimate.n} equal]"
        low, high = self._text(self.estimate.low, self.signed), self._text(self.estimate.high, self.signed)
        return f"[{low}, {high}]"

    def __str__(self) -> str:
        return f"{self.number} {self.interval}".rstrip()

    def _text(self, number: float, signed: bool) -> str:
        if isnan(number):
            return NOTHING
        if number in (float("inf"), float("-inf")):
            return "∞" if number > 0 else "-∞"
        text = f"{number:+.{self.digits}f}" if signed else f"{number:.{self.digits}f}"
        return text.lstrip("+-") if not float(text) else text


Entry = str | Value


@dataclass(frozen=True)
class Column:
    """A heading, its unit, and whether the column has numbers."""

    name: str
    unit: str = ""
    numbers: bool = True

    @staticmethod
    def texts(*names: str) -> list[Column]:
        """Columns without numbers."""
        return [Column(name, numbers=False) for name in names]


@dataclass(frozen=True)
class TableRow:
    kind: RowKind
    entries: Sequence[Entry]
    source: Source | None = None
    """Of its numbers that have none themselves."""


@dataclass(frozen=True)
class Table:
    """A table with a title, and below it what it shows, what is doubtful, and what its signs mean."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    legend: Sequence[str] = ()


def split(table: Table) -> list[Table]:
    """A wide table in parts: one for each family of tasks, as in `perceive/chess`, or for some columns.

    Rows that are empty in a part are left out of it. Notes, warnings and legend are below the last part.
    """
    if len(table.columns) <= MAX_COLUMNS:
        return [table]
    parts = []
    for family, group in groupby(
        range(1, len(table.columns)), lambda i: table.columns[i].name.rpartition("/")[0]
    ):
        indices = list(group)
        starts = range(0, len(indices), CHUNK)
        parts += [_part(table, family, indices[start : start + CHUNK]) for start in starts]
    return notes_below_last(parts)


def _part(table: Table, family: str, indices: Sequence[int]) -> Table:
    part = select(table, [0], indices)
    columns = [replace(column, name=column.name.removeprefix(f"{family}/")) for column in part.columns]
    return replace(part, title=f"{table.title}: {family}" if family else table.title, columns=columns)


def select(table: Table, names: Sequence[int], numbers: Sequence[int]) -> Table:
    """The columns that name rows and some columns of numbers, without rows that are empty in these."""
    places = [*names, *numbers]
    rows = [
        replace(row, entries=[row.entries[place] for place in places])
        for row in table.rows
        if any(row.entries[place] != NOTHING for place in numbers)
    ]
    return replace(table, columns=[table.columns[place] for place in places], rows=rows)


def notes_below_last(parts: Sequence[Table]) -> list[Table]:
    return [*(replace(part, notes=(), warnings=(), legend=()) for part in parts[:-1]), parts[-1]]


WIDTH = 160
LABEL, HEADING, NAME = 40, 18, 24
"""Most characters in a line of the name of an entrant, as a row and as a heading, and of a task as a row."""
GAP = 3

_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "∞": r"$\infty$",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "<": r"$<$", ">": r"$>$", "|": r"$|$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def plain(tables: Sequence[Table], width: int = WIDTH) -> str:
    """Tables for a terminal, intervals below their means.

    A table of entrants x tasks that is too wide becomes tasks x entrants; what is still too wide is divided
    into several tables with the same rows.
    """
    return "\n".join(_plain_table(table, width) for table in tables)


@dataclass(frozen=True)
class _Grid:
    """The fields of a table as lines of text; the first row is the heading."""

    rows: Sequence[Sequence[str]]
    names: int
    """Columns that name a row: they are in every part, aligned left."""
    right: Sequence[bool]

    @property
    def widths(self) -> list[int]:
        return [
            max(len(line) for entry in column for line in entry.split("\n")) + GAP
            for column in zip(*self.rows, strict=True)
        ]

    def transposed(self) -> _Grid:
        first, *rows = zip(*self.rows, strict=True)
        heading = [first[0], *("\n".join(wrap(label, HEADING)) for label in first[1:])]
        body = [["\n".join(wrap_lines(row[0].split("\n"), NAME)), *row[1:]] for row in rows]
        return _Grid([heading, *body], 1, [False, *[True] * (len(heading) - 1)])

    def parts(self, width: int) -> list[_Grid]:
        """Parts no wider than this, if their names are not."""
        widths, names = self.widths, range(self.names)
        parts: list[list[int]] = [[]]
        for index in range(self.names, len(widths)):
            if parts[-1] and sum(widths[i] for i in (*names, *parts[-1], index)) > width:
                parts.append([])
            parts[-1].append(index)
        return [self._columns([*names, *indices]) for indices in parts]

    def _columns(self, indices: Sequence[int]) -> _Grid:
        rows = [[row[i] for i in indices] for row in self.rows]
        return _Grid(rows, self.names, [self.right[i] for i in indices])


def _grid(table: Table) -> _Grid:
    names = next((index for index, column in enumerate(table.columns) if column.numbers), 1)
    heading = ["\n".join(filter(None, (one_line(c.name), one_line(c.unit)))) for c in table.columns]
    rows = [
        ["\n".join(wrap(text, LABEL)) if index < names else text for index, text in enumerate(texts)]
        for texts in ([_plain_entry(entry) for entry in row.entries] for row in table.rows)
    ]
    return _Grid([heading, *rows], names, [column.numbers for column in table.columns])


def _plain_table(table: Table, width: int) -> str:
    grid = _grid(table)
    if grid.names == 1 and sum(grid.widths) > width:
        grid = grid.transposed()
    below = [*table.notes, *(f"Warning: {warning}" for warning in table.warnings), " ".join(table.legend)]
    lines = wrap_lines(below, width)
    return "\n".join([one_line(table.title), *(_draw(part, width) for part in grid.parts(width)), *lines, ""])


def wrap_lines(texts: Sequence[str], width: int) -> list[str]:
    """Lines no longer than this, unless a word is."""
    return [
        line
        for text in texts
        for line in wrap(one_line(text), width, break_on_hyphens=False, break_long_words=False)
    ]


def _draw(grid: _Grid, width: int) -> str:
    """The grid with a line below its heading, as Rich draws it, in a hundredth of the time."""
    rows = [[entry.split("\n") for entry in row] for row in grid.rows]
    columns = [[line for entry in column for line in entry] for column in zip(*rows, strict=True)]
    widths = [max(map(len, lines)) for lines in columns]
    plain_text = all(line.isprintable() and _is_narrow(line) for lines in columns for line in lines)
    if not plain_text or 0 in widths or sum(widths) + GAP * (len(widths) - 1) + 2 > width:
        return _folded(grid, width)
    high = max(map(len, rows[0]))
    rows[0] = [[""] * (high - len(lines)) + lines for lines in rows[0]]  # headings stand on the line
    text_lines = [""]
    for row in rows:
        for lines in zip_longest(*row, fillvalue=""):
            shaped = (
                line.rstrip().rjust(size) if right else line.ljust(size)
                for line, size, right in zip(lines, widths, grid.right, strict=True)
            )
            text_lines.append((" " + (" " * GAP).join(shaped)).rstrip())
        if row is rows[0]:
            text_lines.append(" " + "─" * (sum(widths) + GAP * (len(widths) - 1)))
    return "\n".join([*text_lines, ""])


def _is_narrow(text: str) -> bool:
    """Whether every character is as wide as a letter."""
    from rich.cells import cell_len

    return text.isascii() or cell_len(text) == len(text)


def _folded(grid: _Grid, width: int) -> str:
    """The grid as Rich draws it: it breaks what is wider than the terminal, and measures wide characters."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, right in zip(grid.rows[0], grid.right, strict=True):
        rich_table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in grid.rows[1:]:
        rich_table.add_row(*row)
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None,
        force_jupyter=False,  # in a notebook, Rich would display the table instead of writing it
    )
    console.print(rich_table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _plain_entry(entry: Entry) -> str:
    if isinstance(entry, Value):
        return "\n".join(filter(None, (entry.number, entry.interval)))
    return one_line(entry)


def markdown(tables: Sequence[Table]) -> str:
    return "\n".join(map(_markdown_table, tables))


def _markdown_table(table: Table) -> str:
    heads = [f"{c.name} ({c.unit})" if c.unit else c.name for c in table.columns]
    rules = ["---:" if column.numbers else "---" for column in table.columns]
    rows = [[markdown_escape(str(entry)) for entry in row.entries] for row in table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (map(markdown_escape, heads), rules, *rows)]
    notes = [f"- {markdown_escape(note)}" for note in table.notes]
    notes += [f"- **Warning:** {markdown_escape(warning)}" for warning in table.warnings]
    folded = [markdown_escape(line) for line in table.legend]
    legend = ["", "<details><summary>Legend</summary>", "", *folded, "", "</details>"] if folded else []
    below = [*(["", *notes] if notes else []), *legend]
    return "\n".join([f"## {markdown_escape(table.title)}", "", *lines, *below, ""])


def markdown_escape(text: str) -> str:
    escaped = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)


def latex(tables: Sequence[Table]) -> str:
    begin = r"\begin{table}"
    return "\n".join(map(_latex_table, tables)).replace(begin, rf"{begin} % needs \usepackage{{booktabs}}", 1)


def _latex_table(table: Table) -> str:
    spec = "".join("r" if column.numbers else "l" for column in table.columns)
    heads = " & ".join(latex_escape(column.name) for column in table.columns)
    units = " & ".join(rf"{{\scriptsize {latex_escape(c.unit)}}}" if c.unit else "" for c in table.columns)
    rows: list[str] = []
    for number, row in enumerate(table.rows):
        if number and row.kind in ("reference", "published") and table.rows[number - 1].kind != row.kind:
            rows.append(r"\midrule")
        rows.append(" & ".join(map(_latex_entry, row.entries)) + r" \\")
    caption = latex_escape(" ".join([f"{table.title}.", *table.legend[:1]]))
    # Not in the caption, which is one paragraph and is repeated in the list of tables.
    below = [*table.notes, *(f"Warning: {warning}" for warning in table.warnings), *table.legend[1:]]
    notes = [rf"{{\footnotesize {latex_escape(note)}\par}}" for note in below]
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
    mark = r"^{\dagger}" if entry.marked else ""
    number = f"${entry.mean}{mark}$".replace("∞", r"\infty ") if entry.is_known else "--"
    interval = rf" {{\scriptsize {latex_escape(entry.interval)}}}" if entry.interval else ""
    return number + interval


def latex_escape(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in one_line(text))
