"""Plans: which episodes a run plays, and their keys."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.run.plan import Plan, make_plan
from ludens.run.task import MODEL, SUITES, Suite, Task, suite
from tests.support import suites
from tests.support.runs import QUICK, TURNS, plan_of


def test_every_entrant_plays_the_same_seeds_in_every_seating() -> None:
    plan = plan_of("bot/random", "bot/first", suite=TURNS)
    jobs = plan.jobs
    assert len({job.key for job in jobs}) == len(jobs) == plan.total() == 16
    places = {
        name: {(job.seed, job.seating) for job in jobs if job.entrant == name}
        for name in ("bot/random", "bot/first")
    }
    assert (
        places["bot/random"] == places["bot/first"] == {(seed, seat) for seed in range(4) for seat in (0, 1)}
    )


def test_tasks_advance_together() -> None:
    order = [job.task for job in plan_of().jobs]
    assert set(order[:4]) == {"turns", "together", "question", "talk"}
    assert order[-1] == "turns"


@pytest.mark.parametrize(("limit", "count"), [(0, 8), (1, 2), (2, 2), (3, 4), (8, 8), (100, 8)])
def test_limit_keeps_all_seatings_of_a_seed(limit: int, count: int) -> None:
    assert plan_of(suite=TURNS, limit=limit).total() == count


def test_seed_is_added_to_every_episode() -> None:
    seeds = Counter(job.seed for job in plan_of(suite=TURNS, seed=100).jobs)
    assert seeds == dict.fromkeys(range(100, 104), 2)


def test_samples_repeat_every_episode_with_keys_of_their_own() -> None:
    once, plan = plan_of(suite=TURNS, limit=2), plan_of(suite=TURNS, limit=2, samples=3)
    assert plan.total() == len(plan.jobs) == len({job.key for job in plan.jobs}) == 3 * once.total()
    assert plan.count(plan.tasks_by_name["turns"]) == 6
    assert list(plan.jobs)[:2] == list(once.jobs)
    assert [job.key for job in list(plan.jobs)[1:4]] == [
        "bot/random:turns:0:1", "bot/random:turns:0:0:1", "bot/random:turns:0:1:1",
    ]  # fmt: skip
    assert [job.sample for job in plan.jobs] == [0, 0, 1, 1, 2, 2]
    assert plan.identity() != once.identity()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0}, "samples must be 1 to"),
        ({"samples": 10**9}, "samples must be 1 to"),
        ({"limit": -1}, "limit must be at least 0"),
        ({"void_retries": -1}, "void_retries must be at least 0"),
        ({"limit": "2"}, "not valid at limit"),
        ({"seed": 1.0}, "not valid at seed"),
        ({"unknown": 1}, "not valid at unknown"),
    ],
)
def test_invalid_run_json_is_a_usage_error(change: dict[str, object], message: str) -> None:
    fields = {**json.loads(plan_of(suite=TURNS).to_json()), **change}
    with pytest.raises(BadFile, match=message):
        Plan.from_json(json.dumps(fields).encode())


def test_specs_and_seats_of_a_job() -> None:
    plan = plan_of("bot/first", suite=TURNS)
    first, second = list(plan.jobs)[:2]
    assert plan.specs(first) == {"x": "bot/first", "o": "bot/random"}
    assert plan.specs(second) == {"x": "bot/random", "o": "bot/first"}
    assert (plan.seats(first), plan.seats(second)) == (("x",), ("o",))


def test_controls_skip_tasks_that_are_not_blindable() -> None:
    plan = make_plan(QUICK, {"a": "bot/first", "a (blind)": "bot/random"}, controls={"a (blind)": "a"})
    played = {name: {job.task for job in plan.jobs if job.entrant == name} for name in plan.entrants}
    assert played["a"] - played["a (blind)"] == {"talk"}
    assert len(plan.jobs) == plan.total() == 18 + 16


def test_plan_round_trips_through_json() -> None:
    plan = plan_of(tasks=("turns", "talk"), limit=2, seed=3, theme="random", size=256, templates="somewhere")
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.identity() == plan.identity()
    assert list(again.jobs) == list(plan.jobs)
    assert set(again.made_with) == {"python", "ludens", "numpy", "open_spiel", "Pillow"}
    assert again.task_snapshot["turns"]["seatings"][0] == {"x": MODEL, "o": "bot/random"}


def test_identity_ignores_versions_only() -> None:
    plan = plan_of()
    assert replace(plan, made_with={}).identity() == plan.identity()
    for change in ({"seed": 1}, {"limit": 1}, {"theme": "plain"}, {"entrants": {"a": "bot/first"}}):
        assert replace(plan, **change).identity() != plan.identity()


def test_changed_tasks_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(suite=TURNS)
    plan.check_unchanged()
    [task] = suites.TURNS.tasks
    changed = replace(suites.TURNS, tasks=(replace(task, game="tic_tac_toe", episodes=10),))
    monkeypatch.setattr(suites, "TURNS", changed)
    with pytest.raises(BadOption, match=r"task 'turns' .* has changed since this run began"):
        Plan.from_json(plan.to_json()).check_unchanged()


def test_changed_templates_are_detected(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "agent.md").write_text("# system\nPlay well.\n", "utf-8")
    plan = plan_of(f"openai/gpt-4.1?templates={theirs}", suite=TURNS, templates=str(ours))
    assert set(plan.template_hashes) == {str(ours), str(theirs)}
    again = Plan.from_json(plan.to_json())
    again.check_unchanged()
    (theirs / "notes.txt").write_text("Not a template.", "utf-8")
    again.check_unchanged()
    (theirs / "agent.md").write_text("# system\nPlay badly.\n", "utf-8")
    with pytest.raises(BadOption, match=r"the templates in '.*theirs' have changed since this run began"):
        again.check_unchanged()
    other = plan_of(f"openai/gpt-4.1?templates={theirs}", suite=TURNS, templates=str(ours))
    assert other.identity() != plan.identity()


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("dmo", UnknownName, "did you mean 'demo'"),
        ("tests.support.suites:QUICKER", BadFile, "cannot be loaded"),
        ("no.such.module:SUITE", BadFile, "cannot be loaded"),
        (":SUITE", BadFile, "cannot be loaded"),
        ("tests.support.suites:NOT_A_SUITE", BadFile, "neither a Suite nor a SuiteBuilder"),
    ],
)
def test_wrong_suite_is_a_usage_error(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        plan_of(suite=name)


def test_registered_suite_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SUITES, "_added", {})
    SUITES.register("theirs", TURNS)
    assert suite("theirs") is suites.TURNS


def test_wrong_plans_are_usage_errors() -> None:
    with pytest.raises(UnknownName, match="did you mean 'turns'"):
        plan_of(tasks=("turn",))
    with pytest.raises(BadOption, match="at least one --model"):
        make_plan(QUICK, {})
    with pytest.raises(BadOption, match="same key"):
        make_plan("tests.run.test_plan:COLONS", {"a": "bot/first", "a:b": "bot/first"})
    with pytest.raises(BadOption, match=r"\['north'\].*perceive"):
        make_plan("tests.run.test_plan:MISSEATED", {"a": "bot/first"})


def test_wrong_suites_are_usage_errors() -> None:
    task = suites.TURNS.tasks[0]
    with pytest.raises(BadOption, match="two tasks called 'turns'"):
        Suite("x", "", (task, task))
    with pytest.raises(BadOption, match="has no tasks"):
        Suite("x", "", ())
    with pytest.raises(BadOption, match="no seat for the model"):
        Task("x", "tic_tac_toe", ({"x": "bot/first", "o": "bot/first"},), 1)


_ONE = {"viewer": MODEL}
COLONS = Suite("colons", "", (Task("b:c", "perceive", (_ONE,), 1), Task("c", "perceive", (_ONE,), 1)))
MISSEATED = Suite("misseated", "", (Task("x", "perceive", ({"north": MODEL},), 1),))
