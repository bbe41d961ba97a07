"""Opponents that look ahead in tic-tac-toe and Reversi: right boards, and the strength they promise."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.errors import BadOption
from ludens.games.open_spiel import SpielState
from ludens.games.reversi import ReversiSearch, cells, discs, flipped_by, moves, score
from ludens.games.tic_tac_toe import SEARCH
from ludens.loop import play
from tests.support.lines import outcomes


def cell_name(bit: int) -> str:
    row, column = divmod(bit.bit_length() - 1, 8)
    return "ABCDEFGH"[row] + str(column + 1)


async def results(name: str, ours: str, theirs: str, seeds: range) -> list[float]:
    """What the first bot earns, in one seat and the other in turn."""
    game = ludens.make(name)
    a, b = ludens.agent(ours, game), ludens.agent(theirs, game)
    earned = []
    for seed in seeds:
        first, second = game.seats if seed % 2 else game.seats[::-1]
        earned.append((await play(game, {first: a, second: b}, seed)).returns[first])
    return earned


@pytest.mark.parametrize("seat", ["x", "o"])
@pytest.mark.parametrize("seed", range(5))
async def test_minimax_loses_no_line_of_play(seat: str, seed: int) -> None:
    game = ludens.make("tic_tac_toe")
    ends = await outcomes(game, ludens.agent("bot/minimax", game), seat, seed=seed)
    assert set(ends) == {"won", "drawn"}
    assert ends.total() > 50


async def test_random_play_loses_some_lines() -> None:
    game = ludens.make("tic_tac_toe")
    ends = await outcomes(game, ludens.agent("bot/random", game), "o")
    assert set(ends) == {"won", "drawn", "lost"}


def value_of(board: str, mover: str, waiter: str) -> float:
    return SEARCH.value((board, mover, waiter), board.count("."))


def test_tic_tac_toe_is_a_draw_and_wins_are_taken_at_once() -> None:
    assert value_of("." * 9, "x", "o") == 0
    assert value_of("xx.oo....", "x", "o") > 0
    assert value_of("xx.oo....", "x", "o") > value_of("x...o..x.", "x", "o")
    assert value_of("xxxoo....", "o", "x") < 0


async def test_minimax_beats_random_and_weaker_ones_can_lose() -> None:
    assert min(await results("tic_tac_toe", "bot/minimax", "bot/random", range(60))) == 0
    assert sum(await results("tic_tac_toe", "bot/minimax", "bot/random", range(60))) > 40
    assert set(await results("tic_tac_toe", "bot/minimax", "bot/minimax", range(20))) == {0.0}
    assert min(await results("tic_tac_toe", "bot/minimax?slips=1", "bot/minimax", range(20))) == -1


def test_bitboards_agree_with_open_spiel() -> None:
    game = ludens.make("reversi")
    for seed in range(25):
        state, choose = game.start(seed), ludens.stream(seed, "test")
        assert isinstance(state, SpielState)
        while not state.over:
            [seat] = state.to_act
            own, other = discs(state, seat)
            named = {cell_name(bit): bit for bit in cells(moves(own, other))}
            assert set(state.legal(seat)) == (set(named) or {"PASS"})
            action = choose.choice(state.legal(seat))
            state.apply({seat: action})
            if action != "PASS":
                flips = flipped_by(own, other, named[action])
                assert discs(state, seat) == (own | flips | named[action], other ^ flips)


def plain_value(own: int, other: int, depth: int) -> int:
    """The same search without any pruning."""
    if depth <= 0:
        return score(own, other)
    if not moves(own, other):
        if not moves(other, own):
            return round(ReversiSearch().value((own, other), 1))
        return -plain_value(other, own, depth - 1)
    values = []
    for cell in cells(moves(own, other)):
        flips = flipped_by(own, other, cell)
        values.append(-plain_value(other ^ flips, own | flips | cell, depth - 1))
    return max(values)


def test_pruning_changes_no_value_and_a_score_is_the_other_sides_loss() -> None:
    game = ludens.make("reversi")
    for seed in range(12):
        state, choose = game.start(seed), ludens.stream(seed, "test")
        assert isinstance(state, SpielState)
        for _ in range(8 + 4 * seed):
            if state.over:
                break
            [seat] = state.to_act
            state.apply({seat: choose.choice(state.legal(seat))})
        if not state.over:
            own, other = discs(state, state.to_act[0])
            assert score(own, other) == -score(other, own)
            for depth in (1, 2, 3):
                assert ReversiSearch().value((own, other), depth) == plain_value(own, other, depth)


@pytest.mark.slow
async def test_reversi_alphabeta_beats_random() -> None:
    earned = await results("reversi", "bot/alphabeta", "bot/random", range(12))
    assert earned.count(1.0) >= 11


@pytest.mark.slow
async def test_reversi_alphabeta_beats_random_in_95_of_100_and_deeper_is_stronger() -> None:
    assert (await results("reversi", "bot/alphabeta", "bot/random", range(100))).count(1.0) >= 95
    assert sum(await results("reversi", "bot/alphabeta?depth=4", "bot/alphabeta?depth=1", range(20))) > 8


async def test_the_same_seed_plays_the_same_game() -> None:
    game = ludens.make("reversi")
    seats = dict.fromkeys(game.seats, ludens.agent("bot/alphabeta?depth=1&endgame=0", game))
    one, two, other = [await play(game, seats, seed) for seed in (5, 5, 6)]
    assert one.fingerprint() == two.fingerprint()
    assert [move.action for move in one.moves] != [move.action for move in other.moves]
    with pytest.raises(BadOption):
        ludens.agent("bot/alphabeta?depth=0", game)
