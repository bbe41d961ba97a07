"""Where nano is offered, and where it warns: by the measured map, or by what it was taught."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.cli import main
from ludens.core.registry import make
from ludens.run.ability import Ability, AbilityMap, AbilityScore
from ludens.train.nano import taught
from ludens.train.nano.player import SHIPPED
from ludens.web.play import _offered


def row(game: str, legal: float, score: float, **options: object) -> Ability:
    scores = {
        name: AbilityScore("bot/any", mean, 0.01, 20)
        for name, mean in {"player": score, "blind": 0.1, "random": 0.0, "best": 1.0}.items()
    }
    return Ability(game, options, "bot/random", scores, legal, 1 - legal, 200)


ROWS = (
    row("tic_tac_toe", 0.3, 0.0),
    row("kuhn_poker", 1.0, 0.9),
    row("hanabi", 1.0, 0.1),
    row("sudoku", 0.95, 0.1),
    row("gomoku", 0.95, 0.5, size=9),
)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "games.json"
    AbilityMap("nano", taught.fingerprint(SHIPPED), ROWS).write(file)
    monkeypatch.setattr(taught, "GAMES_FILE", file)
    return file


@pytest.mark.usefixtures("measured")
def test_the_map_decides_with_its_options() -> None:
    assert "nano" not in _offered(make("tic_tac_toe"))
    assert "nano" not in _offered(make("tic_tac_toe", opening=2)), "where it begins is no other game"
    assert "nano" in _offered(make("kuhn_poker"))
    assert "nano" in _offered(make("gomoku", size=9))
    assert "nano" in _offered(make("gomoku")), "not measured: it was taught that"
    assert "nano" not in _offered(make("gomoku", size=11))
    assert "nano" not in _offered(make("hanabi"))


@pytest.mark.usefixtures("measured")
def test_warnings() -> None:
    assert taught.warning(make("kuhn_poker")) is None
    assert "30% of its first replies were legal" in (taught.warning(make("tic_tac_toe")) or "")
    assert "no better than a player who does not look" in (taught.warning(make("hanabi")) or "")
    assert "no better than a player who does not look" in (taught.warning(make("sudoku")) or ""), (
        "mostly legal"
    )
    smaller = taught.warning(make("breakthrough", rows=6, columns=6)) or ""
    assert "was not taught breakthrough with these options" in smaller


def test_a_map_of_other_weights_says_nothing(measured: Path) -> None:
    AbilityMap("nano", "0123456789abcdef", ROWS).write(measured)
    assert taught.is_taught(make("tic_tac_toe"))
    assert taught.is_taught(make("hanabi")), "it is in the recipe"
    assert not taught.is_taught(make("breakthrough", rows=6, columns=6))


@pytest.mark.usefixtures("measured")
def test_the_terminal_warns_before_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    played = ["play", "tic_tac_toe", "--seat", "x=nano"]
    assert main(played) == 0
    assert "nano is no match at tic_tac_toe" in capsys.readouterr().err
    assert main(["play", "tic_tac_toe", "--seat", "x=bot/first"]) == 0
    assert "nano" not in capsys.readouterr().err


def test_the_map_of_the_package_names_no_folder() -> None:
    shipped = AbilityMap.read(taught.GAMES_FILE)
    specs = {row.scores[who].spec for row in shipped.games for who in ("player", "control")}
    assert shipped.model == "nano"
    assert specs == {"nano?device=int8", "nano?device=int8&blind=true"}
