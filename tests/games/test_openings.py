"""Random openings of board games: level, different on every seed, and pairs of twins."""

from __future__ import annotations

import pytest

from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.open_spiel import BoardGame, SpielState
from ludens.testing import Trial
from ludens.testing.views import twins_differ_only_in_pictures

BOARDS = ("tic_tac_toe", "breakthrough?rows=6&columns=5", "reversi", "gomoku", "chess")


def board_game(spec: str, options: str) -> BoardGame:
    game = make(f"{spec}{'&' if '?' in spec else '?'}{options}")
    assert isinstance(game, BoardGame)
    return game


def worth(state: SpielState) -> float:
    """The value of a game of tic-tac-toe for X, by plain minimax on OpenSpiel's states."""

    def value(spiel) -> float:  # type: ignore[no-untyped-def]
        if spiel.is_terminal():
            return float(spiel.returns()[0])
        best = max if spiel.current_player() == 0 else min
        return float(best(value(spiel.child(action)) for action in spiel.legal_actions()))

    return value(state.spiel)


@pytest.mark.parametrize("spec", BOARDS)
def test_without_openings_every_seed_begins_with_the_usual_position(spec: str) -> None:
    game = board_game(spec, "opening=0")
    assert {str(game.start(seed).spiel) for seed in range(3)} == {str(game.first())}


@pytest.mark.parametrize("spec", BOARDS)
def test_seeds_begin_with_different_level_positions(spec: str) -> None:
    game = board_game(spec, "opening=5")
    states = [game.start(seed) for seed in range(4)]
    assert len({str(state.spiel) for state in states}) == 4
    assert all(state.spiel.move_number() == 5 and game.level(state) for state in states)
    assert str(game.start(2).spiel) == str(states[2].spiel)


def test_states_of_one_seed_are_independent() -> None:
    game = board_game("tic_tac_toe", "opening=3")
    first = game.start(1)
    before = str(first.spiel)
    first.apply({first.to_act[0]: first.legal(first.to_act[0]).first})
    assert str(game.start(1).spiel) == before


def test_openings_of_tic_tac_toe_are_drawn_with_best_play() -> None:
    game = board_game("tic_tac_toe", "opening=3")
    assert {worth(game.start(seed)) for seed in range(60)} == {0.0}


def test_moves_that_keep_one_twin_of_tic_tac_toe_lose_the_other() -> None:
    game = board_game("tic_tac_toe", "twins=true")
    for number in range(25):
        keeping = []
        for state in game.pair(number):
            [seat] = state.to_act
            side, moves = 1 if seat == "x" else -1, set[str]()
            for move in state.legal(seat):
                after = state.clone()
                after.apply({seat: move})
                moves |= {move} if side * worth(after) >= 0 else set()
            keeping.append(moves)
        assert all(keeping)
        assert not keeping[0] & keeping[1]


@pytest.mark.parametrize("spec", BOARDS)
def test_twins_keep_the_contract(spec: str) -> None:
    game = board_game(spec, "twins=true")
    twins_differ_only_in_pictures(Trial(game, seeds=range(2), views=(RenderOptions("classic", 256),)))
    first, second = game.pair(0)
    assert [game.level(first), game.level(second)] == [True, True]
    assert first.to_act == second.to_act
    assert set(game.good_moves(first)).isdisjoint(game.good_moves(second))
    if game.actions_told:
        assert set(first.legal(first.to_act[0])) == set(second.legal(first.to_act[0]))


def test_twins_of_reversi_have_no_valid_move_in_common() -> None:
    game = board_game("reversi", "twins=true")
    for number in range(3):
        first, second = game.pair(number)
        assert set(first.legal(first.to_act[0])).isdisjoint(second.legal(second.to_act[0]))


def test_twins_of_breakthrough_are_mirror_images() -> None:
    game = board_game("breakthrough?rows=6&columns=5", "twins=true")
    view = game.view(RenderOptions())
    matrix, other = (view.matrix(state) for state in game.pair(1))  # type: ignore[attr-defined]
    assert (
        [list(row)[::-1] for row in matrix] == [list(row) for row in other] != [list(row) for row in matrix]
    )


def test_twins_of_gomoku_have_the_same_crossings_in_other_colours() -> None:
    first, second = (state.spiel.history() for state in board_game("gomoku", "twins=true").pair(1))
    assert set(first) == set(second)
    assert set(first[::2]) != set(second[::2])


def test_impossible_openings_are_refused() -> None:
    with pytest.raises(BadOption, match="no level opening of 9 moves"):
        board_game("tic_tac_toe", "opening=9").start(0)


@pytest.mark.parametrize("spec", ["gomoku?size=11", "breakthrough?rows=5&columns=5"])
def test_twins_that_cannot_be_had_are_refused_soon(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No opening is searched twice, however often it is drawn."""
    game, searched = board_game(spec, "twins=true&opening=1"), list[tuple[int, ...]]()
    search = type(game).level

    def level(self: BoardGame, state: SpielState) -> bool:
        searched.append(tuple(state.spiel.history()))
        return search(self, state)

    monkeypatch.setattr(type(game), "level", level)
    with pytest.raises(BadOption, match="no pair of level openings of 1 move "):
        game.start(0)
    assert len(searched) == len(set(searched)) > 1
