"""The paper's tables as data: whole, and in agreement with the overalls that are printed beside them."""

from __future__ import annotations

import pytest

from ludens.suites.comma import PUZZLES, published

ODD = {
    "PSR": {"human, expert: GPT-4o", "o4-mini", "R1-OneVision", "InternVL"},
    "SR": {"human, expert: GPT-4o", "o4-mini", "InternVL"},
    "AM": {"human, expert: GPT-4o", "o4-mini", "R1-OneVision", "LLaVA-CoT", "InternVL"},
    "ACL": {"human, expert: GPT-4o", "o4-mini", "InternVL"},
    "memory": {"GPT-4o, no memory"},
}
"""Rows whose overall is not the mean of their puzzles, or that lack puzzles."""
ROUNDING = {"PSR": 0.5, "SR": 0.05, "AM": 0.011, "ACL": 0.011, "memory": 0.5}
LEFT_OUT = {"o4-mini", "R1-OneVision", "LLaVA-CoT"}


@pytest.mark.parametrize("table", ODD)
def test_overalls_are_the_means_of_their_rows(table: str) -> None:
    rows = published(table)
    assert len(rows) == (2 if table == "memory" else 12)
    differing = set()
    for row in rows:
        values = [row.values[puzzle] for puzzle in PUZZLES if puzzle in row.values]
        if abs(sum(values) / len(PUZZLES) - row.values["overall"]) > ROUNDING[table]:
            differing.add(row.model)
    assert differing == ODD[table]


@pytest.mark.parametrize("table", ODD)
def test_only_what_cannot_be_told_apart_is_missing(table: str) -> None:
    for row in published(table):
        missing = set(PUZZLES) - set(row.values)
        assert missing == ({"memory", "keypad"} if table == "AM" and row.model in LEFT_OUT else set())


@pytest.mark.parametrize(("model", "both"), [("R1-OneVision", 2.67 + 2.68), ("LLaVA-CoT", 2.87 + 2.59)])
def test_the_two_left_out_fit_together(model: str, both: float) -> None:
    [row] = [row for row in published("AM") if row.model == model]
    known = sum(row.values[puzzle] for puzzle in PUZZLES if puzzle in row.values)
    assert (known + both) / len(PUZZLES) == pytest.approx(row.values["overall"], abs=0.011)


def test_numbers_are_in_their_bounds() -> None:
    for table, most in (("PSR", 100), ("SR", 100), ("AM", 3), ("ACL", 10)):
        assert all(0 <= value <= most for row in published(table) for value in row.values.values())
    partial = {row.model: row.values for row in published("PSR")}
    odd = [
        (row.model, puzzle)
        for row in published("SR")
        for puzzle in PUZZLES
        if row.values[puzzle] > partial[row.model][puzzle]
    ]
    assert odd == [("human, expert: GPT-4o", "maze"), ("Random", "maze")]  # as printed, and impossible
