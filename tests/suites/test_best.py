"""`bot/best` plays every task of every suite, so that one command shows the optimum row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ludens.agents import BEST, agent
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.loop import play
from ludens.run.references import definition
from ludens.run.task import MODEL, RIVAL, SUITES, Task, suite

STEPS = {"chess": 1, "pong": 20, "breakthrough": 2, "gomoku": 6, "reversi": 8}
"""Where an episode would take long, it is played for this many steps only."""
SLOW = {"vs-bench/predict?game=breakthrough"}


def _tasks() -> dict[str, Task]:
    """Every definition of a task once."""
    found: dict[str, tuple[str, Task]] = {}
    for name in SUITES.names():
        for task in suite(name).tasks:
            found.setdefault(definition(task), (f"{name}: {task.name}", task))
    return dict(found.values())


TASKS = _tasks()


@pytest.mark.parametrize(
    "task",
    [pytest.param(t, id=n, marks=[pytest.mark.slow] if t.game in SLOW else []) for n, t in TASKS.items()],
)
def test_the_best_bot_plays(task: Task) -> None:
    game = make(task.game)
    config = replace(task.config, horizon=STEPS.get(game.name, 30))
    for seating in task.seatings:
        agents = {seat: agent(BEST if who in (MODEL, RIVAL) else who, game) for seat, who in seating.items()}
        episode = run_sync(play(game, agents, task.first_seed, config=config))
        own = [seat for seat, who in seating.items() if who == MODEL]
        assert episode.status in ("done", "horizon"), episode.error
        assert all(move.verdict == "ok" for move in episode.moves if move.seat in own)


def test_there_are_tasks_of_all_suites() -> None:
    assert {name.partition(":")[0] for name in TASKS} >= {"comma", "demo", "playground", "vs-bench"}
