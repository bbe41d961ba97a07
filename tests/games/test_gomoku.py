"""Gomoku: names, the win, and a player that sees fours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludens
from ludens.core.view import RenderOptions
from ludens.games.gomoku import WORTH, LineCounts, lines_of_five
from ludens.loop import play


def position(black: str, white: str) -> list[str]:
    """A game in which these stones were put in turn."""
    return [cell for pair in zip(black.split(), white.split(), strict=True) for cell in pair]


def test_every_crossing_is_where_its_name_says() -> None:
    game = ludens.make("gomoku")
    view = game.view(RenderOptions())
    for row in range(15):
        for column in range(15):
            name = "ABCDEFGHIJKLMNO"[row] + str(column + 1)
            assert (view.row_label(row) + view.column_label(column)) == name  # type: ignore[attr-defined]
            state = game.start(0)
            state.apply({"black": name})
            assert view.matrix(state)[row][column] == 1  # type: ignore[attr-defined]


def test_h11_is_not_h1() -> None:
    game = ludens.make("gomoku")
    state = game.start(0)
    assert (
        game.view(RenderOptions()).format(state, "black").read("Action: H11", state.legal("black")) == "H11"
    )


@pytest.mark.parametrize(
    "line", ["A1 A2 A3 A4 A5", "K15 L15 M15 N15 O15", "A1 B2 C3 D4 E5", "A15 B14 C13 D12 E11"]
)
def test_five_win(line: str) -> None:
    state = ludens.make("gomoku").start(0)
    cells = line.split()
    for cell, other in zip(cells, ["H1", "H3", "H5", "H7", ""], strict=True):
        state.apply({"black": cell})
        if other:
            state.apply({"white": other})
    assert state.returns == {"black": 1.0, "white": -1.0}


def test_there_are_572_lines_of_five() -> None:
    assert len(lines_of_five(15)) == 572


@settings(max_examples=60)
@given(st.lists(st.integers(0, 80), unique=True, max_size=40))
def test_incremental_counts_equal_full_counts(cells: list[int]) -> None:
    kept = LineCounts(9)
    for cell in cells:
        kept.put(cell)
    for cell in cells[len(cells) // 2 :]:
        kept.take(cell)
    fresh = [0, 0]
    for line in lines_of_five(9):
        held = [[kept.stones.get(cell) for cell in line].count(side) for side in (0, 1)]
        for side in (0, 1):
            if not held[1 - side]:
                fresh[side] += WORTH[held[side]]
    assert kept.worth == fresh


async def reply_to(moves: list[str], seed: int) -> str:
    game = ludens.make("gomoku")
    state = game.start(0)
    for move in moves:
        state.apply({state.to_act[0]: move})
    [seat] = state.to_act
    player = ludens.agent("bot/lines", game).sit(game, seat, ludens.stream(seed, "test"))
    view = game.view(RenderOptions())
    ask = ludens.Ask(seat=seat, legal=state.legal(seat), format=view.format(state, seat), state=state)
    return (await player.act(ask)).text


@pytest.mark.parametrize("seed", range(3))
async def test_a_four_is_finished(seed: int) -> None:
    moves = position("H5 H6 H7 H8", "A1 A3 A5 C9")
    assert await reply_to(moves, seed) in ("H4", "H9")


@pytest.mark.parametrize("seed", range(3))
async def test_a_four_is_blocked(seed: int) -> None:
    moves = [*position("H5 H6 H7", "H4 A3 A5"), "H8"]
    assert await reply_to(moves, seed) == "H9"


@pytest.mark.parametrize("seed", range(3))
async def test_an_open_three_is_answered(seed: int) -> None:
    moves = [*position("H6 H7", "A3 C12"), "H8"]
    assert await reply_to(moves, seed) in ("H4", "H5", "H9", "H10")


async def test_lines_beat_random() -> None:
    game = ludens.make("gomoku")
    lines, random = ludens.agent("bot/lines", game), ludens.agent("bot/random", game)
    for seed in range(4):
        seat, other = ("black", "white") if seed % 2 else ("white", "black")
        assert (await play(game, {seat: lines, other: random}, seed)).returns[seat] == 1
