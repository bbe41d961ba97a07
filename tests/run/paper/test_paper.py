"""What papers say: departures from the suite, tables that fit a page, charts, BibTeX."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ludens.run.paper import KEY, MOST_COLUMNS, bibliography, chart_data, content, departures, fitted, keys_of
from ludens.run.report.charts import Bar, BarChart
from ludens.run.report.table import Column, Table, TableRow
from ludens.run.results import Results, SuiteResults, load_results
from ludens.run.task import suite
from ludens.suites import CATALOGUE, TASKS_IN_OPTIONS
from tests.support.reported import make_run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    entrants = {"seer": "fake/seer?style=cot", "blind": "fake/seer?style=cot&blind=true"}
    folder = tmp_path_factory.mktemp("runs") / "first"
    choices = {"limit": 4, "seed": 3, "size": 256, "controls": {"blind": "seer"}}
    return load_results([make_run(folder, entrants, tasks=("see",), **choices)])


def test_every_departure_is_named(results: Results) -> None:
    [found] = results.suites
    text = "\n".join(departures(found, results.plans))
    for part in ("see 4 of 8", "3 was added", "256 pixels", "seer: style cot", "Not played in first: turns"):
        assert part in text
    assert "blind: style" not in text


def test_a_plain_run_departs_in_nothing(tmp_path: Path) -> None:
    from tests.support.reported import SUITE

    folder = make_run(tmp_path / "run", {"best": "bot/best"}, tasks=tuple(task.name for task in SUITE.tasks))
    plain = load_results([folder])
    assert not list(departures(plain.suites[0], plain.plans))


def test_numbers_are_those_of_the_report(results: Results) -> None:
    told = content(results)
    cell = results.suites[0].rows[0].cells["see"]
    first = told["suites"][0]["tables"][0]["rows"][0]["entries"]
    assert first[0]["text"].startswith("seer")
    assert any(entry["text"].startswith(f"{100 * cell.metrics['exact'].mean:.1f}") for entry in first[1:])
    assert told["tasks"][0]["rows"][0]["entries"][5]["text"] == "3 to 6"


def _wide(columns: int, rows: int) -> Table:
    heads = [Column("entrant", numbers=False), *(Column(f"t{n}", "%") for n in range(columns))]
    lines = [TableRow("ours", [f"e{r}", *(f"{r}.{n}" for n in range(columns))]) for r in range(rows)]
    return Table("wide", heads, lines, notes=["note"])


@pytest.mark.parametrize(("columns", "rows"), [(4, 3), (20, 3), (20, 9)])
def test_no_table_is_wider_than_a_page_and_none_loses_a_number(columns: int, rows: int) -> None:
    parts = fitted(_wide(columns, rows))
    assert all(len(part.columns) <= MOST_COLUMNS + 1 for part in parts)
    shown = [entry for part in parts for row in part.rows for entry in row.entries[1:]]
    assert sorted(map(str, shown)) == sorted(f"{r}.{n}" for r in range(rows) for n in range(columns))
    assert [list(part.notes) for part in parts] == [[]] * (len(parts) - 1) + [["note"]]


def test_a_chart_shows_the_best_published_rows_of_either_direction() -> None:
    bars = [Bar(f"m{n}", n, n, n, str(n), 0, "published") for n in range(6)]
    chart = BarChart("t: points", [Bar("ours", 2, 1, 3, "2", 0), *bars], 0, 6)
    assert [bar["label"] for bar in chart_data(chart)["bars"]] == ["ours", "m3", "m4", "m5"]
    chart = replace(chart, title="t: points, lower is better")
    assert [bar["label"] for bar in chart_data(chart)["bars"]] == ["ours", "m0", "m1", "m2"]


def test_every_suite_with_deviations_from_a_paper_cites_it() -> None:
    uncited = {name for name in CATALOGUE if name not in TASKS_IN_OPTIONS and not keys_of(suite(name))}
    assert uncited == {"demo"}


def test_papers_are_cited_once_and_ludens_always() -> None:
    both = tuple(SuiteResults(suite(name), {}, ()) for name in ("comma", "comma-sight", "viki", "demo"))
    text = bibliography(Results({}, both))
    assert text.count("@") == 3
    assert f"{{{KEY}," in text
