"""lmms-eval itself reads an exported task and reports what the game says about the replies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from ludens.adapters.datasets import grade
from ludens.cli import main

datasets = pytest.importorskip("datasets", reason="the extra 'data' is not installed")
pytest.importorskip("lmms_eval", reason="lmms-eval: runs with `make adapters`")

NAME = "ludens_qa_board_tic_tac_toe"
EVALUATE = """
import sys
from ludens.models.torchvision_ops import import_torchvision
import_torchvision()
from lmms_eval.__main__ import cli_evaluate
sys.argv[0] = "lmms_eval"
cli_evaluate()
"""
"""Its command, after operators of torchvision were declared that a CPU build of torch lacks."""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lmms") / "task"
    assert main(["export", "qa?board=tic_tac_toe", "--to", "lmms-eval", "--out", str(out), "-n", "24"]) == 0
    return out


@pytest.mark.parametrize("reply", ["Answer: A", "Answer: B", "no idea"])
def test_scores_are_those_of_the_game(task: Path, tmp_path: Path, reply: str) -> None:
    assert version("lmms-eval") == "0.7.3"
    words = ["--model", "dummy", "--model_args", f"response={reply}", "--tasks", NAME, "--batch_size", "1"]
    words += ["--include_path", str(task), "--output_path", str(tmp_path / "logs")]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", EVALUATE, *words],
        capture_output=True,
        text=True,
        env={**os.environ, **offline},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    [file] = (tmp_path / "logs").rglob("*_results.json")
    result = json.loads(file.read_text())["results"][NAME]
    data = datasets.load_dataset(
        "parquet", data_files=str(task / "samples.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    rewards = [grade(row, reply).reward for row in data]
    assert len(rewards) == 24
    assert result["ludens_reward,none"] == pytest.approx(sum(rewards) / len(rewards))
