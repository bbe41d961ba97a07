"""Alpha-beta for Breakthrough on bitboards: the paper's reference player.

Cell `row * columns + column` is a bit; row 0 is the top, where Black starts and White arrives. The evaluation
is the paper's: how much further our foremost pawn has come than theirs, as a share of the way.
"""

from __future__ import annotations

WON = 1000.0


class Position:
    """Two bitboards and the side to move; moves are (from, to) cell numbers."""

    __slots__ = ("_seen", "black", "columns", "left", "right", "rows", "white")

    def __init__(self, black: int, white: int, rows: int, columns: int) -> None:
        self.black, self.white, self.rows, self.columns = black, white, rows, columns
        edge = sum(1 << (row * columns) for row in range(rows))
        self.left, self.right = ~edge, ~(edge << (columns - 1))
        # Positions reached by another order of moves: the bounds between which their value lies. Who is to
        # move follows from the depth within one search.
        self._seen: dict[tuple[int, int, int], tuple[float, float]] = {}

    def best(self, black_moves: bool, depth: int) -> list[tuple[int, int]]:
        """The moves that search finds best, all of them where several are equal."""
        found: list[tuple[int, int]] = []
        best = -2 * WON
        self._seen.clear()
        for start, end in self._moves(self.black, self.white, black_moves):
            value = -self._after(
                self.black, self.white, start, end, black_moves, depth - 1, -2 * WON, -best + 1e-9
            )
            if value > best + 1e-12:
                found, best = [(start, end)], value
            elif abs(value - best) <= 1e-12:
                found.append((start, end))
        return found

    def _after(
        self,
        black: int,
        white: int,
        start: int,
        end: int,
        black_moved: bool,
        depth: int,
        alpha: float,
        beta: float,
    ) -> float:
        """What the position after a move is worth to the side that answers it."""
        gone, come = 1 << start, 1 << end
        if black_moved:
            black, white = black ^ gone | come, white & ~come
            if end >= (self.rows - 1) * self.columns or not white:
                return -WON - depth
        else:
            white, black = white ^ gone | come, black & ~come
            if end < self.columns or not black:
                return -WON - depth
        return self._value(black, white, not black_moved, depth, alpha, beta)

    def _value(
        self, black: int, white: int, black_moves: bool, depth: int, alpha: float, beta: float
    ) -> float:
        if depth == 0:
            lead = self._lead(black, white)
            return lead if black_moves else -lead
        key = (black, white, depth)
        low, high = self._seen.get(key, (-2 * WON, 2 * WON))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        best, floor = -2 * WON, alpha
        for start, end in self._moves(black, white, black_moves):
            value = -self._after(black, white, start, end, black_moves, depth - 1, -beta, -floor)
            if value > best:
                best = value
                if value > floor:
                    floor = value
                    if floor >= beta:
                        break
        self._seen[key] = (
            best if best > alpha else low,
            best if best < beta else high,
        )
        return best

    def _lead(self, black: int, white: int) -> float:
        columns = self.columns
        foremost_black = (black.bit_length() - 1) // columns
        foremost_white = self.rows - 1 - ((white & -white).bit_length() - 1) // columns
        return (foremost_black - foremost_white) / (self.rows - 1)

    def _moves(self, black: int, white: int, black_moves: bool) -> list[tuple[int, int]]:
        """Every move, the furthest advanced first: those decide races, so they prune most."""
        columns, taken, moves = self.columns, black | white, []
        own = black if black_moves else white
        step = columns if black_moves else -columns
        full = (1 << (self.rows * columns)) - 1
        for side, targets in ((0, full & ~taken), (-1, full & ~own), (1, full & ~own)):
            movers = own & (self.left if side < 0 else self.right if side > 0 else full)
            shift = step + side
            reached = (movers << shift if shift > 0 else movers >> -shift) & targets
            while reached:
                low = reached & -reached
                end = low.bit_length() - 1
                moves.append((end - shift, end))
                reached ^= low
        moves.sort(key=lambda move: -move[1] if black_moves else move[1])
        return moves
