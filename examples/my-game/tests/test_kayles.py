"""Kayles keeps the rules of Ludens, and its values are those of the literature."""

from __future__ import annotations

import pytest
from kayles.bots import nimber, value
from kayles.game import Kayles, KaylesState

import ludens
from ludens.testing import check_game


@pytest.mark.parametrize("pins", [3, 9, 12])
def test_it_conforms(pins: int) -> None:
    check_game(Kayles(pins=pins))


def test_it_is_registered() -> None:
    assert isinstance(ludens.make("kayles?pins=5"), Kayles)


def test_moves_of_a_broken_row() -> None:
    state = KaylesState((1, 2, 4), 0)
    assert set(state.legal("first")) == {"1", "2", "4", "1-2"}
    state.apply({"first": "1-2"})
    state.apply({"second": "4"})
    assert state.returns == {"first": -1.0, "second": 1.0}


def test_values_are_the_published_ones() -> None:
    """Guy and Smith, The G-values of various games, 1956: the first twelve."""
    assert [nimber(length) for length in range(12)] == [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]


def test_perfect_play_wins_whenever_it_can() -> None:
    game = ludens.make("kayles")
    players = {"first": ludens.agent("bot/best", game), "second": ludens.agent("bot/nimber", game)}
    for seed in range(10):
        won = ludens.play_sync(game, players, seed).returns["first"] > 0
        assert won == (value(game.start(seed).standing) != 0)
