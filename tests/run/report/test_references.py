"""Reference scores in reports: rows, lines, marks, data and warnings."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from ludens.run.references import (
    BLIND,
    DEAF,
    UPPER,
    Kind,
    Score,
    TaskReferences,
    definition,
    read_references,
    write_references,
)
from ludens.run.report import render
from ludens.run.report.charts import bar_charts, radar_chart
from ludens.run.report.data import result_rows
from ludens.run.report.references import ReferenceScores, evidence, sentences, warnings
from ludens.run.report.table import NOTHING, Value
from ludens.run.report.tables import further, scores
from ludens.run.results import Results, Row, SuiteResults
from ludens.run.stats import Estimate, rate
from tests.support.reported import SUITE


def _score(kind: Kind, metric: str, mean: float) -> Score:
    return Score(kind, metric, f"bot/{kind}", mean, mean - 0.01, mean + 0.01, 400, 0.005)


@pytest.fixture(scope="session")
def referenced(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of the session, with references for all tasks: the guesser sees nothing, the seer all."""
    file = tmp_path_factory.mktemp("references") / "references.toml"
    levels = {"turns": (0.99, 1.0), "see": (0.2, 1.0), "duel": (0.5, 0.75)}
    measured = {}
    for task in SUITE.tasks:
        blind, upper = levels[task.name]
        made = [
            one
            for metric in task.metrics
            for one in (_score("blind", metric.name, blind), _score("upper", metric.name, upper))
        ]
        measured[definition(task)] = TaskReferences("reported", task.name, task.game, 2, 400, tuple(made))
    write_references(file, measured)
    [found] = results.suites
    return replace(results, suites=(replace(found, suite=replace(found.suite, references=file)),))


@pytest.fixture(scope="session")
def found(referenced: Results) -> SuiteResults:
    [only] = referenced.suites
    return only


def test_rows_stand_between_ours_and_published(found: SuiteResults) -> None:
    rows = scores(found).rows
    kinds = [row.kind for row in rows]
    assert kinds[-3:] == ["reference", "reference", "published"]
    assert [row.entries[0] for row in rows[-3:-1]] == [BLIND, UPPER]
    # Percent; percent; normalised between -1 and 1; the mean of the three.
    assert [str(entry).split()[0] for entry in rows[-3].entries[1:5]] == ["99.0", "20.0", "75.0", "64.7"]


def test_who_is_told_what_matters_is_compared_with_who_does_not_listen(found: SuiteResults) -> None:
    told = replace(found, suite=replace(found.suite, deaf=True))
    table = scores(told)
    assert [row.entries[0] for row in table.rows if row.kind == "reference"] == [DEAF, UPPER]
    assert any(f"the {DEAF}, the best player that never listens" in line for line in table.legend)
    assert all(f"not significantly above the {DEAF} on see" in line for line in warnings(told))
    assert {line.label for chart in bar_charts(told, ()) for line in chart.lines} == {DEAF, UPPER}


def test_a_cue_has_a_row_of_its_own(found: SuiteResults, tmp_path: Path) -> None:
    """Named by the cue, between baseline and upper bound, empty where a task has no such cue."""
    task = SUITE.tasks[0]
    known = found.suite.references
    assert known is not None
    measured = dict(read_references(known))
    own = measured[definition(task)]
    cue = replace(_score("cue", task.metrics[0].name, 0.3), player="types present")
    measured[definition(task)] = replace(own, scores=(*own.scores, cue))
    file = tmp_path / "cues.toml"
    write_references(file, measured)
    table = scores(replace(found, suite=replace(found.suite, references=file)))
    rows = [row.entries for row in table.rows if row.kind == "reference"]
    assert [row[0] for row in rows] == [BLIND, "types present", UPPER]
    assert isinstance(rows[1][1], Value)
    assert rows[1][2] == NOTHING
    assert any("types present" in line for line in table.legend)
    assert "types present" not in str(scores(found).rows)


