"""Wide tables in parts: nothing is lost, families of tasks stay together."""

from __future__ import annotations

from ludens.run.report.parted import CHUNK, WIDE, parted
from ludens.run.report.tables import NOTHING, Column, Line, Table


def wide(*names: str) -> Table:
    columns = [Column("entrant", numbers=False), *map(Column, names)]
    ours = Line("ours", ["a", *(f"a{n}" for n in range(len(names)))])
    theirs = Line("published", ["b", "b0", *[NOTHING] * (len(names) - 1)])
    return Table("suite", columns, [ours, theirs], ["a note"])


def test_a_table_that_fits_stays_as_it_is() -> None:
    table = wide(*(f"x/{n}" for n in range(WIDE - 1)))
    assert parted(table) == [table]


def test_families_become_tables() -> None:
    names = [f"see/{n}" for n in range(6)] + [f"play/{n}" for n in range(6)] + ["void", "blind"]
    see, play, rest = parted(wide(*names))
    assert [part.title for part in (see, play, rest)] == ["suite: see", "suite: play", "suite"]
    assert [column.name for column in see.columns] == ["entrant", *map(str, range(6))]
    assert [line.entries for line in play.lines] == [["a", *(f"a{n}" for n in range(6, 12))]]
    assert [line.entries[:2] for line in see.lines] == [["a", "a0"], ["b", "b0"]]
    assert (see.notes, rest.notes) == ((), ["a note"])


def test_without_families_columns_go_by_the_dozen() -> None:
    parts = parted(wide(*(f"task{n}" for n in range(20))))
    assert [len(part.columns) - 1 for part in parts] == [CHUNK, CHUNK, 4]
    assert [e for part in parts for e in part.lines[0].entries[1:]] == [f"a{n}" for n in range(20)]
