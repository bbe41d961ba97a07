"""`ludens baselines`: measured once, stored, shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.run.references import read_references
from tests.cli.conftest import Run


def test_it_measures_and_stores(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ("baselines", "demo", "--tasks", "perceive,wire", "--episodes", "8", "--workers", "1")
    ran = ludens(*words, "--out", str(file))
    assert (ran.code, "measuring 2 tasks" in ran.err) == (0, True)
    for word in ("chance", "blind baseline", "upper bound", "bot/oracle", "100.0"):
        assert word in ran.out
    assert {one.task for one in read_references(file).values()} == {"perceive", "wire"}
    again = ludens(*words, "--out", str(file), "--json")
    assert "measuring" not in again.err
    assert {one["task"]: one["episodes"] for one in json.loads(again.out)} == {"perceive": 8, "wire": 8}
    few = ludens("baselines", "demo", "--tasks", "perceive,wire", "--out", str(file), "--json")
    assert (few.code, "measuring" in few.err) == (0, False)
    more = ludens("baselines", "demo", "--tasks", "wire", "--episodes", "9", "--out", str(file), "--json")
    assert [one["episodes"] for one in json.loads(more.out)] == [9]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name the suites to measure, or give --all"),
        (("demo", "--all"), "name the suites to measure, or give --all"),
        (("demo", "--tasks", "perceiv"), "did you mean 'perceive'"),
        (("tests.support.reported:SUITE", "--write"), "names no file"),
    ],
)
def test_wrong_words(ludens: Run, words: tuple[str, ...], said: str) -> None:
    ran = ludens("baselines", *words)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.slow
def test_a_suite_of_the_user_is_measured_in_processes(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    suite = "tests.support.reported:SUITE"
    ran = ludens(
        "baselines", suite, "--tasks", "see,turns", "--episodes", "6", "--workers", "2", "--out", str(file)
    )
    assert ran.code == 0, ran.err
    assert {one.suite for one in read_references(file).values()} == {suite}
