"""Negamax with alpha-beta pruning: the search of every bot that looks ahead on a board."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import inf
from typing import ClassVar, Generic, TypeVar

P = TypeVar("P")
"""A position, the side to move included."""
M = TypeVar("M")


class Negamax(ABC, Generic[P, M]):
    """Searches for two sides with opposite interests; a game says what moves lead to and are worth.

    Values are those of the side to move. A table keeps the bounds of positions that were searched at least
    `table_depth` deep; these positions must be hashable.
    """

    table_depth: ClassVar[float] = inf
    undoes: ClassVar[bool] = False
    """Whether `make` changes the position instead of returning another, so that `undo` must be called."""

    def __init__(self) -> None:
        self._tables: dict[int, dict[P, tuple[float, float, M | None]]] = {}

    @abstractmethod
    def expand(self, position: P, depth: int, alpha: float, beta: float) -> tuple[float, Sequence[M]]:
        """A value that the position has at least, and the moves that may be worth more, the best guess first.

        Without moves it is the value of the position, or a bound of it that is not between alpha and beta.
        """

    @abstractmethod
    def make(self, position: P, move: M) -> P:
        """The position after a move."""

    def undo(self, position: P, move: M) -> None:
        """Take a move back, where `make` has changed the position."""

    def value(self, position: P, depth: int, alpha: float = -inf, beta: float = inf) -> float:
        """The value of a position if it is between alpha and beta, else a bound of it on the same side."""
        if depth < self.table_depth:
            best, moves = self.expand(position, depth, alpha, beta)
            return self._best(position, depth, alpha, beta, best, moves)[0] if moves else best
        table = self._tables.setdefault(depth, {})
        low, high, first = table.get(position, (-inf, inf, None))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        best, moves = self.expand(position, depth, alpha, beta)
        if not moves:
            return best
        if first is not None and first in moves:
            moves = [first, *(move for move in moves if move != first)]
        best, first = self._best(position, depth, alpha, beta, best, moves)
        table[position] = (best if best > alpha else low, best if best < beta else high, first)
        return best

    def _best(
        self, position: P, depth: int, alpha: float, beta: float, best: float, moves: Sequence[M]
    ) -> tuple[float, M]:
        """The value of the position and its best move; `best` is a value that it has at least."""
        floor, first = best if best > alpha else alpha, moves[0]
        for move in moves:
            if floor >= beta:
                break
            value = -self.value(self.make(position, move), depth - 1, -beta, -floor)
            if self.undoes:
                self.undo(position, move)
            if value > best:
                best, first = value, move
                if value > floor:
                    floor = value
        return best, first

    def best_moves(self, position: P, depth: int, moves: Iterable[M]) -> list[M]:
        """Those of the moves that are best, in their order; values must be whole numbers."""
        best, best_moves, scouts = -inf, list[M](), self.table_depth < inf
        for move in moves:
            after = self.make(position, move)
            # With a table it is faster to ask first whether a move is better, and only then how much.
            high = best + 1 if scouts and best_moves else inf
            value = -self.value(after, depth - 1, -high, 1 - best)
            if value >= high:
                value = -self.value(after, depth - 1, -inf, -best)
            self.undo(position, move)
            if value > best:
                best, best_moves = value, [move]
            elif value == best:
                best_moves.append(move)
        return best_moves

    def first_best(self, position: P, depth: int, moves: Sequence[M]) -> M:
        return self._best(position, depth, -inf, inf, -inf, moves)[1]