def test_tasks_that_need_no_sight_are_marked(found: SuiteResults, tmp_path: Path) -> None:
    """Half of the way from chance to the upper bound; where nobody guesses, from the worst value if there is
    one."""
    table = scores(found)
    assert [column.name for column in table.columns[1:4]] == ["turns°", "see", "duel"]
    assert any(line.startswith("°") and "more than half" in line for line in table.legend)
    assert found.suite.references is not None
    measured = {
        key: replace(one, scores=(*one.scores, *(_score("chance", s.metric, 0.2) for s in one.scores[:1])))
        for key, one in read_references(found.suite.references).items()
    }
    file = tmp_path / "chances.toml"
    write_references(file, measured)
    guessed = scores(replace(found, suite=replace(found.suite, references=file)))
    assert [column.name for column in guessed.columns[1:4]] == ["turns°", "see", "duel°"]


def test_scores_not_above_the_baseline_are_marked(found: SuiteResults) -> None:
    rows = {str(row.entries[0]): row.entries for row in scores(found).rows}
    marked = {
        name: [isinstance(entry, Value) and entry.marked for entry in entries[1:4]]
        for name, entries in rows.items()
    }
    assert marked["seer"] == [True, False, True]
    assert marked["guesser (memory all)"] == [True, True, True]
    # Bots, blind controls and the references themselves are what others are compared with.
    assert not any(marked["random"] + marked["seer, blind (blind)"] + marked[BLIND])
    assert rows["seer"][-1] == "1 of 3"


def test_one_line_of_warning_an_entrant(found: SuiteResults, referenced: Results) -> None:
    """Tasks with fewer than six seeds, `turns` and `duel`, are not in it: they cannot show anything."""
    below = "not significantly above the blind baseline on see"
    assert warnings(found) == [
        f"guesser (memory all): {below}; not significantly better with pictures than blind on see.",
        f"rude (memory last): {below}.",
    ]
    assert evidence(found)[0] == (
        "guesser (memory all) on see: exact 0 is not above 20 of bot/blind, the blind baseline."
    )
    text = render(referenced, "table").decode()
    assert text.count("Warning: ") == 2
    page = render(referenced, "html").decode()
    assert page.index("<table>") < page.index("guesser (memory all): not") < page.index("is not above 20 of")


def test_many_tasks_are_counted_in_a_warning(found: SuiteResults) -> None:
    row = next(row for row in found.rows if row.name == "guesser")
    cell = row.cells["see"]
    names = [f"see{number}" for number in range(9)]
    cells = {name: replace(cell, task=replace(cell.task, name=name)) for name in names}
    tasks = {name: one.task for name, one in cells.items()}
    many = replace(found, tasks=tasks, rows=(replace(row, cells=cells),))
    [warning] = warnings(many)
    assert "blind on see0, see1, see2, see3 and 5 more tasks." in warning


def test_one_sentence_a_model(found: SuiteResults) -> None:
    """After the table and before the warnings; not about bots and blind controls."""
    seer, guesser, rude = sentences(found)
    assert seer.startswith("seer: overall ")
    assert "significantly above the blind baseline on 1 of 3 tasks" in seer
    assert "significantly better with pictures than blind on 1 of 2 tasks" in seer
    assert "2 tasks have fewer than 6 seeds" in seer
    assert (guesser.split(":")[0], rude.split(":")[0]) == ("guesser (memory all)", "rude (memory last)")
    assert "blind on" not in rude
    assert scores(found).notes[:3] == [seer, guesser, rude]


def test_rows_of_others_stand_only_where_somebody_played_with_the_same_players(found: SuiteResults) -> None:
    """Another opponent in `turns`: neither the paper's number nor the references are beside it."""

    def moved(row: Row) -> Row:
        cell = row.cells["turns"]
        other = replace(cell.task, seatings=({"x": "MODEL", "o": "bot/minimax"},))
        return replace(row, cells={**row.cells, "turns": replace(cell, task=other)})

    some = replace(found, rows=(moved(found.rows[0]), *found.rows[1:]))
    assert scores(some).rows[-3:] == scores(found).rows[-3:]
    every = replace(found, rows=tuple(map(moved, found.rows)))
    kinds = {row.kind: row.entries for row in scores(every).rows[-3:]}
    assert set(kinds) == {"reference", "published"}
    assert all(entries[1] == NOTHING != entries[2] for entries in kinds.values())
    # The number over all tasks contains that of `turns`.
    assert kinds["published"][4] == NOTHING
    data = [row for row in result_rows(every) if row.origin not in ("ours", "reference")]
    assert {row.task for row in data} == {"see", "duel"}
    charts = {chart.title: [bar.kind for bar in chart.bars] for chart in bar_charts(every, ())}
    assert "published" not in charts["turns: won %"]
    assert "published" in charts["see: exact %"]


