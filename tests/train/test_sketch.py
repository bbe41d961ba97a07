"""Boards drawn in other ways: the same for one seed, and with everything that is on them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ludens
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.games.perceive import board_of
from ludens.train.nano import dataset
from ludens.train.nano.sketch import sketch

BOARDS = ("tic_tac_toe", "reversi", "chess", "sudoku", "minesweeper", "gomoku", "breakthrough")


def picture(board: str, names: list[list[str]], seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return sketch(board, names, stream(seed, "sketch")).rgb()


@pytest.mark.parametrize("board", BOARDS)
def test_every_thing_is_seen_in_its_cell_only(board: str) -> None:
    view = board_of(board, RenderOptions())
    empty, *things = view.codes.values()
    for seed, thing in enumerate(things):
        names = [[empty] * view.columns for _ in range(view.rows)]
        before = picture(board, names, seed)
        names[1][1] = thing
        changed = (picture(board, names, seed) != before).any(2)
        assert changed.any(), thing
        rows, columns = changed.nonzero()
        side = 512 / min(view.rows, view.columns)
        assert max(np.ptp(rows), np.ptp(columns)) <= 1.25 * side, thing


@pytest.mark.parametrize("board", BOARDS)
def test_seeds_differ_and_one_seed_does_not(board: str) -> None:
    view = board_of(board, RenderOptions())
    names = [[view.codes[code] for code in row] for row in view.scatter(stream(1, "board"))]
    assert np.array_equal(picture(board, names, 1), picture(board, names, 1))
    assert not np.array_equal(picture(board, names, 1), picture(board, names, 2))


@pytest.mark.parametrize("board", ["tic_tac_toe", "chess"])
def test_random_codes_are_sketched_as_what_they_mean(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[list[list[str]]]()

    def noted(board: str, names: list[list[str]], random: object) -> str:
        drawn.append(names)
        return "a sketch"

    monkeypatch.setattr(dataset, "sketch", noted)
    for codes in ("usual", "random"):
        game = ludens.make("perceive", board=board, codes=codes)
        episode = ludens.play_sync(game, {"viewer": ludens.agent("bot/best", game)}, 3)
        [sample] = ludens.samples(episode)
        dataset.sketched(sample)
    assert drawn[0] == drawn[1]
    usual = board_of(board, RenderOptions()).codes
    position = json.loads(ludens.make("perceive", board=board).start(3).solution("viewer") or "")
    assert drawn[0] == [[usual[code] for code in row] for row in position]
