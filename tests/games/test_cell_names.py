"""Spellings of cells and moves on boards."""

import pytest

import ludens
from ludens.core.errors import Illegal, MoveError
from ludens.core.view import RenderOptions


def read(board: str, name: str) -> str:
    game = ludens.make(board)
    state = game.start(0)
    [seat] = state.to_act
    return game.view(RenderOptions()).format(state, seat).read(f"Action: {name}", state.legal(seat))


@pytest.mark.parametrize(
    ("board", "name", "action"),
    [
        ("gomoku", "H 8", "H8"),
        ("gomoku", "h-8", "H8"),
        ("gomoku", "(H, 8)", "H8"),
        ("gomoku", "8H", "H8"),
        ("gomoku", "12 b", "B12"),
        ("tic_tac_toe", "2B", "B2"),
        ("minesweeper", "C\u00a03", "C3"),
        ("reversi", "3d", "D3"),
        ("breakthrough", "a7-a6", "a7a6"),
        ("breakthrough", "A7 – B6", "a7b6"),
        ("breakthrough", "a7xb6", "a7b6"),
    ],
)
def test_unambiguous_spellings(board: str, name: str, action: str) -> None:
    assert read(board, name) == action


@pytest.mark.parametrize(
    ("board", "name"),
    [
        ("gomoku", "H1 2"),
        ("gomoku", "1 2H"),
        ("gomoku", "H8 H9"),
        ("tic_tac_toe", "4B"),
        ("tic_tac_toe", "22"),
        ("reversi", "1A"),
        ("breakthrough", "6a7a"),
        ("breakthrough", "a7 or a6"),
    ],
)
def test_other_names_are_illegal(board: str, name: str) -> None:
    with pytest.raises(Illegal):
        read(board, name)


def test_a_second_label_is_ambiguous() -> None:
    with pytest.raises(MoveError, match="several"):
        read("tic_tac_toe", "C2\nNo wait, Action: 3C")
