"""What a run will play: every episode once, under a key that never changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.run.plan import Plan, make_plan
from ludens.run.task import MODEL, SUITES, Suite, Task, suite
from tests.support import suites
from tests.support.runs import QUICK, TURNS, plan_of


def test_every_entrant_meets_the_same_seeds_in_every_seating() -> None:
    plan = plan_of("bot/random", "bot/first", suite=TURNS)
    jobs = list(plan.jobs())
    assert len({job.key for job in jobs}) == len(jobs) == plan.total() == 16
    met = {
        name: {(job.seed, job.seating) for job in jobs if job.entrant == name}
        for name in ("bot/random", "bot/first")
    }
    assert met["bot/random"] == met["bot/first"] == {(seed, seat) for seed in range(4) for seat in (0, 1)}


def test_all_tasks_advance_together() -> None:
    order = [job.task for job in plan_of().jobs()]
    assert set(order[:4]) == {"turns", "together", "question", "talk"}
    assert order[-1] == "turns"


@pytest.mark.parametrize(("limit", "count"), [(0, 8), (1, 2), (2, 2), (3, 4), (8, 8), (100, 8)])
def test_a_limit_cuts_no_pair_in_half(limit: int, count: int) -> None:
    assert plan_of(suite=TURNS, limit=limit).total() == count


def test_a_seed_moves_every_episode() -> None:
    seeds = Counter(job.seed for job in plan_of(suite=TURNS, seed=100).jobs())
    assert seeds == dict.fromkeys(range(100, 104), 2)


def test_the_chairs_are_filled() -> None:
    plan = plan_of("bot/first", suite=TURNS)
    first, second = list(plan.jobs())[:2]
    assert plan.specs(first) == {"x": "bot/first", "o": "bot/random"}
    assert plan.specs(second) == {"x": "bot/random", "o": "bot/first"}
    assert (plan.seats(first), plan.seats(second)) == (("x",), ("o",))


def test_controls_leave_out_what_is_not_blindable() -> None:
    plan = make_plan(QUICK, {"a": "bot/first", "a (blind)": "bot/random"}, controls={"a (blind)": "a"})
    played = {name: {job.task for job in plan.jobs() if job.entrant == name} for name in plan.entrants}
    assert played["a"] - played["a (blind)"] == {"talk"}
    assert len(list(plan.jobs())) == plan.total() == 18 + 16


def test_a_plan_survives_its_file() -> None:
    plan = plan_of(tasks=("turns", "talk"), limit=2, seed=3, theme="random", size=256, templates="somewhere")
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.identity() == plan.identity()
    assert list(again.jobs()) == list(plan.jobs())
    assert set(again.made_with) == {"python", "ludens", "numpy", "open_spiel", "Pillow"}
    assert again.task_snapshot["turns"]["seatings"][0] == {"x": MODEL, "o": "bot/random"}


def test_versions_do_not_make_another_run_and_everything_else_does() -> None:
    plan = plan_of()
    assert replace(plan, made_with={}).identity() == plan.identity()
    for change in ({"seed": 1}, {"limit": 1}, {"theme": "plain"}, {"entrants": {"a": "bot/first"}}):
        assert replace(plan, **change).identity() != plan.identity()


def test_tasks_that_changed_since_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(suite=TURNS)
    plan.check_unchanged()
    [task] = suites.TURNS.tasks
    changed = replace(suites.TURNS, tasks=(replace(task, game="tic_tac_toe", episodes=10),))
    monkeypatch.setattr(suites, "TURNS", changed)
    with pytest.raises(BadOption, match=r"task 'turns' .* has changed since this run began"):
        Plan.from_json(plan.to_json()).check_unchanged()


def test_words_that_changed_since_are_refused(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "agent.md").write_text("# system\nPlay well.\n", "utf-8")
    plan = plan_of(f"openai/gpt-4.1?templates={theirs}", suite=TURNS, templates=str(ours))
    assert set(plan.template_hashes) == {str(ours), str(theirs)}
    again = Plan.from_json(plan.to_json())
    again.check_unchanged()
    (theirs / "notes.txt").write_text("Nobody is told this.", "utf-8")
    again.check_unchanged()
    (theirs / "agent.md").write_text("# system\nPlay badly.\n", "utf-8")
    with pytest.raises(BadOption, match=r"the words in '.*theirs' have changed since this run began"):
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
def test_a_suite_that_is_none_is_told(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        plan_of(suite=name)


def test_a_registered_suite_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SUITES, "_added", {})
    SUITES.register("theirs", TURNS)
    assert suite("theirs") is suites.TURNS


def test_wrong_plans_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'turns'"):
        plan_of(tasks=("turn",))
    with pytest.raises(BadOption, match="at least one --model"):
        make_plan(QUICK, {})
    with pytest.raises(BadOption, match="mistaken for one another"):
        make_plan("tests.run.test_plan:COLONS", {"a": "bot/first", "a:b": "bot/first"})
    with pytest.raises(BadOption, match=r"seats \['north'\] at perceive"):
        make_plan("tests.run.test_plan:MISSEATED", {"a": "bot/first"})


def test_wrong_suites_are_refused() -> None:
    task = suites.TURNS.tasks[0]
    with pytest.raises(BadOption, match="two tasks called 'turns'"):
        Suite("x", "", (task, task))
    with pytest.raises(BadOption, match="has no tasks"):
        Suite("x", "", ())
    with pytest.raises(BadOption, match="no chair for the model"):
        Task("x", "tic_tac_toe", ({"x": "bot/first", "o": "bot/first"},), 1)


_ONE = {"viewer": MODEL}
COLONS = Suite("colons", "", (Task("b:c", "perceive", (_ONE,), 1), Task("c", "perceive", (_ONE,), 1)))
MISSEATED = Suite("misseated", "", (Task("x", "perceive", ({"north": MODEL},), 1),))
