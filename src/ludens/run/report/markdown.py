"""Tables as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ludens.core.plain import one_line
from ludens.run.report.tables import Entry, Table

_SPECIAL = re.compile(r"([\\`*_\[\]|~])")


def markdown(tables: Sequence[Table]) -> str:
    """All tables, each under a heading, with their notes below."""
    return "\n".join(_table(table) for table in tables)


def _table(table: Table) -> str:
    heads = [
        escaped(" ".join(filter(None, (c.name, f"({c.unit})" if c.unit else "")))) for c in table.columns
    ]
    rules = ["---:" if column.numbers else "---" for column in table.columns]
    lines = [[_entry(entry) for entry in line.entries] for line in table.lines]
    rows = [f"| {' | '.join(cells)} |" for cells in (heads, rules, *lines)]
    notes = [f"- {escaped(note)}" for note in table.notes]
    return "\n".join([f"## {escaped(table.title)}", "", *rows, *(["", *notes] if notes else []), ""])


def _entry(entry: Entry) -> str:
    return escaped(str(entry))


def escaped(text: str) -> str:
    """The text as Markdown that shows it letter by letter."""
    plain = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain)
