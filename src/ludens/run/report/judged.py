"""How often judges found which errors in the conversations of each entrant."""

from __future__ import annotations

from typing import Any

from ludens.run.labels import LabelCounts, count_labels
from ludens.run.report.table import NOTHING, Column, Entry, Table, TableRow
from ludens.run.results import SuiteResults

NORMAL = "normal"


def judged_table(found: SuiteResults) -> Table | None:
    """One row per entrant and judge; None where nothing was judged."""
    counts = [(row, mine) for row in found.rows for mine in count_labels(row)]
    if not counts:
        return None
    labels = _labels(found, [mine for _, mine in counts])
    columns = [Column("entrant", numbers=False), Column("judge", numbers=False), Column("judged")]
    rows = [
        TableRow(
            "ours", [row.label, mine.judge, str(mine.judged), *(_entry(mine, label) for label in labels)]
        )
        for row, mine in counts
    ]
    notes = [
        "Conversations with each label, and their share of the judged ones; several labels are possible."
    ]
    if failed := sum(mine.unjudged for _, mine in counts):
        notes.append(f"No verdict on {failed:,}: `ludens judge` tries them again.")
    return Table("Errors found by judges", [*columns, *map(Column, labels)], rows, notes)


def judged_data(found: SuiteResults) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {"entrant": row.name, "judge": mine.judge, "judged": mine.judged, "unjudged": mine.unjudged,
         "labels": dict(mine.labels)}
        for row in found.rows
        for mine in count_labels(row)
    ]  # fmt: skip


def _labels(found: SuiteResults, counts: list[LabelCounts]) -> list[str]:
    """The suite's labels, then others that occur; `normal` last."""
    others = sorted({label for mine in counts for label in mine.labels} - set(found.suite.labels))
    return sorted([*found.suite.labels, *others], key=lambda label: label == NORMAL)


def _entry(mine: LabelCounts, label: str) -> Entry:
    number = mine.labels.get(label, 0)
    return f"{number} ({100 * number / mine.judged:.1f}%)" if mine.judged else NOTHING
