"""Wide tables in parts: nothing is lost, families of tasks stay together."""

from __future__ import annotations

from ludens.run.report.table import CHUNK, MAX_COLUMNS, NOTHING, Column, Table, TableRow, split


def wide(*names: str) -> Table:
    columns = [Column("entrant", numbers=False), *map(Column, names)]
    ours = TableRow("ours", ["a", *(f"a{n}" for n in range(len(names)))])
    theirs = TableRow("published", ["b", "b0", *[NOTHING] * (len(names) - 1)])
    return Table("suite", columns, [ours, theirs], ["a note"])


def test_a_narrow_table_is_not_split() -> None:
    table = wide(*(f"x/{n}" for n in range(MAX_COLUMNS - 1)))
    assert split(table) == [table]


def test_each_family_is_a_table() -> None:
    names = [f"see/{n}" for n in range(6)] + [f"play/{n}" for n in range(6)] + ["void", "blind"]
    see, play, rest = split(wide(*names))
    assert [part.title for part in (see, play, rest)] == ["suite: see", "suite: play", "suite"]
    assert [column.name for column in see.columns] == ["entrant", *map(str, range(6))]
    assert [row.entries for row in play.rows] == [["a", *(f"a{n}" for n in range(6, 12))]]
    assert [row.entries[:2] for row in see.rows] == [["a", "a0"], ["b", "b0"]]
    assert (see.notes, rest.notes) == ((), ["a note"])


def test_without_families_tables_have_a_fixed_number_of_columns() -> None:
    parts = split(wide(*(f"task{n}" for n in range(20))))
    assert [len(part.columns) - 1 for part in parts] == [CHUNK, CHUNK, 4]
    assert [e for part in parts for e in part.rows[0].entries[1:]] == [f"a{n}" for n in range(20)]
