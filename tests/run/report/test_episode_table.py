"""One row per episode: complete, typed, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import orjson
import pytest

from ludens.run.lines import read_records
from ludens.run.report import render
from ludens.run.report.data import METRIC, csv_bytes, episode_rows, episode_types
from ludens.run.results import Results, SuiteResults
from tests.support.reported import ENTRANTS


def test_there_is_one_row_for_every_episode(results: Results, folder: Path) -> None:
    rows, records = list(episode_rows(results)), read_records(folder)
    assert [row["key"] for row in rows] == [record.key for record in records]
    for row, record in zip(rows, records, strict=True):
        assert list(row) == list(episode_types(results))
        episode = record.episode
        assert (row["entrant"], row["spec"]) == (record.entrant, ENTRANTS[record.entrant])
        assert (row["seed"], row["status"], row["error"]) == (episode.seed, episode.status, episode.error)
        seats = row["seats"].split(";")
        assert row["moves"] == sum(m.seat in seats for m in (*episode.moves, *episode.unfinished))
        assert row["input_tokens"] == sum(episode.usage(seat).input_tokens for seat in seats)
        if episode.status == "void":
            assert row["returns"] is None
            assert all(value is None for name, value in row.items() if name.startswith(METRIC))
        else:
            assert orjson.loads(row["returns"]) == episode.returns
    assert sum(row["status"] == "void" for row in rows) == 1


def test_the_rows_have_the_values_that_results_are_computed_from(
    results: Results, suite: SuiteResults
) -> None:
    for row in suite.rows:
        mine = [
            one
            for one in episode_rows(results)
            if (one["entrant"], one["task"]) == (row.name, "turns") and one["status"] != "void"
        ]
        cell = row.cells["turns"]
        assert sum(one["metric.won"] for one in mine) / len(mine) == cell.metrics["won"].mean
        assert sum(one["fallbacks"] for one in mine) == cell.reply_stats.fallbacks
        assert sum(one["retried"] for one in mine) == cell.reply_stats.retried
        assert all(one["metric.exact"] is None for one in mine)


def test_csv_and_parquet_have_the_same_rows(results: Results) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    rows = list(episode_rows(results))
    table = pq.read_table(io.BytesIO(render(results, "episodes-parquet")))
    assert table.to_pylist() == rows
    assert str(table.schema.field("fallbacks").type) == "int64"
    assert str(table.schema.field("metric.won").type) == "double"
    read = list(csv.DictReader(io.StringIO(render(results, "episodes-csv").decode())))
    assert len(read) == len(rows)
    assert read[0]["key"] == rows[0]["key"]
    assert read[0]["style"] == (rows[0]["style"] or "")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+cmd", "'+cmd"),
        ("-cmd|x", "'-cmd|x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("-1.5", "-1.5"),
        ("+3", "+3"),
        ("a=b", "a=b"),
        (-1.5, "-1.5"),
        (None, ""),
    ],
)
def test_formulas_are_escaped_in_csv(text: object, written: str) -> None:
    [row] = csv.DictReader(io.StringIO(csv_bytes({"a": str, "=b": str}, [{"a": text, "=b": 1}]).decode()))
    assert row == {"a": written, "'=b": "1"}
