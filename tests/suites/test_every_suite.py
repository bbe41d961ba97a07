"""What holds for every suite that is shipped: tasks can be played, and metrics can be told apart."""

from __future__ import annotations

import pytest

import ludens
from ludens.agents import agent
from ludens.run.task import MODEL, suite
from ludens.suites import CATALOGUE


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_task_fits_its_game(name: str) -> None:
    for task in suite(name).tasks:
        game = ludens.make(task.game)
        for seating in task.seatings:
            assert set(seating) == set(game.seats)
            for who in seating.values():
                if who != MODEL:
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
