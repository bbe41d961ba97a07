"""Reversi: known counts, names of cells, passing."""

import pytest

import ludens
from ludens.core.state import State
from ludens.core.view import RenderOptions


def perft(state: State, depth: int) -> int:
    """Lines of play; a pass counts as a move, as in the published tables."""
    if depth == 0 or state.over:
        return 1
    [seat] = state.to_act
    total = 0
    for action in state.legal(seat):  # type: ignore[union-attr]
        after = state.clone()
        after.apply({seat: action})
        total += perft(after, depth - 1)
    return total


@pytest.mark.parametrize(("depth", "count"), [(1, 4), (2, 12), (3, 56), (4, 244), (5, 1396), (6, 8200)])
def test_known_counts(depth: int, count: int) -> None:
    assert perft(ludens.make("reversi").start(0), depth) == count


def test_every_cell_is_where_its_name_says() -> None:
    """A disc just put down is the only cell that was empty before: its name must point there."""
    game = ludens.make("reversi")
    view = game.view(RenderOptions())
    named = set()
    for seed in range(60):
        state, choose = game.start(seed), ludens.stream(seed, "test")
        while state.to_act:
            [seat] = state.to_act
            action = choose.choice(list(state.legal(seat)))  # type: ignore[arg-type]
            before = view.matrix(state)  # type: ignore[attr-defined]
            state.apply({seat: action})
            after = view.matrix(state)  # type: ignore[attr-defined]
            new = [(r, c) for r in range(8) for c in range(8) if not before[r][c] and after[r][c]]
            if action == "PASS":
                assert not new
            else:
                assert new == [("ABCDEFGH".index(action[0]), int(action[1]) - 1)]
                named.add(action)
    assert len(named) == 60
