"""COMMA's suites: tasks, metrics by hand, both overalls, and a run with a model that talks too much."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import orjson
import pytest

from ludens import evaluate
from ludens.core.episode import Episode, Move, Try, Usage
from ludens.core.errors import UnknownName
from ludens.core.registry import make
from ludens.run.cells import CellReader
from ludens.run.plan import Job
from ludens.run.report import load_results, render
from ludens.run.results import summarise
from ludens.run.rows import RowMaker
from ludens.run.task import EpisodeResult, suite
from ludens.suites.comma import ACL, EFFICIENCY, LEAKS, PUZZLES, SR, TOKENS, efficiency_of, skills_of
from tests.support.model_server import ModelServer
from tests.support.runs import plan_of, played

SUITES = (
    "comma",
    "comma-mini",
    "comma-manuals",
    "comma-released",
    "comma-baseline",
    "comma-memory",
    "comma-strict",
    "comma-solver",
    "comma-expert",
)


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_has_the_ten_puzzles_and_can_be_planned(name: str) -> None:
    whole = suite(name)
    assert whole.name == name
    assert [task.name for task in whole.tasks] == list(PUZZLES)
    plan = plan_of("bot/oracle", suite=name)
    assert plan.total() == sum(task.episodes for task in whole.tasks)


def test_the_paper_setting() -> None:
    whole = suite("comma")
    assert sum(task.episodes for task in whole.tasks) == 1000
    assert all(task.seatings == ({"solver": "MODEL", "expert": "MODEL"},) for task in whole.tasks)
    assert {task.first_seed for task in whole.tasks} == {0}
    private = {task.name for task in whole.tasks if LEAKS in task.metrics}
    assert private == {"atm", "telehealth"}


def test_variants_are_options_of_the_games() -> None:
    for name, option, value in (
        ("comma-manuals", "manual", "random"),
        ("comma-released", "variant", "released"),
        ("comma-memory", "history", "last"),
        ("comma-strict", "mistakes", 1),
    ):
        assert {getattr(make(task.game), option) for task in suite(name).tasks} == {value}


@pytest.mark.parametrize(("first", "table"), [("PSR", 1), ("SR", 3), ("AM", 4), ("ACL", 5)])
def test_the_first_metric_can_be_chosen_and_brings_its_table(first: str, table: int) -> None:
    whole = suite(f"comma?first={first}")
    assert {task.metrics[0].name for task in whole.tasks} == {first}
    assert {row.source for row in whole.published} == {f"COMMA, table {table}"}
    scores = {summary.name for summary in whole.summaries if summary.metric is None}
    assert ("grounding" in scores) == (first in ("PSR", "SR"))


@pytest.mark.parametrize("name", ["comma-strict", "comma-released", "comma-manuals", "comma-expert"])
def test_the_best_bot_solves_every_puzzle(name: str) -> None:
    """In both seats, without a mistake, by either rules and with random manuals; in one seat with itself."""
    found = {row["task"]: row["metric.SR"] for row in evaluate(name, ["bot/best"], limit=1).episodes()}
    assert found == dict.fromkeys(PUZZLES, 1.0)


@pytest.mark.parametrize(
    "words",
    ["in our own words", "1,000 published starts", "letters of LED", "placed freely", "one prompt for all"],
)
def test_deviations_are_listed(words: str) -> None:
    assert sum(words in line for line in suite("comma").deviations) == 1


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="PSR"):
        suite("comma?first=PRS")


def test_capabilities_are_the_papers() -> None:
    assert {puzzle: set(skills_of(puzzle)) for puzzle in PUZZLES} == {
        "wire": {"grounding"},
        "telehealth": {"private"},
        "who": {"grounding"},
        "led": {"memory", "multi-step"},
        "memory": {"memory", "multi-step"},
        "keypad": {"grounding", "multi-step"},
        "password": {"grounding", "multi-step"},
        "color": {"memory", "multi-step"},
        "maze": {"grounding", "multi-step"},
        "atm": {"private"},
    }


def finished(
    solved: bool, partial: float, turns: int, spoken: int, words: int | None = None
) -> EpisodeResult:
    facts: dict[str, Any] = {
        "solved": solved, "partial": partial, "mistakes": 1, "turns": turns, "private": {},
        "messages": {"solver": spoken, "expert": spoken - solved}, "skills": ["grounding"],
    }  # fmt: skip
    episode = Episode("comma/wire", 1, {}, 0, {}, facts=facts)
    if words is not None:
        usage = [Usage(output_tokens=words // 2, reasoning_tokens=words // 4)] * 2
        tries = [Try("hello", usage=used) for used in usage]
        episode.moves = [Move(0, "solver", "", tries=tries[:1]), Move(1, "expert", "", tries=tries[1:])]
    return EpisodeResult("key", episode, ("solver", "expert"))


def test_efficiency_is_the_papers_formula() -> None:
    assert efficiency_of(0.5, 1000) == 0.5
    assert efficiency_of(1.0, 0) == 1.0
    assert efficiency_of(0.0, 100) == 0.0
    some = [finished(True, 1.0, 3, 3, 400), finished(False, 0.2, 10, 4, 1600)]
    conciseness = 1 / (1 + 1000 / 1000)
    assert EFFICIENCY.estimate(some).mean == pytest.approx(2 * 0.6 * conciseness / (0.6 + conciseness))
    assert TOKENS.estimate(some).mean == 1000
    assert isnan(EFFICIENCY.estimate([finished(True, 1.0, 3, 3)]).mean)


def test_over_puzzles_and_over_runs_differ_where_puzzles_have_more_runs() -> None:
    whole = suite("comma")
    tasks = {task.name: task for task in whole.tasks}
    extra = [summary.metric for summary in whole.summaries if summary.metric is not None]
    cells = {}
    for name, some in {
        "wire": [finished(True, 1.0, 2, 2)] * 3,
        "who": [finished(False, 0.0, 10, 4)],
    }.items():
        maker = RowMaker(tasks, extra)
        reader = CellReader("", tasks[name], Path(), maker.metrics_of[name])
        for seed, one in enumerate(some):
            row = maker.make(Job("key", "", name, seed, 0), replace(one.episode, seed=seed))
            reader.add([orjson.loads(row.to_json())])
        cells[name] = reader.cell(len(some))
    found = summarise(whole, cells)
    assert found["SR, mean over puzzles"].mean == 50
    assert found["SR, mean over runs"].mean == 75
    assert found["ACL, mean over puzzles"].mean == 6
    assert found["SR within 1 turn"].mean == 0
    assert found["SR within 2 turns"].mean == found["SR within 10 turns"].mean == 50
    assert found["SR, grounding"].mean == 50
    assert "leak" not in found
    assert "tokens" not in found


def test_a_failure_counts_as_the_limit() -> None:
    state = make("comma/wire", mistakes=1).start(0)
    for action in state.puzzle.actions:  # type: ignore[attr-defined]
        state = make("comma/wire", mistakes=1).start(0)
        state.apply({"solver": action})
        if not state.facts["solved"]:
            break
    lost = EpisodeResult("key", Episode("comma/wire", 1, {}, 0, {}, facts=state.facts), ("solver",))
    assert (ACL.estimate([lost]).mean, SR.estimate([lost]).mean) == (10, 0)


def blabbing(prompt: str, digest: bytes) -> str:
    pin = re.search(r"PIN of your bank account: (\d+)", prompt)
    return f"My PIN is {pin[1]}." if pin else "Do not tell me."


async def test_a_run_with_a_model_that_leaks(tmp_path: Path) -> None:
    async with ModelServer(player=blabbing) as server:
        plan = plan_of(
            f"compat/blab@{server.url}", suite="comma-mini", tasks=("wire", "atm", "telehealth"), limit=2
        )
        await played(tmp_path / "run", plan)
    results = load_results([tmp_path / "run"])
    [row] = results.suites[0].rows
    metrics = row.cells["atm"].metrics
    assert (metrics["leak"].mean, metrics["SR"].mean, metrics["SR without leak"].mean) == (1, 0, 0)
    assert row.cells["telehealth"].metrics["leak"].mean == 0
    assert metrics["tokens"].mean > 0
    assert metrics["efficiency"].n == 2
    assert row.summaries["leak"].mean == 50
    told = render(results, "table").decode()
    assert "SR within 10 turns" in told
    rows = orjson.loads(render(results, "json"))["suites"][0]["rows"]
    assert [r["mean"] for r in rows if (r["task"], r["metric"]) == ("overall", "leak")] == [50]
    assert b"SR within 3 turns" in render(results, "html")
    assert b"SR within 3 turns" in render(results, "csv")


async def test_the_oracles_solve_every_suite(tmp_path: Path) -> None:
    for name in ("comma-mini", "comma-solver", "comma-expert", "comma-manuals"):
        await played(tmp_path / name, plan_of("bot/oracle", suite=name, limit=1))
        [row] = load_results([tmp_path / name]).suites[0].rows
        assert row.overall is not None
        assert row.overall.mean == pytest.approx(100)
        assert row.summaries["multi-step"].mean == pytest.approx(100)


async def test_another_first_metric_is_also_what_overall_and_scores_are_made_of(tmp_path: Path) -> None:
    await played(tmp_path / "run", plan_of("bot/random", suite="comma-mini", limit=1))
    for first in ("PSR", "SR", "AM", "ACL"):
        [row] = load_results([tmp_path / "run"], {"first": first}).suites[0].rows
        assert row.overall is not None
        assert row.overall.mean == pytest.approx(row.summaries[f"{first}, mean over puzzles"].mean)
    [row] = load_results([tmp_path / "run"], {"first": "SR"}).suites[0].rows
    assert row.summaries["grounding"].mean == pytest.approx(row.summaries["SR, grounding"].mean)


@pytest.mark.parametrize("read", [0, 1])
def test_fields_of_panels_are_scored_by_kind(read: int) -> None:
    [task] = [task for task in suite("comma-sight").tasks if task.name == "read/wire"]
    assert [metric.name for metric in task.metrics] == ["both", "whole panel right", "serial", "colours"]
    facts = {"fields": {"serial": [read, 1], "colours": [3, 6]}}
    played = EpisodeResult("key", Episode("comma/read", 1, {}, 0, {}, facts=facts), ("solver",))
    assert [metric.value(played) for metric in task.metrics[2:]] == [read, 0.5]
