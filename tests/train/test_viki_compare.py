"""The script that trains and compares the methods of VIKI-R, with a stand-in for `ludens`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "recipes" / "viki" / "compare.sh"
LUDENS = """#!/bin/sh
echo "$@" >> calls
case $1 in
    train) folder=training/viki-$KIND-$(basename "$2" .toml)
        case $2 in
            *r-zero.toml|*r.toml) mkdir -p "$folder/supervised" "$folder/step-000025" "$folder/step-000150" ;;
            *) mkdir -p "$folder/supervised" ;;
        esac ;;
    eval) mkdir -p runs/viki-r-$KIND-activate ;;
esac
"""


Script = Callable[..., tuple[int, list[str]]]
"""Runs the script with variables of the environment; returns its exit code and what it called."""


@pytest.fixture
def script(tmp_path: Path) -> Script:
    program = tmp_path / "bin" / "ludens"
    program.parent.mkdir()
    program.write_text(LUDENS)
    program.chmod(0o755)

    def run(kind: str, **variables: str) -> tuple[int, list[str]]:
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "KIND": kind, "LEVELS": "activate", **variables}
        ended = subprocess.run(["sh", str(SCRIPT), kind], cwd=tmp_path, env=env, capture_output=True)
        calls = tmp_path / "calls"
        found = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return ended.returncode, found

    return run


def test_small_models(script: Script) -> None:
    code, calls = script("nano", EPISODES="300")
    assert code == 0
    recipes = [f"recipes/viki/nano/activate-{method}.toml" for method in ("base", "ans-sft", "r-zero", "r")]
    assert calls[:2] == [f"prepare viki/activate?split={split} -n 300" for split in ("id", "ood")]
    assert calls[2:10] == [*(f"prepare {one}" for one in recipes), *(f"train {one}" for one in recipes)]
    assert calls[10] == (
        "eval viki --tasks activate,activate/out-of-domain --limit 300 --size 256 --concurrency 256 "
        "--out runs/viki-r-nano-activate --yes "
        "--model nano/training/viki-nano-activate-base/supervised --name base "
        "--model nano/training/viki-nano-activate-ans-sft/supervised --name ans-sft "
        "--model nano/training/viki-nano-activate-r-zero/step-000150 --name r-zero "
        "--model nano/training/viki-nano-activate-r/step-000150 --name r"
    )
    assert calls[11:] == ["report runs/viki-r-nano-activate --format md"]

    _, again = script("nano", PREPARE="no")
    assert again[4:] == ["resume runs/viki-r-nano-activate", "report runs/viki-r-nano-activate --format md"]


def test_real_models(script: Script) -> None:
    code, calls = script("qwen", PREPARE="no", RECIPES="mine")
    assert code == 0
    assert calls[:3] == [f"train mine/activate-{method}.toml" for method in ("ans-sft", "r-zero", "r")]
    assert "--size 512" in calls[3]
    assert "--model hf/Qwen/Qwen2.5-VL-3B-Instruct --name base" in calls[3]


@pytest.mark.parametrize("kind", ["", "gpt"])
def test_other_kinds_are_refused(kind: str, script: Script) -> None:
    code, calls = script(kind)
    assert (code, calls) == (2, [])
