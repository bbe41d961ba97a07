"""Released data are read from Parquet files in their format, None-filled dicts included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ludens.core.errors import BadFile
from ludens.games.viki.checker import check
from ludens.games.viki.sources import read_folder, strip_none

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def row(truth: Any) -> dict[str, Any]:
    return {
        "prompt": [
            {"role": "system", "content": "Plan."},
            {"role": "user", "content": "<image>Task: move it."},
        ],
        "images": [{"bytes": b"\x89PNG", "path": None}],
        "reward_model": {"style": "rule", "ground_truth": truth},
    }


def condition(name: str, place: str | None = None, active: bool | None = None) -> dict[str, Any]:
    return {
        "type": "asset",
        "name": name,
        "is_satisfied": True,
        "status": {"pos.name": place, "is_activated": active},
    }


def step(number: int, one: list[str] | None, two: list[str] | None) -> dict[str, Any]:
    return {"step": number, "actions": {"R1": one, "R2": two, "R3": None}}


PLATE = {
    "task_id": "17_4-1",
    "task_name": "toast_bread_and_set_plate",
    "layout_id": 4,
    "description": "Toast the bread and set the plate.",
    "robots": {"R1": "fetch", "R2": "unitree_h1", "R3": None},
    "idle_robots": ["panda"],
    "init_pos": {
        "bread_0": ["kitchen work area", "kitchen island area"],
        "plate_1": ["cabinet"],
        "toaster_2": ["kitchen work area"],
        "cabinet_3": ["room_cabinet"],
        "apple_1": None,
        "R1": None,
    },
    "goal_constraints": [[condition("plate", "table")], [condition("toaster", active=True)]],
    "temporal_constraints": [[[condition("bread", "toaster")], [condition("toaster", active=True)]]],
    "time_steps": [
        step(1, ["Move", "bread"], ["Move", "cabinet"]),
        step(2, ["Reach", "bread"], ["Reach", "cabinet"]),
        step(3, ["Grasp", "bread"], ["Open", "cabinet"]),
        step(4, ["Move", "toaster"], ["Reach", "plate"]),
        step(5, ["Place", "toaster"], ["Grasp", "plate"]),
        step(6, ["Interact", "toaster"], ["Move", "table"]),
        step(7, None, ["Place", "table"]),
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist([row(PLATE)]), tmp_path / "l2.parquet")
    pq.write_table(pa.Table.from_pylist([row("['panda', 'fetch']")]), tmp_path / "l1.parquet")
    points = "[[[1, 2], [3, 4]], [[5.5, 6], [7, 8]]]"
    pq.write_table(pa.Table.from_pylist([row(points)]), tmp_path / "l3.parquet")
    return tmp_path


def test_levels_are_read(folder: Path) -> None:
    [one] = read_folder(folder, 1)
    assert (one.types, one.text, one.image) == (("fetch", "panda"), "Task: move it.", b"\x89PNG")
    [two] = read_folder(folder, 2)
    scene = two.scene
    assert scene is not None
    assert [robot.id for robot in scene.robots] == ["R1", "R2"]
    assert (scene.task.family, scene.task.template, scene.layout, scene.limit) == (4, "4-1", "4", 7)
    assert {asset.name for asset in scene.assets} == {"bread", "plate", "toaster", "cabinet"}
    [three] = read_folder(folder, 3)
    assert three.traces[1][0] == (5.5, 6.0)


def test_their_plan_is_right_under_their_rules(folder: Path) -> None:
    [sample] = read_folder(folder, 2)
    assert sample.scene is not None
    scene = sample.scene
    assert check(scene, scene.plan, "released").right
    early = [{"R1": ("Move", "toaster")}, {"R1": ("Interact", "toaster")}, *scene.plan]
    assert check(scene, early, "released").code == "order"
    assert check(scene, scene.plan[:-1], "released").code == "goal"
    longer = [{"R1": ("Move", "table")}, *scene.plan]
    assert check(scene, longer, "released").code == "long"


def test_start_places_follow_the_seed(folder: Path) -> None:
    def place(seed: int) -> str:
        [sample] = read_folder(folder, 2, seed)
        assert sample.scene is not None
        return next(asset.place for asset in sample.scene.assets if asset.name == "bread")

    assert {place(seed) for seed in range(12)} == {"kitchen work area", "kitchen island area"}
    assert place(3) == place(3)


def test_none_is_stripped_at_every_depth() -> None:
    assert strip_none({"a": None, "b": [None, {"c": None, "d": 1}], "e": []}) == {"b": [{"d": 1}], "e": []}


@pytest.mark.parametrize("truth", ["not a list", "['robocop']", "[[1]]"])
def test_bad_rows_are_named(tmp_path: Path, truth: str) -> None:
    pq.write_table(pa.Table.from_pylist([row(truth)]), tmp_path / "bad.parquet")
    with pytest.raises(BadFile, match=r"bad\.parquet, row 1"):
        list(read_folder(tmp_path, 1))


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no Parquet files"):
        list(read_folder(tmp_path, 1))
    (tmp_path / "x.parquet").write_bytes(b"nothing")
    with pytest.raises(BadFile, match="cannot be read"):
        list(read_folder(tmp_path, 1))
