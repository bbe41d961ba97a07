"""Episodes are bound to their plan: edits of either file are detected and the edited file is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from ludens.core.errors import BadFile
from ludens.run.binding import PlanCheck
from ludens.run.index import INDEX, RowReader
from ludens.run.lines import LineReader, read_lines
from ludens.run.results import load_results
from ludens.run.rows import EPISODES
from ludens.run.store import Store, read_plan, read_progress
from tests.support.reported import NAME, make_run
from tests.support.runs import TURNS, plan_of, played

Plan = dict[str, Any]


def _edit(folder: Path, change: Callable[[Plan], object]) -> None:
    file = folder / "run.json"
    plan = json.loads(file.read_text())
    change(plan)
    file.write_text(json.dumps(plan))


def _task(plan: Plan) -> Plan:
    task: Plan = plan["task_snapshot"]["turns"]
    return task


PLAN_EDITS: dict[str, Callable[[Plan], object]] = {
    "entrant": lambda plan: plan["entrants"].update({"bot/random": "bot/first"}),
    "entrant name": lambda plan: plan.update(entrants={"best": "bot/random"}),
    "seed": lambda plan: plan.update(seed=100),
    "limit": lambda plan: plan.update(limit=2),
    "theme": lambda plan: plan.update(theme="contrast"),
    "size": lambda plan: plan.update(size=256),
    "config": lambda plan: _task(plan)["config"].update(retries=9),
    "game": lambda plan: _task(plan).update(game="gomoku"),
    "version": lambda plan: _task(plan).update(version=99),
    "opponent": lambda plan: _task(plan)["seatings"][0].update(o="bot/first"),
    "no task": lambda plan: plan.update(task_snapshot={}),
    "wrong task": lambda plan: plan.update(task_snapshot={"turns": {"game": 3}}),
}


@pytest.mark.parametrize("edit", PLAN_EDITS)
async def test_an_edited_run_json_is_named(edit: str, tmp_path: Path) -> None:
    await played(tmp_path, plan_of(suite=TURNS, limit=4))
    load_results([tmp_path])
    _edit(tmp_path, PLAN_EDITS[edit])
    with pytest.raises(BadFile, match=r"run\.json' was edited after 'bot/random:turns"):
        load_results([tmp_path])
    with pytest.raises(BadFile, match=r"run\.json' was edited after 'bot/random:turns"):
        Store(tmp_path, read_plan(tmp_path)).__enter__()


LINE_EDITS: dict[str, Callable[[Plan], object]] = {
    "key": lambda line: line.update(key="bot/random:turns:7:0"),
    "seating": lambda line: line.update(seating=1),
    "hash": lambda line: line.update(job="0" * 16),
    "void": lambda line: line.update(void=True),
    "seed": lambda line: line["episode"].update(seed=5),
    "game": lambda line: line["episode"].update(game="gomoku"),
    "options": lambda line: line["episode"]["options"].update(more=1),
    "config": lambda line: line["episode"]["config"].update(retries=9),
    "player": lambda line: line["episode"]["seats"].update(x="openai/gpt-4.1"),
    "opponent": lambda line: line["episode"]["seats"].update(o="bot/first"),
    "theme": lambda line: line["episode"].update(theme="contrast"),
    "size": lambda line: line["episode"].update(size=256),
    "sample": lambda line: line["episode"].update(sample=1),
}


@pytest.mark.parametrize("edit", LINE_EDITS)
async def test_an_edited_line_is_named(edit: str, tmp_path: Path) -> None:
    await played(tmp_path, plan_of(suite=TURNS, limit=2))
    lines = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    line = orjson.loads(lines[0])
    LINE_EDITS[edit](line)
    (tmp_path / EPISODES).write_bytes(orjson.dumps(line) + b"\n" + lines[1])
    with pytest.raises(BadFile, match=r"episodes\.jsonl' was edited: 'bot/random:turns.*ludens repair"):
        load_results([tmp_path])


async def test_resume_checks_the_heads_of_lines(tmp_path: Path) -> None:
    await played(tmp_path, plan_of(suite=TURNS, limit=2))
    data = (tmp_path / EPISODES).read_bytes()
    (tmp_path / EPISODES).write_bytes(data.replace(b'"seating":0', b'"seating":1', 1))
    with pytest.raises(BadFile, match=r"episodes\.jsonl' was edited"):
        Store.reopen(tmp_path).__enter__()


def test_models_are_compared_by_what_episodes_record(tmp_path: Path) -> None:
    entrants = {"rude": "fake/rude?memory=last&temperature=0.0", "random": "bot/random"}
    folder = make_run(tmp_path / "run", entrants, tasks=("turns",), limit=2)
    check, plan = PlanCheck(folder, read_plan(folder)), read_plan(folder)
    assert plan.suite == NAME
    same = check._same_player
    game = check._game("tic_tac_toe")
    assert same("openai/x?temperature=0.0&rpm=5", "openai/x@http://host/v1?temperature=0", game)
    assert same("openai/x@http://host/v1/", "openai/x@http://host/v1", game)
    assert same("bot/best", "bot/best", game) or same("bot/best", str(game.best), game)
    for recorded in ("openai/y", "openai/x?temperature=1", "openai/x?style=cot", "openai/x@http://other/v1"):
        assert not same("openai/x@http://host/v1?temperature=0", recorded, game)


async def test_a_line_that_is_repeated_counts_once(tmp_path: Path) -> None:
    plan = plan_of(suite=TURNS, limit=2)
    await played(tmp_path, plan)
    lines = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    void = lines[0].replace(b'"void":false', b'"void":true')
    (tmp_path / EPISODES).write_bytes(b"".join([lines[0], lines[0], void, lines[1], lines[0]]))
    assert [line.head.key for line in read_lines(tmp_path)] == [job.key for job in plan.jobs]
    assert read_progress(tmp_path) == ({job.key for job in plan.jobs}, {})
    offsets = [line.location.offset for line in read_lines(tmp_path)]
    assert offsets == [0, 2 * len(lines[0]) + len(void)]


async def test_a_repeated_line_counts_once_also_while_the_run_is_written(tmp_path: Path) -> None:
    """The repeated line is read by a later call than the first one."""
    plan = plan_of(suite=TURNS, limit=2)
    await played(tmp_path, plan)
    first, second = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / INDEX).unlink()
    reader = RowReader(tmp_path, plan, None)
    seen = []
    for data in (first, first + second, second + first):
        with (tmp_path / EPISODES).open("wb" if not seen else "ab") as file:
            file.write(data)
        seen.append([row["key"] for row in reader.read()])
    assert [len(keys) for keys in seen] == [1, 1, 0]
    every = [line.head.key for line in LineReader(tmp_path).read()]
    assert (len(every), len(set(every))) == (5, 2)
    [results] = load_results([tmp_path]).suites
    assert [len(row.cells["turns"].episodes) for row in results.rows] == [2]
