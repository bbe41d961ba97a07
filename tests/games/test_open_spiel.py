"""The adapter against OpenSpiel itself: names, chance, secrets, and the cost of one more game."""

import re
import sys
from dataclasses import dataclass
from typing import Any

import pyspiel
import pytest

import ludens
from ludens.cli.lists import _NEEDED
from ludens.core.errors import Illegal, MissingExtra, MissingPackage
from ludens.core.view import RenderOptions, View
from ludens.games import open_spiel
from ludens.games.open_spiel import SpielGame


@dataclass(frozen=True)
class Kuhn(SpielGame):
    """Three cards, two players."""

    name = "test_kuhn"
    spiel_name = "kuhn_poker"
    imperfect_information = True

    @property
    def seats(self) -> tuple[str, ...]:
        return ("first", "second")

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        raise NotImplementedError


@dataclass(frozen=True)
class Pennies(Kuhn):
    """Both choose at once."""

    name = "test_pennies"
    spiel_name = "matrix_mp"
    imperfect_information = False


@pytest.mark.parametrize("name", ["tic_tac_toe", "breakthrough"])
def test_random_play_agrees_with_open_spiel(name: str) -> None:
    game = ludens.make(name)
    assert isinstance(game, SpielGame)
    for seed in range(10):
        state, theirs = game.start(seed), pyspiel.load_game(name).new_initial_state()
        choices = ludens.stream(seed, "test")
        while not state.over:
            [seat] = state.to_act
            assert seat == game.seats[theirs.current_player()]
            legal = state.legal(seat)
            assert len(set(legal)) == len(legal) == len(theirs.legal_actions())
            index = choices.below(len(legal))
            state.apply({seat: legal[index]})
            theirs.apply_action(theirs.legal_actions()[index])
            assert str(state.spiel) == str(theirs)
        assert theirs.is_terminal()
        assert list(state.returns.values()) == theirs.returns()


def test_every_cell_of_tic_tac_toe_is_where_its_name_says() -> None:
    game = ludens.make("tic_tac_toe")
    view = game.view(RenderOptions())
    for row, letter in enumerate("ABC"):
        for column, digit in enumerate("123"):
            state = game.start(0)
            state.apply({"x": letter + digit})
            matrix = view.matrix(state)  # type: ignore[attr-defined]
            assert [(r, c) for r in range(3) for c in range(3) if matrix[r][c] == 1] == [(row, column)]


def test_breakthrough_moves_start_and_end_where_their_names_say() -> None:
    game = ludens.make("breakthrough")
    view: Any = game.view(RenderOptions())
    for seed in range(3):
        state, choices = game.start(seed), ludens.stream(seed, "test")
        while not state.over:
            [seat] = state.to_act
            action = choices.choice(list(state.legal(seat)))  # type: ignore[arg-type]
            before = view.matrix(state)
            state.apply({seat: action})
            after = view.matrix(state)
            labels = {
                view.column_label(c) + view.row_label(r): (r, c)
                for r in range(view.rows)
                for c in range(view.columns)
            }
            (r0, c0), (r1, c1) = labels[action[:2]], labels[action[2:]]
            mine = {"black": 1, "white": 2}[seat]
            assert before[r0][c0] == mine == after[r1][c1]
            assert after[r0][c0] == 0


def test_chance_comes_from_the_seed_alone() -> None:
    game = Kuhn()
    deals = [str(game.start(seed).spiel) for seed in range(60)]
    assert deals == [str(game.start(seed).spiel) for seed in range(60)]
    assert len(set(deals)) == 6


def test_what_is_secret_is_drawn_anew_and_the_own_card_is_not() -> None:
    game = Kuhn()
    state = game.start(3)
    seen = {str(state.resample_hidden("first", ludens.stream(n, "test")).spiel) for n in range(40)}
    assert len(seen) == 2
    assert {deal.split()[0] for deal in seen} == {str(state.spiel).split()[0]}


def test_seats_that_move_together() -> None:
    state = Pennies().start(0)
    assert state.to_act == ("first", "second")
    with pytest.raises(Illegal):
        state.apply({"first": "Heads"})
    state.apply({"first": "Heads", "second": "Tails"})
    assert state.over
    assert state.returns == {"first": -1.0, "second": 1.0}


def test_forfeit_is_a_loss() -> None:
    assert ludens.make("tic_tac_toe").start(0).forfeited("x") == {"x": -1.0, "o": 1.0}


def test_clones_are_independent() -> None:
    state = ludens.make("tic_tac_toe").start(0)
    copy = state.clone()
    copy.apply({"x": "A1"})
    assert "A1" in state.legal("x")  # type: ignore[operator]
    assert copy.to_act == ("o",)


def test_a_missing_open_spiel_disables_only_its_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    open_spiel._load.cache_clear()
    refused = {}
    for name in ludens.GAMES.names():
        try:
            game = ludens.make(name)
            state = game.start(0)
            game.view(RenderOptions()).image(state, game.seats[0])
        except MissingPackage as error:
            refused[name] = str(error)
        except MissingExtra:
            pass
    assert set(refused) == {name for name, module in _NEEDED.items() if module == "pyspiel"}
    message = (
        r"\w+ needs open_spiel, which cannot be imported \(.+\): pip install --force-reinstall open_spiel\."
    )
    assert all(re.fullmatch(message, text) for text in refused.values())