def test_another_seating_is_not_compared(found: SuiteResults) -> None:
    row = next(row for row in found.rows if row.name == "seer")
    cell = row.cells["turns"]
    other = replace(cell, task=replace(cell.task, seatings=({"x": "MODEL", "o": "bot/minimax"},)))
    metric = cell.task.metrics[0]
    assert ReferenceScores(found).above(cell, metric) is False
    assert ReferenceScores(found).above(other, metric) is None


def test_references_are_explained_where_there_are_some(found: SuiteResults) -> None:
    """Of the tasks that were played: another task of the suite may be measured."""
    assert any(line.startswith("†") for line in scores(found).legend)
    measured = dict(read_references(file) if (file := found.suite.references) else {})
    del measured[definition(found.tasks["see"])]
    played = {"see": found.tasks["see"]}
    rows = tuple(replace(row, cells={k: v for k, v in row.cells.items() if k == "see"}) for row in found.rows)
    assert file is not None
    other = file.with_name("others.toml")
    write_references(other, measured)
    few = replace(found, suite=replace(found.suite, references=other), tasks=played, rows=rows)
    assert not any(line.startswith("†") for line in scores(few).legend)


def test_a_score_that_is_not_known_is_not_compared(found: SuiteResults) -> None:
    """Some metrics need all questions, such as the exploitability of a policy."""
    cell = next(row for row in found.rows if row.name == "seer").cells["turns"]
    metric = cell.task.metrics[0]
    unknown = replace(cell, metrics={**cell.metrics, metric.name: Estimate(nan, nan, nan, 4, nan)})
    assert ReferenceScores(found).above(unknown, metric) is None


def test_lower_can_be_better(found: SuiteResults) -> None:
    cell = next(row for row in found.rows if row.name == "seer").cells["turns"]
    metric = replace(cell.task.metrics[0], higher_is_better=False)
    few = replace(cell, metrics={**cell.metrics, metric.name: rate(1, 8)})
    assert ReferenceScores(found).above(few, metric) is True
    assert ReferenceScores(found).above(few, cell.task.metrics[0]) is False


def test_charts_have_lines(found: SuiteResults) -> None:
    chart = next(chart for chart in bar_charts(found, ()) if chart.title.startswith("duel"))
    assert [(line.label, line.value, line.style) for line in chart.lines] == [
        (BLIND, 75.0, "baseline"),
        (UPPER, 87.5, "bound"),
    ]
    assert "blind baseline 75.0" in chart.description
    radar = radar_chart(found)
    assert radar is not None
    assert [ring.label for ring in radar.rings if ring.color is None] == [BLIND, UPPER]


def test_further_metrics_have_references(found: SuiteResults) -> None:
    table = further(found)
    assert table is not None
    rows = [row.entries for row in table.rows if row.kind == "reference"]
    assert [BLIND, "turns", "return", "0.99 [0.98, 1.00]"] in [[str(e) for e in entries] for entries in rows]


def test_data_says_what_is_a_reference(referenced: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(render(referenced, "csv").decode())))
    [blind] = [r for r in rows if (r["origin"], r["entrant"], r["task"]) == ("reference", BLIND, "see")]
    assert (blind["spec"], blind["mean"], blind["episodes"]) == ("bot/blind", "0.2", "400")
    [seer] = [r for r in rows if (r["entrant"], r["task"]) == ("seer", "see")]
    assert (seer["baseline_mean"], seer["above_baseline"]) == ("0.2", "True")
    data = json.loads(render(referenced, "json"))["suites"][0]
    assert {row["metric"] for row in data["rows"] if row["entrant"] == UPPER and row["task"] == "duel"} == {
        "return",
        "normalised",
    }


@pytest.mark.parametrize("format", ["table", "md", "latex"])
def test_texts_have_both_rows(referenced: Results, format: str) -> None:
    text = render(referenced, format).decode()
    assert BLIND in text
    assert UPPER in text


def test_a_suite_without_a_file_has_no_rows(suite: SuiteResults, tmp_path: Path) -> None:
    assert "reference" not in {row.kind for row in scores(suite).rows}
    absent = replace(suite, suite=replace(suite.suite, references=tmp_path / "absent.toml"))
    assert ReferenceScores(absent).tasks == {}
