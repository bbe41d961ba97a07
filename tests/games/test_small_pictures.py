"""Pictures below 256 pixels: as small as a game allows, with all that its text tells."""

from __future__ import annotations

import numpy as np
import pytest

from ludens import GAMES, RenderOptions, make
from ludens.core.errors import BadOption
from ludens.core.view import View, view_of
from ludens.testing import Trial, views
from tests.support.playable import playable

SMALLEST = {
    "tic_tac_toe": 64, "pong": 64, "pong?players=2": 64, "overcooked": 64, "overcooked?opening=random": 64,
    "overcooked?layout=counter_circuit": 128, "overcooked?layout=random": 128,
    "breakthrough": 96, "reversi": 96, "minesweeper": 96, "minesweeper?rows=5&columns=5&mines=4": 64,
    "minesweeper?rows=16&columns=16&mines=40": 160, "gomoku?size=9": 96, "gomoku": 128, "gomoku?size=19": 160,
    "chess": 128, "sudoku": 128, "spy": 192, "spy/vote": 192, "qa": 64, "rule?board=chess": 128,
    "perceive?board=sudoku": 128, "hanabi": 256, "kuhn_poker": 256, "coin_dilemma": 256, "comma/wire": 256,
}  # fmt: skip


def smallest(spec: str) -> int:
    """The least size that the game accepts, of those that RL uses."""
    game = playable(spec)
    for size in (64, 96, 128, 160, 192):
        try:
            view_of(game, RenderOptions(size=size), 0)
            return size
        except BadOption:
            continue
    return 256


@pytest.mark.parametrize(("spec", "size"), SMALLEST.items())
def test_the_least_size_is_told(spec: str, size: int) -> None:
    assert smallest(spec) == size


def test_games_without_a_least_size_of_their_own_are_refused() -> None:
    with pytest.raises(
        BadOption, match="hanabi with these options need at least 256 pixels to be read, not 255"
    ):
        view_of(make("hanabi"), RenderOptions(size=255), 0)
    assert View.smallest.fget(None) == 256  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "theme"),
    [
        pytest.param(spec, theme, marks=() if number % 3 == look else pytest.mark.slow)
        for number, spec in enumerate(spec for spec, size in SMALLEST.items() if size < 256)
        for look, theme in enumerate(("classic", "plain", "contrast"))
    ],
)
def test_small_pictures_show_what_the_text_tells(spec: str, theme: str) -> None:
    render = RenderOptions(theme, SMALLEST[spec])
    trial = Trial(playable(spec), seeds=(0, 1), views=(render,))
    views.pictures_have_the_requested_size(trial)
    views.picture_and_text_agree(trial)
    views.places_can_be_clicked(trial)


def test_the_ball_is_never_left_out() -> None:
    game = playable("pong")
    view = view_of(game, RenderOptions("classic", 64), 0)
    state, white, shown = game.start(1), np.array((236, 236, 236)), 0
    for _ in range(60):
        state.apply({"player": "STAY"})
        if state.over:
            break
        if state.frames[-1].ball is not None:
            left, _, top, _ = state.frames[-1].ball
            pixel = view.image(state, "player").rgb()[top * 64 // 210, 7 + left * 49 // 160]
            assert np.array_equal(pixel, white)
            shown += 1
    assert shown > 10


def test_every_game_says_a_size_that_it_can_draw() -> None:
    for name in GAMES.names():
        assert smallest(name) in (64, 96, 128, 160, 192, 256)
