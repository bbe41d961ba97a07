"""What holds for every suite that is shipped: tasks can be played, and metrics can be told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ludens
from ludens.agents import agent
from ludens.run.references import definition, read_references, references_of
from ludens.run.task import MODEL, RIVAL, suite
from ludens.suites import CATALOGUE, TASKS_IN_OPTIONS


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_task_fits_its_game(name: str) -> None:
    for task in suite(name).tasks:
        game = ludens.make(task.game)
        for seating in task.seatings:
            assert set(seating) == set(game.seats)
            for who in seating.values():
                if who not in (MODEL, RIVAL):
                    agent(who, game)


@pytest.mark.parametrize("name", CATALOGUE)
def test_names_are_given_once(name: str) -> None:
    whole = suite(name)
    tasks = [task.name for task in whole.tasks]
    assert len(set(tasks)) == len(tasks)
    for task in whole.tasks:
        metrics = [metric.name for metric in task.metrics]
        assert len(set(metrics)) == len(metrics)
        assert set(task.radar) <= set(metrics)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in TASKS_IN_OPTIONS])
def test_every_task_has_reference_scores(name: str) -> None:
    """Scores belong to the definition of a task: one that has changed has none until it is measured again."""
    whole = suite(name)
    missing = {task.name for task in whole.tasks} - references_of(whole, whole.tasks).keys()
    assert not missing, "run `ludens baselines --all --write`"


def test_all_reference_scores_belong_to_a_task() -> None:
    """`ludens baselines --all --write` removes those of tasks that have changed or are no more."""
    suites = [suite(name) for name in CATALOGUE]
    known = {definition(task) for whole in suites for task in whole.tasks}
    files = {whole.references for whole in suites if whole.references is not None}
    stored = {key: one for file in files if file.is_file() for key, one in read_references(file).items()}
    stale = {f"{one.suite}: {one.task}" for key, one in stored.items() if key not in known}
    assert not stale, "run `ludens baselines --all --write`"


def test_blind_players_were_searched_for_wherever_the_docs_do_not_say_otherwise() -> None:
    page = (Path(__file__).parents[2] / "docs" / "blind-players.md").read_text(encoding="utf-8")
    listed = page.partition("## What was searched")[2].partition("\n## ")[0]
    named = {
        line.split("`")[1]: set(re.findall(r"`([^`]+)`", line)[1:])
        for line in listed.splitlines()
        if line.startswith("- ")
    }
    left: dict[str, set[str]] = {}
    for name in (name for name in CATALOGUE if name not in TASKS_IN_OPTIONS):
        whole = suite(name)
        for one in references_of(whole, whole.tasks).values():
            if not one.searched:
                left.setdefault(one.suite, set()).add(one.task)
    assert left == named
