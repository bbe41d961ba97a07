"""Every type of question: answered once more from its words alone, and not to be guessed without looking."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import sqrt

import numpy as np
import pytest

import ludens
from ludens.games.qa.boards import QUESTIONS
from ludens.games.qa.questions import QaItem
from tests.games.qa.guessing import blind
from tests.games.qa.reference import ANSWERS

ALL = [(board, kind) for board, kinds in QUESTIONS.items() for kind in kinds]
MOST_ABOVE = 0.05
TWO = {"more_discs", "more_colour", "more_kind", "emptier_half", "contains", "mine_at", "winning_line"}
THREE = {
    ("tic_tac_toe", "symbol_at"),
    ("tic_tac_toe", "winner"),
    ("reversi", "symbol_at"),
    ("gomoku", "stone_at"),
    ("chess", "colour_at"),
}


@lru_cache(maxsize=64)
def questions(board: str, kind: str, count: int) -> tuple[QaItem, ...]:
    game = ludens.make("qa", board=board, kind=kind)
    return tuple(game.start(seed).item for seed in range(count))  # type: ignore[attr-defined]


def check_key(board: str, kind: str, count: int) -> None:
    for asked in questions(board, kind, count):
        truth = ANSWERS[board][kind](asked.text, np.array(asked.matrix))
        assert asked.options[asked.right] == truth, asked
        assert len(set(asked.options)) == len(asked.options), asked


def check_blind(board: str, kind: str, count: int, most: float) -> None:
    for guess in blind(questions(board, kind, count)):
        assert guess.above <= most, guess


def test_every_type_is_answered_here() -> None:
    assert {board: set(kinds) for board, kinds in QUESTIONS.items()} == {
        b: set(k) for b, k in ANSWERS.items()
    }
    assert {board: len(kinds) for board, kinds in QUESTIONS.items()} == {
        "tic_tac_toe": 7, "reversi": 8, "sudoku": 9, "minesweeper": 6, "gomoku": 9, "chess": 8,
    }  # fmt: skip


@pytest.mark.parametrize(("board", "kind"), ALL)
def test_the_key_is_right_on_50_boards(board: str, kind: str) -> None:
    check_key(board, kind, 50)


@pytest.mark.slow
@pytest.mark.parametrize(("board", "kind"), ALL)
def test_the_key_is_right_on_500_boards(board: str, kind: str) -> None:
    check_key(board, kind, 500)


@pytest.mark.parametrize(("board", "kind"), ALL)
def test_guessing_blind_does_not_help(board: str, kind: str) -> None:
    # Four standard errors of the half on which learnt guesses are tried.
    check_blind(board, kind, 300, 4 * sqrt(0.25 / 150))


@pytest.mark.slow
@pytest.mark.parametrize(("board", "kind"), ALL)
def test_guessing_blind_is_within_five_points_of_chance(board: str, kind: str) -> None:
    check_blind(board, kind, 2_000, MOST_ABOVE)


@pytest.mark.parametrize(("board", "kind"), ALL)
def test_options_are_as_many_as_there_can_be(board: str, kind: str) -> None:
    wanted = 2 if kind in TWO else 3 if (board, kind) in THREE else 4
    assert {len(asked.options) for asked in questions(board, kind, 50)} == {wanted}


@pytest.mark.parametrize(
    ("board", "kind"),
    [("gomoku", "count_stones_in_line"), ("chess", "count_in_line"), ("sudoku", "digit_at")],
)
def test_positions_vary_in_density(board: str, kind: str) -> None:
    matrices = [np.array(asked.matrix) for asked in questions(board, kind, 50)]
    empty = [(matrix == 0).sum() for matrix in matrices]
    assert max(empty) - min(empty) > 0.4 * matrices[0].size


def test_numbers_of_minesweeper_fit_some_layout() -> None:
    """A number is never less than the mines seen around it, nor more than those and the hidden cells."""
    for kind in QUESTIONS["minesweeper"]:
        for asked in questions("minesweeper", kind, 50):
            field = np.pad(np.array(asked.matrix), 1, constant_values=0)
            for row, column in np.argwhere((field >= 0) & (field < 9)):
                near = field[row - 1 : row + 2, column - 1 : column + 2]
                if near.shape == (3, 3) and 1 <= row <= 8 and 1 <= column <= 8:
                    seen, hidden = (near == 9).sum(), (near == -1).sum()
                    assert seen <= field[row, column] <= seen + hidden


def test_a_biased_type_would_be_noticed() -> None:
    """The proof can fail: a truth that is always the least number, and one that likes the letter B."""
    fair = questions("gomoku", "count_stones", 300)
    least = [
        QaItem(q.text, q.options, min(range(4), key=lambda i: int(q.options[i])), q.matrix) for q in fair
    ]
    assert max(guess.above for guess in blind(least)) > 0.7
    letters = Counter(q.right for q in fair)
    lettered = [QaItem(q.text, q.options, 1 if n % 3 else q.right, q.matrix) for n, q in enumerate(fair)]
    assert max(guess.above for guess in blind(lettered)) > 0.4
    assert max(letters.values()) < 110
