"""Boards on which seats take turns show the last move and the seat to move, in the picture and in words."""

from __future__ import annotations

import numpy as np
import pytest

import ludens
from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES
from ludens.games.boards import TurnView
from ludens.games.open_spiel import SpielState

GAMES = ("tic_tac_toe", "breakthrough", "reversi", "gomoku", "chess")


def played(name: str, moves: int, seed: int = 0) -> SpielState:
    state, choose = ludens.make(name).start(seed), ludens.stream(seed, "test")
    for _ in range(moves):
        state.apply({state.to_act[0]: state.legal(state.to_act[0]).sample(choose)})
    assert isinstance(state, SpielState)
    return state


def view(name: str, theme: str = "classic", size: int = 512) -> TurnView:
    found = view_of(ludens.make(name), RenderOptions(theme, size), 3)
    assert isinstance(found, TurnView)
    return found


def framed(name: str, state: SpielState, theme: str = "classic", size: int = 512) -> set[str]:
    """The cells with a frame: those with a square of ink at their edge."""
    shown = view(name, theme, size)
    pixels, ink = shown.image(state, "").pixels, shown.board.sheet.index("ink")  # type: ignore[attr-defined]
    found = set()
    for number, cell in enumerate(shown.cells()):
        x, y, px = shown.board.cell(*divmod(number, shown.columns))
        inside = pixels[y : y + px, x : x + px] == ink
        if any(_has_rim(inside[a : px - b, a : px - b]) for a in range(3) for b in range(3)):
            found.add(cell)
    return found


def _has_rim(mask: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> bool:
    return bool(mask[0].all() and mask[-1].all() and mask[:, 0].all() and mask[:, -1].all())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [256, 512])
@pytest.mark.parametrize("name", GAMES)
def test_the_cells_of_the_last_move_are_framed(name: str, theme: str, size: int) -> None:
    for moves in (0, 1, 4):
        state = played(name, moves)
        expected = {cell for move in state.last.values() for cell in view(name).squares(move)}
        assert len(expected) == (0 if not moves else 2 if name in ("breakthrough", "chess") else 1)
        assert framed(name, state, theme, size) == expected


@pytest.mark.parametrize("name", GAMES)
def test_words_name_the_last_move_and_the_seat_to_move(name: str) -> None:
    state, shown = played(name, 0), view(name)
    assert shown.text(state, "").endswith(f"last move: none yet\n{shown.player(state.to_act[0])} to move")
    mover = state.to_act[0]
    action = state.legal(mover).first
    state.apply({mover: action})
    last = f"last move: {shown.player(mover)} {action}\n{shown.player(state.to_act[0])} to move"
    assert shown.text(state, "").endswith(last)


@pytest.mark.parametrize("name", GAMES)
def test_the_seat_to_move_shows(name: str) -> None:
    """Two states that differ in nothing else have different pictures and words."""
    state, shown = played(name, 4), view(name)
    other = state.clone()
    other._to_act = (next(seat for seat in state.game.seats if seat not in state.to_act),)
    assert shown.image(other, "").hash != shown.image(state, "").hash
    assert shown.text(other, "") != shown.text(state, "")


@pytest.mark.parametrize("name", GAMES)
def test_clones_keep_their_own_last_move(name: str) -> None:
    state = played(name, 3)
    copy = state.clone()
    assert copy.last == state.last != {}
    copy.apply({copy.to_act[0]: copy.legal(copy.to_act[0]).first})
    assert copy.last != state.last


def test_a_pass_is_said() -> None:
    state, shown = played("reversi", 3), view("reversi")
    passed = state.clone()
    passed.last = {"black": "PASS"}
    nothing = state.clone()
    nothing.last = {}
    assert framed("reversi", passed) == set()
    assert shown.image(passed, "").hash != shown.image(nothing, "").hash
    assert "last move: black PASS" in shown.text(passed, "")


@pytest.mark.parametrize("name", GAMES)
def test_questions_about_positions_show_no_last_move(name: str) -> None:
    state, shown = played(name, 4), view(name)
    matrix = shown.matrix(state)
    words = shown.transcript(matrix)
    assert "move" not in words
    bare = state.clone()
    bare.last = {}
    board = np.s_[: shown.board.y + shown.board.px * shown.rows]
    drawn, played_on = shown.draw(matrix), shown.image(bare, "")
    assert np.array_equal(drawn.pixels[board], played_on.pixels[board])  # type: ignore[attr-defined]
    rule = ludens.make("rule", board=name)
    question = rule.start(3)
    assert "last move: none yet" in rule.view(RenderOptions()).text(question, "player")
