"""Weights shared out among processes (FSDP2), by the user's own command: the same games, losses and weights
as those of one process, checkpoints that any number of processes reads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("trl", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption  # noqa: E402
from ludens.train.checks import check as check_recipe  # noqa: E402
from ludens.train.recipe import Recipe  # noqa: E402
from tests.support.tiny_vlm import build  # noqa: E402
from tests.train.test_ranks import Runs, differences, state  # noqa: E402

NEAR = 1e-5
MORE = """
[advantage]
kind = "role"
[loss]
kl = 0.1
entropy = 0.01
"""


def sharded(folder: Path, model: str, tiny: Path, more: str = "", iterations: int = 5) -> Runs:
    """A recipe with opponents that are copies, a reference, and unlike numbers of samples on the ranks."""
    runs = Runs(folder, "nano" if model == "nano" else model, tiny, MORE)
    text = runs.file.read_text().replace("[model]", f"[model]\nshard = true\n{more}")
    text = text.replace("lr = 0.001\nmicro", "lr = 1e-4\nmicro").replace("checkpoint = 1", "checkpoint = 2")
    runs.file.write_text(text.replace("iterations = 3", f"iterations = {iterations}"))
    return runs


def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
    return float(differences(first, second).abs().max())


def agree(runs: Runs, one: dict[str, Any], many: dict[str, Any], out: str = "many") -> None:
    expected, found = state(runs.folder / "one"), state(runs.folder / out)
    for a, b in zip(expected["history"], found["history"], strict=True):
        assert a["reward"] == b["reward"]
        assert b["loss"] == pytest.approx(a["loss"], abs=NEAR)
        assert b["kl"] == pytest.approx(a["kl"], abs=NEAR)
        assert a["grad"] > 1e-3  # Adam moves every weight by about the learning rate, 1e-4
        assert b["grad"] == pytest.approx(a["grad"], rel=1e-4)
    assert apart(one, many) < NEAR


@pytest.mark.slow
def test_two_processes_share_out_the_weights_of_nano(tmp_path: Path) -> None:
    runs = sharded(tmp_path, "nano", tmp_path, iterations=3)
    agree(runs, runs.alone(), runs.together(2, torchrun=False, seed=9, delay=0.01))


@pytest.mark.slow
@pytest.mark.torchvision
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("model", ["nano", "full", "lora"])
def test_any_number_of_processes(ranks: int, model: str, tmp_path: Path) -> None:
    """Also started again with other numbers: two processes, then one, then as many as are tested."""
    tiny = build(tmp_path / "tiny", family="qwen")
    runs = sharded(tmp_path, model, tiny)
    one = runs.alone()
    agree(runs, one, runs.together(ranks, delay=0.01))
    for number in range(2):
        out = tmp_path / f"again{number}"
        shutil.copytree(tmp_path / ("many", "one")[number], out)
        for path in (*out.glob("step-000004"), *out.glob("step-000005")):
            shutil.rmtree(path)
    agree(runs, one, runs.together(6 - ranks, "again0", delay=0.01), "again0")
    agree(runs, one, runs.together(ranks, "again1", delay=0.01), "again1")


@pytest.mark.slow
@pytest.mark.torchvision
def test_activation_checkpointing_does_not_change_the_weights(tmp_path: Path) -> None:
    tiny = build(tmp_path / "tiny", family="qwen")
    runs = sharded(tmp_path, "full", tiny, "checkpointing = true\nfreeze_vision = false", iterations=3)
    agree(runs, runs.alone(), runs.together(2))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"model": {"kv_cache": "static"}}, "know weights by their place"),
        ({"model": {"kind": "hf"}, "demonstrations": [{"episodes": 1}]}, "imitate in a run of its own"),
    ],
)
def test_options_that_do_not_fit(sections: dict[str, Any], message: str, tmp_path: Path) -> None:
    model = {"shard": True, "path": str(tmp_path), "kind": "hf", **sections["model"]}
    with pytest.raises(BadOption, match=message):
        check_recipe(Recipe.of({**sections, "model": model, "play": {"samples": 2}}))
