"""`ludens games` lists all games, including those that fail to load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.cli import lists
from ludens.core.errors import MissingExtra
from ludens.core.registry import GAMES
from tests.cli.conftest import Run


def test_every_game_is_in_the_table(ludens: Run) -> None:
    ran = ludens("games")
    assert (ran.code, ran.err) == (0, "")
    assert [name for name in GAMES.names() if name not in ran.out] == []
    assert "\x1b" not in ran.out


def test_json_holds_seats_kind_of_play_options_and_summary(ludens: Run) -> None:
    listed = {game["name"]: game for game in json.loads(ludens("games", "--json").out)}
    assert list(listed) == GAMES.names()
    wrong = {name: game["error"] for name, game in listed.items() if "error" in game}
    assert {name for name, error in wrong.items() if "needs the extra" not in error} == set()
    kinds = {
        "tic_tac_toe": "turns", "coin_dilemma": "together", "comma/wire": "talk", "qa": "question",
        "sudoku": "alone", "minesweeper": "alone", "perceive": "question", "rule": "question",
    }  # fmt: skip
    assert {name: listed[name]["play"] for name in kinds} == kinds
    assert listed["breakthrough"]["seats"] == ["black", "white"]
    assert listed["breakthrough"]["options"]["rows"] == {
        "value": 8, "low": 4, "high": 8, "help": "rows of the board",
    }  # fmt: skip
    assert listed["breakthrough"]["summary"].startswith("A race of pawns")
    assert "bot/self_interest" in listed["coin_dilemma"]["bots"]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_narrow_terminals_show_whole_names(width: int, ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ludens("games").out.splitlines()
    assert [name for name in GAMES.names() if not any(line.split()[:1] == [name] for line in lines)] == []
    assert [line for line in lines[:-1] if len(line) > width] == []
    assert ("(terminal too narrow for: options)" in lines) == (width == 80)
    assert ("  play: turns" in lines) == (width == 40)


def test_one_game_is_described(ludens: Run) -> None:
    ran = ludens("games", "breakthrough?rows=6")
    assert ran.code == 0
    assert "Rewards: +1 for the winner" in ran.out
    assert any(line.split()[:3] == ["rows", "6", "4"] for line in ran.out.splitlines())


def test_a_game_that_fails_to_load_is_listed_with_the_error(
    ludens: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pong() -> None:
        raise MissingExtra("pong", "atari")

    monkeypatch.setitem(GAMES._added, "pong", "tests.cli.no_such_module:Pong")
    [game] = [g for g in json.loads(ludens("games", "--json").out) if g["name"] == "pong"]
    assert "no_such_module" in game["error"]
    monkeypatch.setattr("ludens.cli.lists.game_of", lambda name: pong())
    ran = ludens("games")
    assert ran.code == 0
    assert "ludens[atari]" in ran.out


def test_stored_descriptions_are_those_of_the_games() -> None:
    stored = json.loads(Path(lists.__file__).with_name("games.json").read_text())
    current = json.loads(json.dumps(lists.shipped_games()))
    assert {name: stored.get(name) for name in current} == current, "run `python -m ludens.cli.lists`"
    assert set(stored) - set(current) <= {"pong"}, "run `python -m ludens.cli.lists`"
