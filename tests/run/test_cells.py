"""Rows become columns: what a cell says does not depend on how many rows are added at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.episode import Usage
from ludens.run.cells import Cell, CellReader
from ludens.run.index import RowDict
from ludens.run.rows import EpisodeRow
from ludens.run.stats import exactly
from ludens.run.task import MODEL, Metric, Task, groups_of, own_return

NUMBER = Metric("number", own_return, lambda seen: exactly(sum(value for _, value in seen)))
TEXT = Metric("text", str, lambda seen: exactly(len(seen)), paired=False)
TASK = Task("t", "tic_tac_toe", ({"x": MODEL, "o": "bot/random"},), 100, (NUMBER, TEXT))
PLAIN = {"key": "", "entrant": "a", "task": "t", "seating": 0}
MEASURED = EpisodeRow("", "a", "t", 4, 0, values=[2.0, {"a": 1 + 2j}], labels={"text": {("b", "c"): 2}})
ROWS: list[RowDict] = [
    {**PLAIN, "seed": 3, "moves": 2, "values": [1.0, "10"], "cluster": "u", "usage": [5, 4, 3, 2, 1, 0.5]},
    {**PLAIN, "seed": 1, "sample": 1, "values": [None, {"tuple": [1]}], "labels": {"text": [["b", "c", 1]]}},
    {**PLAIN, "seed": 9, "status": "void", "error": "broken", "moves": 9, "usage": [1, 1, 1, 1, 1, None]},
    {**PLAIN, "seed": 1, "status": "horizon", "values": [{"float": "inf"}, None], "cluster": "u"},
    {**PLAIN, "seed": 4, "measured": MEASURED, "cluster": "w", "shard": "episodes/b.jsonl", "offset": 7},
    {**PLAIN, "seed": 0, "status": "void", "other_usage": [1, 0, 0, 0, 1, None]},
    {**PLAIN, "seed": 2, "fallbacks": 1, "moves": 3, "values": [-1.0, "10"], "remarks": ["odd"]},
]


def cell_of(*groups: list[RowDict]) -> Cell:
    reader = CellReader("a", TASK, Path(), TASK.metrics)
    for rows in groups:
        reader.add(rows)
    return reader.cell(100)


def told(cell: Cell) -> list[Any]:
    table = cell.episodes
    counted = [*table.rows(), *cell.voided, cell.voids, cell.reply_stats, cell.usage, cell.other_usage]
    shared = [table.groups(), table.clusters(), table.repeats]
    return [*counted, cell.remarks, cell.labels, cell.metrics, *shared]


def test_rows_are_columns() -> None:
    cell = cell_of(ROWS)
    rows = list(cell.episodes.rows())
    assert [(row.seed, row.sample, row.status) for row in rows] == [
        (1, 0, "horizon"), (1, 1, "done"), (2, 0, "done"), (3, 0, "done"), (4, 0, "done"),
    ]  # fmt: skip
    inf = float("inf")
    assert [row.values for row in rows] == [
        (inf, None), (None, (1,)), (-1.0, "10"), (1.0, "10"), (2.0, {"a": 1 + 2j}),
    ]  # fmt: skip
    assert [row.cluster for row in rows] == ["u", "", "", "u", "w"]
    assert (rows[4].shard, rows[4].offset, rows[2].fallbacks) == ("episodes/b.jsonl", 7, 1)
    assert cell.voids == {"broken": 1, "unknown reason": 1}
    assert [row.seed for row in cell.voided] == [9, 0]
    assert (cell.reply_stats.moves, cell.reply_stats.fallbacks) == (5, 1)
    assert (cell.usage, cell.other_usage) == (Usage(6, 5, 4, 3, 2, 0.5), Usage(1, calls=1))
    assert (cell.remarks, cell.labels) == ({"odd"}, {"text": {("b", "c"): 3}})
    assert (cell.episodes.groups(), cell.episodes.clusters()) == (["u", 1, 2, "u", 4], {1: "u", 3: "u"})
    assert cell.episodes.repeats


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_it_does_not_matter_how_many_rows_are_added_at_once(size: int) -> None:
    groups = [ROWS[start : start + size] for start in range(0, len(ROWS), size)]
    assert told(cell_of(*groups)) == told(cell_of(ROWS))


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": None}, {"seed": "1"}, {"seed": 1 << 63}, {"status": "unknown"}, {"values": [1.0]},
        {"values": [1.0, "", 1.0]}, {"values": ["1", ""]}, {"moves": "x"}, {"cluster": []}, {"shard": {}},
        {"offset": 0.5}, {"usage": [1] * 9},
    ],
)  # fmt: skip
def test_wrong_rows_are_not_added(wrong: RowDict) -> None:
    good = {**PLAIN, "seed": 3, "values": [1.0, "10"]}
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError, OverflowError)):
        cell_of([good, {**good, **wrong}])


@given(st.lists(st.tuples(st.integers(-3, 5), st.sampled_from(["", "", "u", "v", "w"]))))
def test_groups_are_the_clusters_that_several_seeds_have(pairs: list[tuple[int, str]]) -> None:
    rows = [
        {**PLAIN, "seed": seed, "sample": number, "values": [1.0, ""], **({"cluster": name} if name else {})}
        for number, (seed, name) in enumerate(pairs)
    ]
    cell = cell_of(*([rows] if rows else []))
    ordered = sorted(pairs, key=lambda pair: pair[0])
    expected = groups_of([seed for seed, _ in ordered], [name for _, name in ordered])
    assert cell.episodes.groups() == expected
    assert cell.episodes.repeats == any(isinstance(group, str) for group in expected)


def test_a_row_that_lacks_its_seed_is_wrong() -> None:
    with pytest.raises(KeyError):
        cell_of([{**PLAIN, "values": [1.0, ""]}])
