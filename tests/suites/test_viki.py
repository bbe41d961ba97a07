"""The VIKI suite: published rows, weights, released data, and datasets whose completions are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ludens
from ludens.agents import agent
from ludens.agents.vlm import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile, BadOption, Illegal
from ludens.core.view import RenderOptions, view_of
from ludens.draw import Canvas, sprite_sheet
from ludens.games.viki.replies import read_points, well_formed
from ludens.games.viki.sources import SEAT
from ludens.models.settings import PromptOptions
from ludens.run.dataset import DatasetOrder
from ludens.run.stats import Estimate
from ludens.run.task import EpisodeResult, Summary, suite
from ludens.suites.viki import ACT, PLAN, RETRY, TEAM, TRACE, within
from ludens.suites.viki.dataset import FIRST, STRIDE, build


def test_published_rows() -> None:
    rows = {row.model: row.values for row in suite("viki").published}
    assert len(rows) == 14
    assert rows["GPT-4o"]["activate"] == 18.4
    assert rows["GPT-4o"]["feedback/told"] == 22.3
    assert rows["Gemini-2.5-Flash-preview"]["feedback/untold"] == 31.7
    assert rows["Qwen2.5-VL-7B-Instruct, VIKI-R"]["plan/out-of-domain"] == 33.25
    tasks = {task.name: {metric.name for metric in task.metrics} for task in suite("viki").tasks}
    assert all(set(values) <= set(tasks) for values in rows.values())
    further = {row.model: row.further for row in suite("viki").published}
    assert further["GPT-4o"]["feedback/told", "pass@3"] == 20.6
    assert all(metric in tasks[task] for values in further.values() for task, metric in values)
    for model, values in further.items():
        parts = [values["trace", metric] for metric in ("RMSE", "HD", "DFD")]
        assert sum(parts) / 3 == pytest.approx(rows[model]["trace"], abs=0.01)


def test_the_weighted_average_is_the_papers() -> None:
    """Printed averages follow from the printed parts; that of VIKI-R with 7B, 69.25, does not."""
    [summary] = suite("viki").summaries
    assert isinstance(summary, Summary)
    assert summary.combine is not None
    rows = {row.model: row.values for row in suite("viki").published}
    printed_averages = {
        "GPT-4o": 17.50,
        "Claude-3.7-Sonnet": 11.82,
        "Gemini-2.5-Flash-preview": 16.17,
        "Qwen2.5-VL-3B-Instruct, VIKI-R": 68.78,
        "Qwen2.5-VL-7B-Instruct, Ans-SFT": 68.13,
    }
    for model, printed in printed_averages.items():
        parts = {name: Estimate(rows[model][name], 0, 100, 1000, 1) for name in summary.tasks}
        assert summary.combine(parts).mean == pytest.approx(printed, abs=0.1)


@pytest.mark.parametrize("bot", ["bot/random", "bot/greedy", "bot/best"])
def test_metrics_of_every_task(bot: str) -> None:
    """One episode of each task; the planner is right everywhere."""
    for task in suite("viki-mini").tasks:
        game = ludens.make(task.game)
        episode = ludens.play_sync(
            game, {s: agent(bot, game) for s in game.seats}, seed=2, config=task.config
        )
        result = EpisodeResult("x", episode, game.seats)
        values = {metric.name: metric.value(result) for metric in task.metrics}
        if bot == "bot/best":
            first = task.metrics[0]
            assert values[first.name] == (1.0 if first.higher_is_better else 0.0), task.name
    assert {metric.name for metric in (*TEAM, *PLAN, *TRACE, *RETRY, *ACT)} >= {"right", "pass@6", "done"}


def test_the_suite_through_cameras() -> None:
    for task in suite("viki?look=camera").tasks:
        game = ludens.make(task.game)
        episode = ludens.play_sync(game, {SEAT: agent("bot/best", game)}, seed=2, config=task.config)
        assert episode.returns[SEAT] == 1.0


def test_pass_at_k() -> None:
    game = ludens.make("viki/plan?feedback=2")
    episode = ludens.play_sync(game, {SEAT: agent("bot/random", game)}, seed=2, config=PlayConfig(retries=0))
    episode.facts["rights"] = [False, True, True]
    result = EpisodeResult("x", episode, game.seats)
    assert [within(k).value(result) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("level", ["activate", "plan", "trace"])
def test_completions_of_a_dataset_are_right(level: str) -> None:
    rows = list(build(DatasetOrder(level, 2)).rows)
    game = ludens.make(f"viki/{level}")
    for number, row in enumerate(rows):
        assert well_formed(row["completion"])
        state = game.start(FIRST * STRIDE + number)
        form = view_of(game, RenderOptions(), 0).format(state, SEAT)
        state.apply({SEAT: form.read(row["completion"], state.legal(SEAT))})
        assert state.returns[SEAT] == 1.0
        for robot in state.scene.robots if level != "trace" else ():
            assert f"{robot.id} is a {robot.type}" in row["reasoning"]
    assert rows[0]["prompt"] != rows[1]["prompt"] or rows[0]["text"] != rows[1]["text"]


def picture() -> bytes:
    return Canvas(sprite_sheet("classic", 256)).picture().png()


def row(truth: Any, text: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": "You plan."}, {"role": "user", "content": f"<image>{text}"}]
    return {"prompt": messages, "images": [{"bytes": picture()}], "reward_model": {"ground_truth": truth}}


PLANNED = {
    "robots": {"R1": "fetch"},
    "init_pos": {"apple_0": ["table"], "R1": ["table"]},
    "goal_constraints": [[{"name": "apple", "status": {"pos.name": "rack"}, "is_satisfied": True}]],
    "temporal_constraints": [],
    "time_steps": [
        {"step": n, "actions": {"R1": list(action)}}
        for n, action in enumerate(
            [("Move", "apple"), ("Reach", "apple"), ("Grasp", "apple"), ("Move", "rack"), ("Place", "rack")],
            1,
        )
    ],
    "task_id": "layout_1-1",
    "description": "Bring the apple to the rack.",
}
POINTS = [[[10, 10], [20, 10], [30, 10], [40, 10], [50, 10]], [[9, 90], [9, 80], [9, 70], [9, 60], [9, 50]]]


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A small file for each level in the released format."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    samples = {
        "l1": row("['fetch', 'panda']", "Which robots?"),
        "l2": row(PLANNED, "Plan it."),
        "l3": row(json.dumps(POINTS), "Mark the paths."),
    }
    for name, sample in samples.items():
        pq.write_table(pa.Table.from_pylist([sample]), tmp_path / f"{name}.parquet")
    return tmp_path


def test_released_data_are_played_by_the_released_rules(released: Path) -> None:
    tasks = {task.name: task for task in suite(f"viki?data={released}").tasks}
    answers = {
        "activate": ('["fetch", "panda"]', 1.0),
        "plan/in-domain": (json.dumps(PLANNED["time_steps"]), 1.0),
        "trace": (json.dumps(POINTS), 1.0),
    }
    for name, (answer, score) in answers.items():
        game = ludens.make(tasks[name].game)
        state, view = game.start(0), view_of(game, RenderOptions(), 0)
        assert view.image(state, SEAT).width == 256
        assert not view.has_text
        state.apply({SEAT: view.format(state, SEAT).read(answer, state.legal(SEAT))})
        assert state.returns[SEAT] == score
        assert game.start(7).scene == game.start(0).scene
    with pytest.raises(BadOption, match="split=ood"):
        ludens.make(tasks["plan/out-of-domain"].game).start(0)


def test_prompts_of_released_data_are_the_released_ones(released: Path) -> None:
    words = {"activate": "Which robots?", "plan": "Plan it.", "trace": "Mark the paths."}
    for level, text in words.items():
        game = ludens.make(f"viki/{level}?data={released}")
        ask = build_ask(view_of(game, RenderOptions(), 0), game.start(0), SEAT, "image", PlayConfig())
        system, user = prompt(ask, PromptOptions())
        assert (system.role, system.parts) == ("system", ("You plan.",))
        assert (user.role, user.parts[1:]) == ("user", (text,))
        blank = prompt(ask, PromptOptions(blind=True))[1].parts[0]
        assert blank.hash != user.parts[0].hash or blank.blank().hash == blank.hash


def test_points_outside_released_pictures_are_scored(released: Path) -> None:
    game = ludens.make(f"viki/trace?data={released}")
    state = game.start(0)
    moved = [[[x + 500, y] for x, y in path] for path in POINTS]
    state.apply({SEAT: state.canonical(json.dumps(moved))})
    assert state.facts["rmse"] == 500.0
    assert state.facts["relative"] == pytest.approx(500 / 256, abs=0.01)
    with pytest.raises(Illegal, match="outside"):
        read_points(json.dumps(moved), 256, 256)


def test_folders_without_data(tmp_path: Path) -> None:
    game = ludens.make(f"viki/plan?data={tmp_path}")
    with pytest.raises(BadFile, match="no Parquet"):
        game.start(0)
    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(BadFile, match="cannot be read"):
        game.start(0)


def test_rows_made_by_several_processes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    one = list(build(DatasetOrder("activate", 3)).rows)
    monkeypatch.setattr("ludens.suites.viki.dataset.PART", 1)
    monkeypatch.setattr("ludens.suites.viki.dataset.cores", lambda: 2)
    several = list(build(DatasetOrder("activate", 3)).rows)
    for here, there in zip(one, several, strict=True):
        assert [shown.png() for shown in here["images"]] == [shown.png() for shown in there["images"]]
        assert {**here, "images": ()} == {**there, "images": ()}
