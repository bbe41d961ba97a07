"""Plans of matches: who meets whom, what is stored, entrants that are added, games chosen as they go."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption
from ludens.core.policy import option_accesses
from ludens.run.arena.adaptive import FIRST_SEEDS, AdaptiveSource
from ludens.run.arena.standings import standings_of
from ludens.run.engine import Engine, make_executor
from ludens.run.plan import Plan, entrants_of, make_plan
from ludens.run.results import load_results
from ludens.run.store import Store
from ludens.run.task import suite_options
from ludens.run.verify import verify_run
from tests.support.runs import found, played

SUITE = "arena?games=tic_tac_toe,kuhn_poker,tiny_hanabi&rounds=2&listed=true"
BOTS = {"first": "bot/first", "random": "bot/random"}


def plan_of(entrants: dict[str, str] = BOTS, suite: str = SUITE, **rest: object) -> Plan:
    return make_plan(suite, entrants, **rest)


def test_every_pair_meets_in_all_seats_on_shared_seeds() -> None:
    plan = plan_of({**BOTS, "best": "bot/best"})
    games = [job for job in plan.jobs if job.task == "tic_tac_toe"]
    assert {job.entrant for job in games} == {"first vs random", "first vs best", "random vs best"}
    assert len(games) == plan.count(plan.tasks_by_name["tic_tac_toe"]) * 3 == 12
    seats = {(job.entrant, job.seed, *plan.specs(job).items()) for job in games}
    assert ("first vs best", 1, ("x", "bot/best"), ("o", "bot/first")) in seats
    assert ("first vs best", 1, ("x", "bot/first"), ("o", "bot/best")) in seats
    together = {job.entrant for job in plan.jobs if job.task == "tiny_hanabi"}
    assert together == {*(job.entrant for job in games), "first vs first", "random vs random", "best vs best"}


def test_blind_controls_do_not_meet_each_other() -> None:
    entrants = entrants_of(["nano", "nano?temperature=1", "bot/random"], ["a", "b", "z"], blind_control=None)
    plan = plan_of(entrants.specs, controls=entrants.controls)
    assert "a vs a (blind)" in plan.matches
    assert not any(
        first in entrants.controls and second in entrants.controls for first, second in plan.matches.values()
    )


def test_sides_of_the_spy_game_are_the_spy_and_all_civilians() -> None:
    plan = plan_of(suite="arena?games=spy")
    specs = [plan.specs(job) for job in list(plan.jobs)[:2]]
    assert [{one["spy"], one["civilian_1"]} for one in specs] == [{*BOTS.values()}] * 2
    assert all(one["civilian_1"] == one["civilian_4"] for one in specs)


@pytest.mark.parametrize(
    ("games", "words"), [("perceive", "one seat"), (",", "no games"), ("tic_tac_toe,sudoku", "one seat")]
)
def test_games_whose_seats_do_not_fit_are_refused(games: str, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        plan_of(suite=f"arena?games={games}")


def test_one_entrant_meets_nobody() -> None:
    with pytest.raises(BadOption, match="at least two"):
        plan_of({"first": "bot/first"})


def test_files_named_in_options_of_games_are_accesses_of_the_suite() -> None:
    options = {"games": "hanabi, spy?source=/elsewhere"}
    accesses = list(option_accesses(suite_options("arena"), options, "arena"))
    assert [(access.option, access.value) for access in accesses] == [("source", "/elsewhere")]


def test_seats_cannot_be_given_away() -> None:
    with pytest.raises(BadOption, match="belong to entrants"):
        make_plan(SUITE, BOTS, {"x": "bot/best"})


def extended(plan: Plan, **more: str) -> Plan:
    made = plan_of({**plan.entrants, **more}, plan.suite)
    return replace(plan, entrants=made.entrants)


async def test_an_added_entrant_plays_only_its_own_games(tmp_path: Path) -> None:
    small, large = plan_of(), plan_of({**BOTS, "best": "bot/best"})
    await played(tmp_path / "grown", small)
    before = found(tmp_path / "grown")
    with Store.extend(tmp_path / "grown", extended(small, best="bot/best")) as store:
        assert {job.key for job in store.pending()} == {job.key for job in large.jobs} - before.keys()
        result = await Engine(store, make_executor(store.plan)).run()
    assert result.complete
    await played(tmp_path / "at once", large)
    assert found(tmp_path / "grown") == found(tmp_path / "at once")
    assert before.items() <= found(tmp_path / "grown").items()
    assert verify_run(tmp_path / "grown").ok


async def test_a_run_is_extended_by_entrants_only(tmp_path: Path) -> None:
    await played(tmp_path, plan_of())
    for other in (
        plan_of({"first": "bot/first", "best": "bot/best"}),
        plan_of(suite=SUITE.replace("=2", "=3")),
    ):
        with pytest.raises(BadOption, match="another run"):
            Store.extend(tmp_path, other)


async def test_an_episode_of_other_players_is_noticed(tmp_path: Path) -> None:
    await played(tmp_path, plan_of())
    file = tmp_path / "run.json"
    file.write_text(file.read_text().replace('"first": "bot/first"', '"first": "bot/best"'))
    (tmp_path / "index.jsonl").unlink()
    with pytest.raises(BadFile, match="edited"):
        load_results([tmp_path])


async def test_the_order_is_found_with_fewer_games(tmp_path: Path) -> None:
    suite = "arena?games=tic_tac_toe,tiny_hanabi&rounds=12&listed=true&adaptive=0.9"
    plan = plan_of({"best": "bot/best", "random": "bot/random"}, suite)
    with Store.create(tmp_path, plan) as store:
        source = AdaptiveSource(store, 0.9)
        result = await Engine(store, make_executor(plan), source=source).run()
        again = source()
    assert result.complete
    played_keys = found(tmp_path).keys()
    assert len(played_keys) < plan.total()
    assert {job.key for job in plan.jobs if job.seed < FIRST_SEEDS} <= played_keys
    assert {job.key for job in plan.jobs if job.task == "tiny_hanabi"} <= played_keys
    assert again == []
    assert "the order is certain at 0.9" in source.reason


async def test_equal_players_play_all_games(tmp_path: Path) -> None:
    suite = "arena?games=tic_tac_toe&rounds=8&listed=true&adaptive=0.9"
    plan = plan_of({"a": "bot/first", "b": "bot/first"}, suite)
    with Store.create(tmp_path, plan) as store:
        source = AdaptiveSource(store, 0.9)
        assert (await Engine(store, make_executor(plan), source=source).run()).complete
    assert len(found(tmp_path)) == plan.total()
    assert "not certain" in source.reason


async def test_an_adaptive_run_goes_on_after_a_stop(tmp_path: Path) -> None:
    suite = "arena?games=tic_tac_toe&rounds=12&listed=true&adaptive=0.9"
    plan = plan_of({"best": "bot/best", "random": "bot/random", "first": "bot/first"}, suite)

    async def play(folder: Path, stop_at: int | None = None) -> None:
        with Store.create(folder, plan) as store:
            engine = Engine(store, make_executor(plan), source=AdaptiveSource(store, 0.9))
            if stop_at is not None:
                engine._on_progress = lambda progress: (
                    engine.stop("enough") if progress.episodes >= stop_at else None
                )
            await engine.run()

    await play(tmp_path / "whole")
    await play(tmp_path / "stopped", 0)
    assert len(found(tmp_path / "stopped")) < len(found(tmp_path / "whole"))
    await play(tmp_path / "stopped")
    assert found(tmp_path / "stopped") == found(tmp_path / "whole")


def test_standings_of_a_run(tmp_path: Path) -> None:
    entrants = {"best": "bot/best", "first": "bot/first", "bot/random": "bot/random"}
    suite = "arena?games=tic_tac_toe%3Fopening=1,tic_tac_toe,tiny_hanabi&rounds=6&listed=true"
    asyncio.run(played(tmp_path, plan_of(entrants, suite)))
    [results] = load_results([tmp_path]).suites
    made = standings_of(results)
    games = ["tic_tac_toe?opening=1", "tic_tac_toe?opening=3"]
    assert [column.title for column in made.columns] == ["all games", *games]
    assert made.anchor == "bot/random"
    assert made.ratings(made.columns[1]).order[0] == "best"
    [together] = made.cross_play
    assert together.returns["best", "first"] == together.returns["first", "best"]
    assert together.alpha_rank.keys() == entrants.keys()
    assert sum(together.alpha_rank.values()) == pytest.approx(1)
    assert standings_of(results) is made
    for upset in made.upsets:
        assert upset.match.cell.read(upset.match.place).key == upset.match.key
        assert upset.chance < 0.5
