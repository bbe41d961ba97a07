r"""Tables for a paper: `\usepackage{booktabs}` is all they need."""

from __future__ import annotations

from collections.abc import Sequence

from ludens.core.plain import one_line
from ludens.run.report.tables import Entry, Table, Value

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "∞": r"$\infty$",
    "<": r"$<$", ">": r"$>$", "|": r"$|$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def latex(tables: Sequence[Table]) -> str:
    """One floating table each."""
    return "\n".join(_table(table) for table in tables)


def _table(table: Table) -> str:
    spec = "".join("r" if column.numbers else "l" for column in table.columns)
    heads = " & ".join(escaped(column.name) for column in table.columns)
    units = " & ".join(rf"{{\scriptsize {escaped(c.unit)}}}" if c.unit else "" for c in table.columns)
    rows: list[str] = []
    for number, line in enumerate(table.lines):
        if line.kind == "published" and number and table.lines[number - 1].kind != "published":
            rows.append(r"\midrule")
        rows.append(" & ".join(map(_entry, line.entries)) + r" \\")
    first, rest = table.notes[:1], table.notes[1:]
    caption = escaped(" ".join([f"{table.title}.", *first]))
    # Warnings can be many, and a caption is one paragraph that also stands in the list of tables.
    below = [r"\par\smallskip", *(rf"{{\footnotesize {escaped(note)}\par}}" for note in rest)] if rest else []
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule", rf"{heads} \\", *([rf"{units} \\"] if any(c.unit for c in table.columns) else []),
            r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", *below, r"\end{table}", "",
        ]
    )  # fmt: skip


def _entry(entry: Entry) -> str:
    if not isinstance(entry, Value):
        return escaped(entry)
    number = f"${entry.number}$" if entry.known else "--"
    return number.replace("∞", r"\infty") + (
        rf" {{\scriptsize {escaped(entry.interval)}}}" if entry.interval else ""
    )


def escaped(text: str) -> str:
    """The text as LaTeX that prints it letter by letter."""
    return "".join(_ESCAPES.get(c, c) for c in one_line(text))
