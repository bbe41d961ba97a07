"""The shared search gives the values and best moves of a search without pruning."""

from __future__ import annotations

from math import inf

import pytest

import ludens
from ludens.games.negamax import Negamax

DEPTH = 4


class Sums(Negamax[tuple[int, ...], int]):
    """Sides add numbers in turn; sums that are reached in several ways are worth the same."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed, self.expanded = seed, 0

    def score(self, position: tuple[int, ...]) -> int:
        total, side = position
        return ludens.stream(self.seed, "score", total, side).between(-9, 9)

    def expand(
        self, position: tuple[int, ...], depth: int, alpha: float, beta: float
    ) -> tuple[float, list[int]]:
        self.expanded += 1
        return (self.score(position), []) if depth == 0 else (-inf, [1, 2, 3, 4])

    def make(self, position: tuple[int, ...], move: int) -> tuple[int, ...]:
        return position[0] + move, 1 - position[1]

    def plain(self, position: tuple[int, ...], depth: int) -> float:
        if depth == 0:
            return self.score(position)
        return max(-self.plain(self.make(position, move), depth - 1) for move in (1, 2, 3, 4))


class TabledSums(Sums):
    table_depth = 1


@pytest.mark.parametrize("search", [Sums, TabledSums])
@pytest.mark.parametrize("seed", range(12))
def test_values_and_best_moves_are_those_of_a_plain_search(search: type[Sums], seed: int) -> None:
    start, moves = (0, 0), [3, 1, 4, 2]
    worth = {move: -search(seed).plain((move, 1), DEPTH - 1) for move in moves}
    best = [move for move in moves if worth[move] == max(worth.values())]
    assert search(seed).value(start, DEPTH) == max(worth.values())
    assert search(seed).best_moves(start, DEPTH, moves) == best
    assert search(seed).first_best(start, DEPTH, moves) == best[0]


def test_pruning_and_the_table_save_positions() -> None:
    counts = []
    for search in (Sums(1), TabledSums(1)):
        search.value((0, 0), 6)
        counts.append(search.expanded)
    assert counts[1] < counts[0] < 4**6
