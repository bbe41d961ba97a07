"""`ludens show` gives a person what a model would be given."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from ludens.core.registry import GAMES
from tests.cli.conftest import Run


def test_all_parts_are_told_and_no_file_is_written(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = ludens("show", "tic_tac_toe", "--seed", "7", "--moves", "2")
    assert (ran.code, ran.err) == (0, "")
    for part in ("== Rules", "== Text twin", "== Legal actions", "== Reply", "== Picture", "not written"):
        assert part in ran.out
    assert list(tmp_path.iterdir()) == []


def test_json_agrees_with_the_file(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "board.png"
    game = ("show", "breakthrough?rows=6", "-o", "columns=5", "--seed", "3", "--moves", "5")
    render = ("--seat", "white", "--theme", "contrast", "--size", "300", "--out", str(file))
    ran = ludens(*game, *render, "--json")
    told = json.loads(ran.out)
    assert told["options"] == {"rows": 6, "columns": 5, "opening": 0, "twins": False}
    assert [list(actions) for actions in told["moves"]] == [["black"], ["white"]] * 2 + [["black"]]
    assert (told["to_act"], told["seat"]) == (["white"], "white")
    assert told["pictures"][0]["file"] == str(file)
    with Image.open(file) as image:
        assert (image.format, image.size) == ("PNG", (300, 300))
        assert image.size == (told["pictures"][0]["width"], told["pictures"][0]["height"])
    assert all(len(action) == 4 for action in told["legal"])
    assert told["text"].count("\n") == 9


def test_one_seed_gives_one_picture(ludens: Run) -> None:
    argv = ("show", "breakthrough", "--moves", "9", "--theme", "random", "--json")
    assert ludens(*argv, "--seed", "5").out == ludens(*argv, "--seed", "5").out
    hashes = {json.loads(ludens(*argv, "--seed", seed).out)["pictures"][0]["hash"] for seed in "567"}
    assert len(hashes) == 3


@pytest.mark.parametrize("suffix", ["jpg", "JPEG"])
def test_jpeg_by_suffix(suffix: str, ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / f"board.{suffix}"
    assert ludens("show", "tic_tac_toe", "--out", str(file)).code == 0
    with Image.open(BytesIO(file.read_bytes())) as image:
        assert (image.format, image.size) == ("JPEG", (512, 512))


def test_a_seat_that_waits_has_no_actions(ludens: Run) -> None:
    assert "none: x must move" in ludens("show", "tic_tac_toe", "--seat", "o").out


def test_names_of_actions_with_spaces_are_told_apart(ludens: Run) -> None:
    assert "(Play 0), (Play 1)" in ludens("show", "hanabi").out


def test_a_game_that_ends_early_says_so(ludens: Run) -> None:
    ran = ludens("show", "tic_tac_toe", "--moves", "50")
    assert ran.code == 0
    assert "over after " in ran.out
    assert " of 50 random moves" in ran.out
    assert "none: the game is over, with x " in ran.out


@pytest.mark.parametrize("game", GAMES.names())
def test_every_seat_of_every_game_can_be_shown(game: str, ludens: Run, tmp_path: Path) -> None:
    about = ludens("games", game, "--json")
    if "needs the extra" in about.err:
        pytest.skip(about.err.strip())
    for seat in json.loads(about.out)["seats"]:
        file = tmp_path / f"{seat}.png"
        render = ("--moves", "2", "--seat", seat, "--size", "256", "--out", str(file))
        ran = ludens("show", game, *render, "--json")
        assert ran.code == 0
        told = json.loads(ran.out)
        assert told["rules"]
        assert told["text"] or game == "files"  # a picture of a user has no words
        assert all(Path(picture["file"]).is_file() for picture in told["pictures"])
