"""Breakthrough's own player: its search against a plain one, and against the other bots."""

import pytest

import ludens
from ludens.core.state import State
from ludens.games.breakthrough import WON, Breakthrough, best_actions
from ludens.loop import play


def plain(game: Breakthrough, state: State, seat: str, depth: int) -> float:
    """What a state is worth to a seat, without any pruning."""
    if state.over:
        return state.returns[seat] * (WON + depth)
    if depth == 0:
        return game.evaluate(state, seat)
    [mover] = state.to_act
    values = []
    for action in state.legal(mover):  # type: ignore[union-attr]
        after = state.clone()
        after.apply({mover: action})
        values.append(plain(game, after, seat, depth - 1))
    return max(values) if mover == seat else min(values)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_moves_are_those_of_a_plain_search(seed: int, depth: int) -> None:
    game = Breakthrough(rows=6, columns=4)
    state, choose = game.start(0), ludens.stream(seed, "test")
    for _ in range(seed * 2):
        state.apply({state.to_act[0]: choose.choice(list(state.legal(state.to_act[0])))})
    [seat] = state.to_act
    worth = {}
    for action in state.legal(seat):
        after = state.clone()
        after.apply({seat: action})
        worth[action] = plain(game, after, seat, depth - 1)
    best = {action for action, value in worth.items() if value == pytest.approx(max(worth.values()))}
    assert set(best_actions(str(state.spiel), game, seat == "black", depth)) == best


@pytest.mark.slow
async def test_depth_five_beats_the_papers_mcts() -> None:
    game = ludens.make("breakthrough")
    ours, mcts = ludens.agent("bot/alphabeta?depth=5", game), ludens.agent("bot/mcts", game)
    wins = 0
    for seed in range(20):
        seat, other = ("black", "white") if seed % 2 else ("white", "black")
        wins += (await play(game, {seat: ours, other: mcts}, seed)).returns[seat] == 1
    assert wins >= 18


async def test_depth_two_beats_random() -> None:
    game = ludens.make("breakthrough")
    ours, random = ludens.agent("bot/alphabeta?depth=2", game), ludens.agent("bot/random", game)
    for seed in range(10):
        seat, other = ("black", "white") if seed % 2 else ("white", "black")
        assert (await play(game, {seat: ours, other: random}, seed)).returns[seat] == 1
