"""Studies with scripted participants: the recipes are valid, and intervals are over participants."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.cli import main
from ludens.run.report import load_results
from ludens.suites.people import read_study
from ludens.suites.people.dry_run import DryRun
from ludens.suites.people.records import OpenRecords, participant_clusters

RECIPES = sorted((Path(__file__).parents[2] / "docs" / "studies").glob("*.toml"))
SUITES = ("comma", "playground", "viki", "vision-zero", "vs-bench")

STUDY = """
name = "small"

[[task]]
name = "turns"
game = "tic_tac_toe"
seats = { x = "participant", o = "bot/random" }
episodes = 40
each = 5

[[task]]
name = "pairs"
game = "tic_tac_toe"
seats = { x = "participant", o = "participant" }
episodes = 20
first_seed = 100
each = 2

[[after]]
name = "attention"
text = "Choose blue."
kind = "choice"
choices = ["red", "blue"]
right = "blue"
"""


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes(path: Path) -> None:
    study = read_study(path)
    assert study.name == path.stem
    if path.stem in SUITES:
        assert sum(task.practice for task in study.task) == 1
        assert any(question.right for question in (*study.before, *study.after))
        assert "ten minutes" in study.consent
        assert all(task.suite or task.game == "kuhn_poker" for task in study.tasks)


def test_there_is_a_recipe_for_every_suite() -> None:
    assert set(SUITES) <= {path.stem for path in RECIPES}


@pytest.fixture
def dry(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    DryRun(read_study(tmp_path / "study.toml"), tmp_path / "run").run(4)
    return tmp_path / "run"


def test_dry_run_makes_a_study_that_can_be_verified(dry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(dry)]) == 0
    assert "proven 24" in capsys.readouterr().out
    assert main(["study", "export", str(dry)]) == 0
    assert "episodes.csv: 28 rows" in capsys.readouterr().out


def test_intervals_are_over_participants(dry: Path) -> None:
    [results] = load_results([dry]).suites
    [row] = results.rows
    assert len(row.cells["turns"].episodes) == 20
    assert row.cells["turns"].metrics["return"].n == 4
    assert row.cells["pairs"].metrics["return"].n == 2


def test_people_who_have_played_together_are_one_cluster(dry: Path) -> None:
    clusters = participant_clusters(dry)
    assert len(clusters) == 24
    assert {name for key, name in clusters.items() if ":pairs:" in key} == {"p001", "p003"}
    with OpenRecords(dry) as records:
        records.note(records.get("p001"), "started", task="pairs", key="new", seat="x", attempt=0)
    assert "new" not in participant_clusters(dry)
    assert participant_clusters(dry.parent) == {}


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    words = [
        "study",
        "dry-run",
        str(tmp_path / "study.toml"),
        "--out",
        str(tmp_path / "out"),
        "--participants",
        "3",
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "people" in text
    assert "3 scripted participants" in text
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*words[:-1], "0"]) == 2
    assert main([*words, "--format", "parquet"]) == 2
