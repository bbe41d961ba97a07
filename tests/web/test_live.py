"""Big runs are shown while they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.run.engine import Engine, make_executor
from ludens.run.lines import read_lines
from ludens.run.plan import make_plan
from ludens.run.results import Results, RunReader
from ludens.run.store import Store
from ludens.web import runs
from ludens.web.runs import LiveRun, LiveRuns
from tests.support.runs import TURNS, plan_of, played


async def test_results_are_shown_before_everything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(tmp_path / "run", plan_of("bot/random", suite=TURNS))
    monkeypatch.setattr(runs, "FIRST", 0.0)
    monkeypatch.setattr(runs, "SLICE", 0.0)
    run = LiveRun("run", tmp_path / "run")
    assert not run._read_on()
    assert run.snapshot is not None
    [found] = run.snapshot.results.suites
    assert len(found.rows[0].cells["turns"].episodes) == 1
    assert not run.read_all
    await run.update(60)
    assert run.read_all
    [found] = run.snapshot.results.suites
    assert len(found.rows[0].cells["turns"].episodes) == len(list(read_lines(tmp_path / "run")))
    version = run.snapshot.version
    await run.update(60)
    assert run.snapshot.version == version


async def test_a_run_is_not_read_before_its_results_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(tmp_path / "run", plan_of("bot/random", suite=TURNS))
    compute, seen = runs.results_of, list[bool]()

    def results_of(readers: list[RunReader]) -> Results:
        seen.append(run.end == run.size and not run.read_all)
        return compute(readers)

    monkeypatch.setattr(runs, "results_of", results_of)
    run = LiveRun("run", tmp_path / "run")
    while not run._read_on():
        pass
    assert seen[-1]
    assert run.read_all


async def test_only_the_latest_runs_are_kept(tmp_path: Path) -> None:
    live = LiveRuns()
    first = await live.get("0", tmp_path / "0")
    for number in range(runs.MAX_LIVE):
        await live.get(str(number), tmp_path / str(number))
    assert await live.get("0", tmp_path / "0") is first
    await live.get("new", tmp_path / "new")
    await live.get("newer", tmp_path / "newer")
    assert len(live._runs) == runs.MAX_LIVE
    await live.close()


async def test_an_arena_is_shown_while_entrants_are_added(tmp_path: Path) -> None:
    suite = "arena?games=tic_tac_toe&rounds=2&listed=true"
    plan = make_plan(suite, {"a": "bot/first", "bot/random": "bot/random"})
    await played(tmp_path / "run", plan)
    run = LiveRun("run", tmp_path / "run")
    await run.update(60)
    assert run.snapshot is not None
    assert {row.entries[0] for row in run.snapshot.suites[0]["scores"][0].rows} == {"a", "bot/random"}
    more = make_plan(suite, {**plan.entrants, "b": "bot/best"})
    with Store.extend(tmp_path / "run", more) as store:
        await Engine(store, make_executor(more)).run()
    await run.update(60)
    assert {row.entries[0] for row in run.snapshot.suites[0]["scores"][0].rows} == {"a", "b", "bot/random"}
    assert run.read_all
