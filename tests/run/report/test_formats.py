"""Every format, read back: the numbers are all there, and special characters are escaped."""

from __future__ import annotations

import csv
import io
import re
import sys
from dataclasses import asdict, replace

import orjson
import pytest

from ludens.core.errors import MissingExtra, UnknownName
from ludens.run.report import FORMATS, render, tables_of
from ludens.run.report.data import COLUMNS, result_rows
from ludens.run.report.references import warnings
from ludens.run.report.table import NOTHING, Value, latex_escape, markdown_escape
from ludens.run.report.tables import metric_columns, scores
from ludens.run.results import Results, SuiteResults
from ludens.run.stats import Estimate
from tests.support.reported import ENTRANTS, LABELS

NAN = float("nan")
PUBLISHED = "GPT_0 (published: Some & Body 2024)"


def test_the_scores_are_models_by_tasks_with_published_rows(suite: SuiteResults) -> None:
    table = scores(suite)
    assert [column.name for column in table.columns] == [
        "entrant", "turns", "see", "duel", "overall", "fallback", "void", "blind",
    ]  # fmt: skip
    assert [row.entries[0] for row in table.rows] == [*LABELS, PUBLISHED]
    assert [row.kind for row in table.rows] == [
        "ours",
        "blind",
        "ours",
        "blind",
        "ours",
        "ours",
        "published",
    ]
    seer, published = table.rows[0].entries, table.rows[-1].entries
    assert str(seer[2]) == "100.0 [67.6, 100.0]"
    assert [str(entry) for entry in seer[5:]] == ["0.0", "1", "1 of 2"]
    assert [str(entry) for entry in published[1:]] == ["50.0", "12.5", "31.0", *[NOTHING] * 4]
    assert [row.entries[-1] for row in table.rows[1:6]] == [
        "control", "0 of 2", "control", "no control", NOTHING,
    ]  # fmt: skip


def test_other_metrics_can_be_shown(suite: SuiteResults) -> None:
    assert [s.metric.name for s in metric_columns(suite)] == ["won", "exact", "return"]
    returns = metric_columns(suite, ["return"])
    assert [(s.task.name, s.normalised, s.first) for s in returns] == [
        ("turns", False, False),
        ("duel", True, True),
    ]
    assert len(metric_columns(suite, ["all"])) == 4
    # Published numbers are of the first metric only.
    assert [str(entry) for entry in scores(suite, ["return"]).rows[-1].entries[1:3]] == [NOTHING, "31.0"]
    with pytest.raises(UnknownName, match="did you mean 'exact'"):
        metric_columns(suite, ["exat"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Value(Estimate(50.0, 40.0, 60.0, 9, 1.0)), "50.0 [40.0, 60.0]"),
        (Value(Estimate(0.25, NAN, NAN, 1, NAN), 2), "0.25 [n = 1]"),
        (Value(Estimate(NAN, NAN, NAN, 0, NAN)), NOTHING),
        (Value(Estimate(1.0, 0.5, 1.5, 3, 1.0), 1, signed=True), "+1.0 [+0.5, +1.5]"),
        (Value(Estimate(-0.01, -0.04, 0.01, 3, 1.0), 1, signed=True), "0.0 [0.0, 0.0]"),
        (Value(Estimate(3.0, -float("inf"), float("inf"), 3, 1.0)), "3.0 [-∞, ∞]"),
        (Value(Estimate(3.0, 3.0, 3.0, 0, 0.0), published=True), "3.0"),
        (Value(Estimate(-1.0, -1.0, -1.0, 4, 0.0)), "-1.0 [4 equal]"),
    ],
)
def test_numbers_with_intervals_as_text(value: Value, text: str) -> None:
    assert str(value) == text


def test_a_note_explains_intervals_of_equal_observations(suite: SuiteResults) -> None:
    note = "[n equal]: all n observations were equal, so that their spread is unknown."
    first = suite.rows[0]
    name, cell = next((n, c) for n, c in first.cells.items() if n not in suite.suite.anchors)
    metric = cell.task.metrics[0]
    for high, expected in ((0.5, True), (0.6, False)):
        metrics = {**cell.metrics, metric.name: Estimate(0.5, 0.5, high, 4, 0.0)}
        row = replace(first, cells={name: replace(cell, metrics=metrics)})
        table = scores(replace(suite, rows=(row,)))
        assert (note in table.legend) is expected


def test_a_note_explains_settings_next_to_published_rows(suite: SuiteResults) -> None:
    notes = [line for line in scores(suite).legend if line.startswith("(settings)")]
    assert len(notes) == 1
    plain = replace(suite, rows=tuple(row for row in suite.rows if not row.settings))
    assert not [line for line in scores(plain).legend if "settings" in line]


def test_the_text_table_contains_every_number(results: Results, suite: SuiteResults) -> None:
    text = render(results, "table").decode()
    for row in scores(suite).rows:
        for entry in row.entries:
            for part in [entry] if isinstance(entry, str) else [entry.number, entry.interval]:
                assert part in text
    assert "Warning: guesser (memory all): not significantly better with pictures than blind on see." in text
    assert "\x1b" not in text
    assert max(map(len, render(results, "table", width=100).decode().splitlines()[:20])) <= 100


@pytest.mark.parametrize("width", [80, 100, 132])
def test_a_narrow_terminal_has_the_same_numbers_in_more_tables(
    width: int, results: Results, suite: SuiteResults
) -> None:
    narrow = render(results, "table", width=width).decode()
    assert all(len(line) <= width for line in narrow.splitlines() if "─" in line)
    for row in scores(suite).rows:
        for entry in row.entries:
            if isinstance(entry, Value):
                assert entry.number in narrow
    for column in scores(suite).columns:
        assert column.name in narrow


