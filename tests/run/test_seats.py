"""Seats given to named players: what is played, recorded, estimated, budgeted and reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ludens
from ludens.core.episode import Usage
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.models.ledger import Budget
from ludens.run.estimate import estimate, unpriced_models
from ludens.run.lines import read_records
from ludens.run.plan import Job, Plan, make_plan, seated_name
from ludens.run.report import render
from ludens.run.results import load_results
from ludens.run.store import Store
from ludens.run.task import SUITES, suite
from ludens.run.verify import verify_run
from tests.support.model_server import ModelServer
from tests.support.runs import QUICK, TURNS, found, plan_of, played

TALK = {"suite": QUICK, "tasks": ("talk",)}
ORACLE = {"expert": "bot/oracle"}
NETWORK = "vllm/tiny@http://127.0.0.1:1/v1"


def seated(plan: Plan, task: str, seating: int = 0) -> dict[str, str]:
    return plan.specs(Job("", next(iter(plan.entrants)), task, 0, seating))


def test_the_player_has_the_seat_and_the_entrant_the_others() -> None:
    plan = plan_of(seated=ORACLE, **TALK)
    assert seated(plan, "talk") == {"solver": "bot/random", "expert": "bot/oracle"}
    assert {plan.seats(job) for job in plan.jobs} == {("solver",)}
    assert [job.key for job in plan.jobs] == [job.key for job in plan_of(**TALK).jobs]
    assert plan.identity() != plan_of(**TALK).identity()
    assert plan.job_hash(next(iter(plan.jobs))) != plan_of(**TALK).job_hash(next(iter(plan.jobs)))


def test_it_takes_the_place_of_the_player_of_the_suite() -> None:
    plan = make_plan("comma-solver", {"random": "bot/random"}, {"expert": "bot/random"}, tasks=("wire",))
    assert seated(plan, "wire") == dict.fromkeys(("solver", "expert"), "bot/random")


def test_a_seating_without_a_seat_for_the_model_is_not_played() -> None:
    """Of the two seatings of each seed the one is left in which the model is x; the seeds stay the same."""
    plan = plan_of(suite=TURNS, seated={"o": "bot/first"})
    assert plan.tasks_by_name["turns"].seatings == ({"x": "MODEL", "o": "bot/first"},)
    assert [(job.seed, job.seating) for job in plan.jobs] == [(seed, 0) for seed in range(4)]
    other = plan_of(suite=TURNS, seated={"x": "bot/first"}, limit=3)
    assert [(job.seed, other.seats(job)) for job in other.jobs] == [(seed, ("o",)) for seed in range(3)]


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({**TALK, "seated": {"exprt": "bot/first"}}, UnknownName, "did you mean 'expert'"),
        (
            {"seated": ORACLE},
            BadOption,
            "question of .* have no seat 'expert'.*--tasks talk",
        ),
        ({**TALK, "seated": {"solver": "bot/first", **ORACLE}}, BadOption, "no seat of 'talk' is left"),
        ({**TALK, "seated": {"expert": "MODEL"}}, BadOption, "--seat expert needs the spec of a player"),
        ({**TALK, "seated": {"expert": "no.such:Agent"}}, BadFile, "no.such"),
    ],
)
def test_wrong_seats(choices: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        plan_of(**choices)  # type: ignore[arg-type]


def test_tasks_that_show_the_model_no_picture_have_no_blind_control() -> None:
    def blindable(seat: str) -> bool:
        plan = make_plan("comma", {"a": "bot/random"}, {seat: "bot/oracle"}, tasks=("wire", "keypad"))
        return plan.tasks_by_name["wire"].blindable

    assert blindable("expert")
    assert not blindable("solver")


async def test_played_stopped_resumed_verified_and_reported(tmp_path: Path) -> None:
    plan = plan_of(seated=ORACLE, **TALK)
    assert Plan.from_json(plan.to_json()) == plan
    once = tmp_path / "once"
    assert (await played(once, plan)).complete
    [first, *_] = (once / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    (stopped / "run.json").write_bytes((once / "run.json").read_bytes())
    (stopped / "episodes.jsonl").write_bytes(first)
    assert (await played(stopped, Store.reopen(stopped).plan)).complete
    assert found(stopped) == found(once)
    assert {tuple(record.episode.seats.items()) for record in read_records(once)} == {
        (("solver", "bot/random"), ("expert", "bot/oracle"))
    }
    assert not verify_run(once, workers=0).failures
    [[row]] = [one.rows for one in load_results([once]).suites]
    assert (row.name, row.label, row.seated) == (*["bot/random, expert: bot/oracle"] * 2, ORACLE)
    page = render(load_results([once]), "html").decode()
    assert "bot/random, expert: bot/oracle" in page
    assert "that player had the seat" in page
    [line, *_] = render(load_results([once]), "episodes-csv").decode().splitlines()[1:]
    assert '"bot/random, expert: bot/oracle"' in line


async def test_an_edited_seat_is_noticed(tmp_path: Path) -> None:
    await played(tmp_path, plan_of(seated=ORACLE, **TALK))
    plan = json.loads((tmp_path / "run.json").read_text())
    plan["seated"] = {"expert": "bot/random"}
    (tmp_path / "run.json").write_text(json.dumps(plan))
    with pytest.raises(BadFile, match="edited"):
        load_results([tmp_path])


async def test_rows_with_other_players_are_never_merged(tmp_path: Path) -> None:
    """One entrant, two runs: without --seat their tasks would share a row."""
    whole = replace(suite("comma-mini"), name="two")
    SUITES.register("test-two", whole)
    one = make_plan("test-two", {"r": "bot/random"}, ORACLE, tasks=("wire",), limit=1)
    two = make_plan("test-two", {"r": "bot/random"}, {"expert": "bot/random"}, tasks=("who",), limit=1)
    three = make_plan("test-two", {"r": "bot/random"}, ORACLE, tasks=("led",), limit=1)
    for name, plan in (("one", one), ("two", two), ("three", three)):
        await played(tmp_path / name, plan)
    [results] = load_results([tmp_path / name for name in ("one", "two", "three")]).suites
    assert {row.name: list(row.cells) for row in results.rows} == {
        "r, expert: bot/oracle": ["wire", "led"],
        "r, expert: bot/random": ["who"],
    }


def test_names_leave_the_address_of_a_server_out() -> None:
    given = {"expert": "vllm/a@http://10.0.0.1:8000/v1?style=cot"}
    assert seated_name("b", given) == "b, expert: vllm/a?style=cot"


def test_the_other_seat_is_part_of_the_estimate() -> None:
    """Two episodes of at most three turns: the Solver is asked three times, the Expert twice."""
    alone = estimate(plan := plan_of(NETWORK, seated=ORACLE, **TALK), plan.jobs)
    other = estimate(plan := plan_of("bot/random", seated={"expert": NETWORK}, **TALK), plan.jobs)
    both = estimate(plan := plan_of(NETWORK, **TALK), plan.jobs)
    assert 0 < other.usage.calls < alone.usage.calls
    assert alone.usage.calls + other.usage.calls == both.usage.calls
    assert other.usage.images == 0, "the manual is shown as text"
    assert other.each["bot/random", "talk"].calls == other.usage.calls / 2
    assert unpriced_models(plan_of("bot/random", seated={"expert": NETWORK}, **TALK)) == ["vllm/tiny"]


async def test_the_other_seat_is_part_of_the_budget_and_of_the_bill(tmp_path: Path) -> None:
    async with ModelServer() as server:
        spec = f"vllm/tiny@{server.url}"
        plan = plan_of("bot/random", seated={"expert": spec}, **TALK)
        estimates = {("bot/random", "talk"): Usage(1)}
        result = await played(tmp_path / "poor", plan, budget=Budget(calls=1), estimates=estimates)
        assert not result.complete
        assert len(server.requests) == 1
        await played(tmp_path / "rich", plan)
    asked = sum(record.episode.facts["messages"]["expert"] for record in read_records(tmp_path / "rich"))
    results = load_results([tmp_path / "rich"])
    [row] = results.suites[0].rows
    cell = row.cells["talk"]
    assert (cell.usage.calls, cell.other_usage.calls) == (0, asked)
    assert cell.other_usage.tokens > 0
    table = render(results, "table").decode()
    assert f"{cell.other_usage.tokens:,}" in table
    [data] = [r for r in json.loads(render(results, "json"))["suites"][0]["rows"] if r["metric"] == "return"]
    assert (data["calls"], data["other_calls"], data["other_tokens"]) == (0, asked, cell.other_usage.tokens)


def test_evaluate_takes_seats() -> None:
    made = ludens.evaluate("comma-mini", ["bot/oracle"], seats=ORACLE, tasks=["wire"])
    assert {row["entrant"] for row in made.episodes()} == {"bot/oracle, expert: bot/oracle"}
    assert {row["seats"] for row in made.episodes()} == {"solver"}
    assert all(row["metric.SR"] == 1 for row in made.episodes())
