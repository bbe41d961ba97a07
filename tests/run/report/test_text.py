"""Tables for a terminal: transposed where they are too wide, divided where that is not enough, never cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.run.report.table import (
    Column,
    Table,
    TableRow,
    Value,
    _draw,
    _folded,
    _Grid,
    latex,
    markdown,
    plain,
)
from ludens.run.stats import Estimate, exactly
from tests.support.latex import compiled

TASKS = ("tic_tac_toe", "breakthrough", "coin_dilemma", "perceive", "wire")


def table(*entrants: str, marked: bool = False) -> Table:
    columns = [Column("entrant", numbers=False), *(Column(task, "won %") for task in TASKS)]
    value = Value(Estimate(83.3, 43.6, 97.0, 6, 1.0), marked=marked)
    rows = [TableRow("ours", [entrant, *[value] * len(TASKS)]) for entrant in entrants]
    notes, warnings, legend = ["a: above."], ["a: below."], ["Brackets.", "Signs."]
    return Table("suite", columns, rows, notes, warnings, legend)


def lines(made: Table, width: int) -> list[str]:
    text = plain([made], width).splitlines()
    assert max(map(len, text)) <= width
    return text


def test_a_table_that_fits_has_a_row_for_each_entrant() -> None:
    text = lines(table("one", "two"), 120)
    assert all(task in text[2] for task in TASKS)
    assert [line.split()[:2] for line in text if "83.3" in line] == [["one", "83.3"], ["two", "83.3"]]


def test_a_table_that_does_not_fit_has_a_row_for_each_task() -> None:
    text = lines(table("one", "two"), 80)
    assert text[2].split() == ["entrant", "one", "two"]
    assert [line.split() for line in text if "83.3" in line] == [[task, "83.3", "83.3"] for task in TASKS]
    assert [line.split()[:2] for line in text if "[" in line] == [["won", "%"]] * len(TASKS)


def test_many_entrants_are_divided_with_all_tasks_in_every_part() -> None:
    names = [f"model-{number}" for number in range(9)]
    text = lines(table(*names), 80)
    heads = [line.split()[1:] for line in text if line.split()[:1] == ["entrant"]]
    assert [name for head in heads for name in head] == names
    assert sum("wire" in line for line in text) == len(heads) == 3


ENTRIES = st.sampled_from(("", "a", "0.5\n[0.1, 0.9]", "–", "12.5†", " b ", "x\n\ny", "名", "\t", "🙂"))


@given(st.lists(st.tuples(ENTRIES, ENTRIES, ENTRIES), min_size=1, max_size=4), st.sampled_from((12, 80)))
def test_tables_look_as_rich_draws_them(rows: Sequence[Sequence[str]], width: int) -> None:
    grid = _Grid(rows, 1, [False, True, False])
    assert _draw(grid, width) == _folded(grid, width)


def test_long_names_are_wrapped() -> None:
    text = lines(table("Qwen2.5-VL-7B-Instruct (published: VS-Bench, tables 1 and 2)", "short"), 80)
    head = " ".join(word for line in text[2:7] for word in line.split() if word not in ("entrant", "short"))
    assert head == "Qwen2.5-VL-7B- Instruct (published: VS- Bench, tables 1 and 2)"


def test_below_a_table_are_sentences_then_warnings_then_the_legend() -> None:
    assert plain([table("one")], 160).splitlines()[-3:] == [
        "a: above.",
        "Warning: a: below.",
        "Brackets. Signs.",
    ]
    page = markdown([table("one")])
    places = [
        page.index(text) for text in ("| one", "a: above", "**Warning:** a: below", "<details>", "Signs")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("mean", [83.3, -0.5, float("inf")])
def test_marks_are_latex_that_compiles(mean: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    marked = Value(exactly(mean), marked=True)
    row = TableRow("ours", ["nano\N{DOUBLE DAGGER} & <co>_1 [50%] ^~{}#$\\", *[marked] * len(TASKS)])
    made = Table(
        "suite", table("one").columns, [row], ["\N{DAGGER}: 5 < 6 | 7."], ["doubt."], ["Brackets.", "Signs."]
    )
    text = latex([made])
    assert r"^{\dagger}$ " in text
    assert "\N{DAGGER}" not in text
    compiled(text, tmp_path_factory.mktemp("latex"))