def test_markdown_is_a_grid_that_shows_the_same(results: Results) -> None:
    found = _markdown_tables(render(results, "md").decode())
    made = tables_of(results)
    assert list(found) == [table.title for table in made]
    for table in made:
        head, *lines = found[table.title]
        assert len(head) == len(table.columns)
        assert lines == [[" ".join(str(entry).split()) for entry in row.entries] for row in table.rows]


def _markdown_tables(text: str) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            title = _unescaped(line[3:])
            found[title] = []
        elif line.startswith("|") and not re.fullmatch(r"[|\- :]+", line):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found[title].append([_unescaped(cell.strip()) for cell in cells])
    return found


def _unescaped(text: str) -> str:
    text = re.sub(r"\\([\\`*_\[\]|~])", r"\1", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_special_characters_are_escaped() -> None:
    assert markdown_escape("a|b_c <i> & `x`\nnew") == r"a\|b\_c &lt;i&gt; &amp; \`x\` new"
    assert latex_escape("50% of $x_1 & {y} # ~ ^ \\") == (
        r"50\% of \$x\_1 \& \{y\} \# \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert markdown_escape("a\u202eb\x1b[31m") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\\[31m"


def test_latex_is_a_booktabs_table_with_as_many_cells_as_columns(
    results: Results, suite: SuiteResults
) -> None:
    text = render(results, "latex").decode()
    for word in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrrrrrrr}", r"\end{table}"):
        assert word in text
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 2 + len(scores(suite).rows)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {7}
    assert r"GPT\_0 (published: Some \& Body 2024)" in body
    # Braces balance, or the rest of a paper would be broken.
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    # Warnings are below the table, not in the caption.
    [caption] = re.findall(r"\\caption\{(.*)\}", text)
    assert caption.endswith(r"Brackets contain 95\% intervals.")
    assert text.partition(r"\end{tabular}")[2].count("Warning: ") == len(warnings(suite)) > 0


def test_csv_has_one_row_for_each_entrant_task_and_metric(results: Results, suite: SuiteResults) -> None:
    read = list(csv.DictReader(io.StringIO(render(results, "csv").decode())))
    assert tuple(read[0]) == COLUMNS
    ours = [row for row in read if row["origin"] == "ours"]
    keys = [(row["entrant"], row["task"], row["metric"]) for row in ours]
    assert len(set(keys)) == len(keys)
    metrics = {
        ("turns", "won"),
        ("turns", "return"),
        ("see", "exact"),
        ("duel", "return"),
        ("duel", "normalised"),
    }
    assert set(keys) == {
        (name, *metric) for name in ENTRANTS for metric in metrics | {("overall", "overall")}
    }
    seer = next(row for row in ours if row["entrant"] == "seer" and row["task"] == "see")
    estimate = suite.rows[0].cells["see"].metrics["exact"]
    assert (float(seer["mean"]), float(seer["low"]), int(seer["n"])) == (1.0, estimate.low, 8)
    assert (seer["percent"], seer["blind_control"], seer["sees"]) == ("True", "seer, blind", "True")
    published = {row["task"]: (row["metric"], float(row["mean"])) for row in read if row["origin"] != "ours"}
    assert published == {"turns": ("won", 0.5), "see": ("exact", 0.125), "duel": ("normalised", 31.0)}


def test_parquet_has_the_same_rows_with_types(results: Results) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(io.BytesIO(render(results, "parquet")))
    assert tuple(table.column_names) == COLUMNS
    assert table.to_pylist() == [asdict(row) for found in results.suites for row in result_rows(found)]
    assert str(table.schema.field("mean").type) == "double"
    assert str(table.schema.field("episodes").type) == "int64"


def test_parquet_without_its_extra_is_an_error(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"ludens\[data\]"):
        render(results, "parquet")


def test_json_has_the_rows_and_everything_else(results: Results, suite: SuiteResults) -> None:
    whole = orjson.loads(render(results, "json"))
    [one] = whole["suites"]
    assert one["rows"] == [asdict(row) for row in result_rows(suite)]
    assert one["voids"] == [
        {"entrant": "seer", "task": "turns", "reason": "the <server> is away", "count": 1}
    ]
    assert [(c["entrant"], c["task"], c["sees"]) for c in one["controls"] if c["sees"]] == [
        ("seer", "see", True)
    ]
    assert [c["entrant"] for c in one["classes"]] == list(ENTRANTS)
    assert one["classes"][0]["accuracy"]["mean"] == 1.0
    episodes = [e for e in one["episodes"] if (e["entrant"], e["task"]) == ("seer", "turns")]
    assert len(episodes) == 8
    assert set(episodes[0]["metrics"]) == {"won", "return"}
    assert len(one["pairs"]) == len(suite.pairs)
    assert one["deviations"] == ["Boards are <small>."]
    assert one["warnings"] == warnings(suite)
    [run] = whole["runs"]
    assert run["plan"]["entrants"] == ENTRANTS


@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("html", "parquet", "episodes-parquet")])
def test_a_report_is_the_same_every_time(format: str, results: Results) -> None:
    assert render(results, format) == render(results, format)


def test_an_unknown_format_is_an_error_with_a_suggestion(results: Results) -> None:
    with pytest.raises(UnknownName, match="did you mean 'html'"):
        render(results, "htm")
