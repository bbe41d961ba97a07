"""Measuring many tasks: one that fails does not lose the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ludens.core.processes import WorkerDied
from ludens.run import baselines, search
from ludens.run.references import TaskReferences
from ludens.run.task import MODEL, EpisodeResult, Task, mean_of, suite

DEMO = {"demo": suite("demo")}


def test_a_bug_in_one_game_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def measure(name: str, task: Task, episodes: int) -> TaskReferences:
        if task.name == "perceive":
            raise ZeroDivisionError("division by zero")
        return TaskReferences(name, task.name, task.game, 1, episodes, ())

    monkeypatch.setattr(search, "measure", measure)
    wanted = baselines.orders(DEMO, ["perceive", "keypad"], 4, tmp_path / "none.toml")
    found = {order.task: result for order, result in search.measure_all(wanted, 1)}
    assert found["perceive"] == "ZeroDivisionError: division by zero"
    assert isinstance(found["keypad"], TaskReferences)


def test_a_process_that_ended_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*args: object, **options: object) -> Iterator[tuple[baselines.BaselineOrder, str]]:
        yield wanted[0], "known"
        raise WorkerDied("a worker process died")

    wanted = [baselines.BaselineOrder(name, "demo", name, 1, None) for name in ("one", "two")]
    monkeypatch.setattr(baselines, "run_in_processes", dies)
    (first, known), (second, reason) = search.measure_all(wanted, 2)
    assert (first, known, second) == (wanted[0], "known", wanted[1])
    assert isinstance(reason, str)
    assert "run the command again" in reason


def test_a_definition_of_several_suites_is_measured_once() -> None:
    both = {name: suite(name) for name in ("playground-mini", "playground")}
    [order] = baselines.orders(both, ["qa/chess"])
    assert (order.task, order.episodes) == ("qa/chess", 400)


def test_a_metric_may_say_nothing_about_guesses() -> None:
    def fair(result: EpisodeResult) -> float | None:
        return None if result.episode.seats["x"] in ("bot/random", "bot/guess") else 1.0

    task = Task("ttt", "tic_tac_toe", ({"x": MODEL, "o": "bot/first"},), 2, (mean_of("fair", fair),))
    found = baselines.measure("own", task, 2)
    assert {score.kind for score in found.scores} == {"blind", "upper"}
