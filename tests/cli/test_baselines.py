"""`ludens baselines`: measured once, stored, shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from ludens.run import baselines
from ludens.run.baselines import BaselineOrder
from ludens.run.references import TaskReferences, read_references
from ludens.run.task import suite
from ludens.suites import CATALOGUE, TASKS_IN_OPTIONS
from tests.cli.conftest import Run


def test_it_measures_and_stores(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ("baselines", "demo", "--tasks", "perceive,keypad", "--episodes", "8", "--workers", "1")
    ran = ludens(*words, "--out", str(file))
    assert (ran.code, "measuring 2 tasks" in ran.err) == (0, True)
    for word in ("chance", "blind baseline", "upper bound", "bot/oracle", "100.0"):
        assert word in ran.out
    assert {one.task for one in read_references(file).values()} == {"perceive", "keypad"}
    again = ludens(*words, "--out", str(file), "--json")
    assert "measuring" not in again.err
    assert {one["task"]: one["episodes"] for one in json.loads(again.out)} == {"perceive": 8, "keypad": 8}
    few = ludens("baselines", "demo", "--tasks", "perceive,keypad", "--out", str(file), "--json")
    assert (few.code, "measuring" in few.err) == (0, False)
    more = ludens("baselines", "demo", "--tasks", "keypad", "--episodes", "9", "--out", str(file), "--json")
    assert [one["episodes"] for one in json.loads(more.out)] == [9]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name the suites to measure, or give --all"),
        (("demo", "--all"), "name the suites to measure, or give --all"),
        (("demo", "--budget", "5"), "--budget is for --search"),
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


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in TASKS_IN_OPTIONS])
def test_every_suite_is_shown(ludens: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those whose tasks are stored under the name of another suite that shares them."""

    def nothing(
        wanted: Sequence[BaselineOrder], workers: int
    ) -> Iterator[tuple[BaselineOrder, TaskReferences]]:
        for order in wanted:
            yield order, TaskReferences("another", "name", "", 1, order.episodes, ())

    monkeypatch.setattr(import_module("ludens.cli.baselines"), "measure_all", nothing)
    monkeypatch.setattr(baselines, "default_episodes", lambda task: 1)
    ran = ludens("baselines", name)
    assert ran.code == 0, ran.err
    for task in suite(name).tasks:
        assert task.name in ran.out


def test_it_searches_and_stores(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ("baselines", "demo", "--tasks", "tic_tac_toe", "--episodes", "4", "--workers", "1")
    words = (*words, "--out", str(file), "--search", "--budget", "12")
    ran = ludens(*words)
    assert ran.code == 0, ran.err
    for word in ("script: replay of bot/best", "belief", "seeds of the task", "fitted with a budget of 12"):
        assert word in ran.out
    assert "tic_tac_toe: script: hill-climbed" in ran.err
    [known] = read_references(file).values()
    assert known.searched == 12
    again = ludens(*words, "--json")
    assert (again.code, "searching" in again.err) == (0, False)
    assert json.loads(again.out)[0]["searched"] == 12
    more = ludens(*words[:-1], "13", "--json")
    assert "searching 1 task" in more.err
    measured = ludens(*words[:-3], "--again", "--json")
    assert "measuring 1 task" in measured.err
    assert json.loads(measured.out)[0]["searched"] == 13
