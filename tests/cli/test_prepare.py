"""`ludens prepare`: scenes of VIKI in advance."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.run import dataset
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("tic_tac_toe",), "tic_tac_toe starts fast: there is nothing to prepare"),
        (("viki/plam",), "'viki/plam'"),
        (("viki/plan", "-n", "0"), "at least 1"),
        (("none.toml",), "none.toml' cannot be read"),
    ],
)
def test_bad_arguments_get_one_sentence(argv: tuple[str, ...], message: str, ludens: Run) -> None:
    ran = ludens("prepare", *argv)
    assert ran.code == 2
    assert message in ran.err


def test_a_recipe_names_the_seeds_of_all_its_games(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, range]] = []
    monkeypatch.setattr(dataset, "prepare", lambda game, seeds, workers: asked.append((game, seeds)))
    game = "viki/activate?split=train"
    play = f'[play]\ngame = "{game}"\nepisodes = 64\nseeds = 256\nheld_out = 4\n'
    imitation = f"{play}[[demonstrations]]\nepisodes = 10\n"
    for iterations in (0, 30):
        (tmp_path / "recipe.toml").write_text(f"{imitation}[run]\niterations = {iterations}\n")
        assert ludens("prepare", str(tmp_path / "recipe.toml")).code == 0
    shown = (game, range(2_000_000, 2_000_010))
    played = [(game, range(1_000_000, 1_000_256)), (game, range(500_000, 500_120))]
    assert asked == [shown, *played, shown]


@pytest.mark.slow
def test_worker_processes_make_whole_blocks(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    ran = ludens("prepare", "viki/plan?split=ood", "--seed", "110", "-n", "20", "--workers", "2")
    assert ran.code == 0
    assert "viki/plan?split=ood: 100 of 100 seeds" in ran.out
    assert [file.name for file in tmp_path.rglob("*.json.z")] == ["1.json.z"]
