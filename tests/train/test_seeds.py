"""`recipes/seeds.py`: one recipe with several seeds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT, RECIPE = ROOT / "recipes" / "seeds.py", ROOT / "recipes" / "kuhn-poker.toml"


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, RECIPE, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_table_has_each_seed_and_the_mean(tmp_path: Path) -> None:
    shares = {"won low": 0.4, "won high": 0.9, "won spy": 0.2, "blind won": 0.3}
    for seed, won in ((1, 0.7), (2, 0.8)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows = [{"iteration": 0, "won": 0.5, **shares}, {"iteration": 1, "reward": 1}]
        rows.append({"iteration": 2, **shares, "won": won, "won spy": 0.9})
        (folder / "measurements.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    (tmp_path / "2" / "judged.json").write_bytes(orjson.dumps({"iteration": 2, **shares, "won": 0.6}))
    done = run("--seeds", 1, 2, 3, "--out", tmp_path, "--table")
    assert done.returncode == 0, done.stderr
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert table[0][:6] == ["seed", "start", "iterations", "won", "spy", "blind"]
    assert table[2] == ["1", "50.0", "2", "70.0 [40.0, 90.0]", "20.0 to 90.0", "30.0 to 30.0", "–", "–", "–"]
    assert table[3][6] == "60.0 [40.0, 90.0]"
    assert table[4][0].startswith("won after the last iteration, mean of 2 seeds: 75.0 [")


def test_runs_that_were_not_evaluated(tmp_path: Path) -> None:
    done = run("--seeds", 1, "--out", tmp_path, "--table")
    assert done.returncode == 2
    assert "was evaluated" in done.stderr


@pytest.mark.slow
def test_every_seed_is_trained_once(tmp_path: Path) -> None:
    fewer = ("run.iterations=1", "supervised.epochs=1", "play.episodes=8", "monitor.evaluation_games=4")
    options = [word for value in fewer for word in ("--set", value)]
    words = ("--seeds", 1, 2, "--at-once", 2, "--out", tmp_path, *options)
    first, second = run(*words), run(*words)
    assert first.returncode == second.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-4:] == second.stdout.splitlines()[-4:]
    recipes = [orjson.loads((tmp_path / seed / "recipe.json").read_bytes()) for seed in "12"]
    assert [recipe["run"]["seed"] for recipe in recipes] == [1, 2]


@pytest.mark.slow
def test_a_run_that_fails_is_named(tmp_path: Path) -> None:
    done = run("--seeds", 1, "--out", tmp_path, "--set", "play.nothing=1")
    assert done.returncode == 2
    assert "seed 1: stopped with exit code 2" in done.stdout
