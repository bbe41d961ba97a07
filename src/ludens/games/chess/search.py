"""Alpha-beta for chess on OpenSpiel's move generator: material and piece-square tables, then captures only.

The tables are our own: a few sentences of common sense turned into numbers. Pawns gain by advancing, above
all in the middle; knights and bishops belong near the centre; rooks on the seventh; kings hide while queens
are on the board and come to the centre when they are gone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

VALUES = {"p": 100, "n": 315, "b": 330, "r": 500, "q": 920, "k": 0}
MATE = 1_000_000


def _square_worth(piece: str, rank: int, file: int, ending: bool) -> int:
    """Centipawns a white piece gains from where it stands; rank and file count from 0, rank 0 at home."""
    centre = 3.5 - max(abs(rank - 3.5), abs(file - 3.5))
    if piece == "p":
        central = file in (3, 4) and rank in (3, 4)
        return 6 * (rank - 1) + (4 * (rank - 3) if rank > 3 else 0) + (14 if central else 0)
    if piece == "n":
        return round(14 * centre) - 22
    if piece == "b":
        return round(8 * centre) - 8
    if piece == "r":
        return 18 if rank == 6 else 4 if file in (3, 4) else 0
    if piece == "q":
        return round(3 * centre)
    if ending:
        return round(14 * centre)
    return (24 if file in (1, 2, 6) else 0) - 18 * rank


@lru_cache(maxsize=2)
def _tables(ending: bool) -> dict[str, list[int]]:
    """For every piece letter of a FEN, its worth on each of 64 squares from a8 to h1, white counted plus."""
    tables = {}
    for piece, value in VALUES.items():
        tables[piece.upper()] = [value + _square_worth(piece, 7 - s // 8, s % 8, ending) for s in range(64)]
        tables[piece] = [-(value + _square_worth(piece, s // 8, s % 8, ending)) for s in range(64)]
    return tables


def evaluate(fen: str) -> int:
    """Centipawns for White."""
    placement = fen.split(" ", 1)[0]
    tables = _tables("q" not in placement and "Q" not in placement)
    total = square = 0
    for letter in placement:
        table = tables.get(letter)
        if table is not None:
            total += table[square]
            square += 1
        elif letter != "/":
            square += int(letter)
    return total


def best_actions(spiel: Any, depth: int) -> list[int]:
    """The actions that search finds best, all of them where several are equal."""
    best: list[int] = []
    best_value = -2 * MATE
    for action, _ in _ordered(spiel):
        value = -_value(spiel.child(action), depth - 1, -2 * MATE, -(best_value - 1))
        if value > best_value:
            best, best_value = [action], value
        elif value == best_value:
            best.append(action)
    return best


def _ordered(spiel: Any) -> list[tuple[int, int]]:
    """Every action with what it captures, the most valuable captures first."""
    import pyspiel

    board = spiel.board()
    kinds = pyspiel.chess.PieceType
    worth = {kinds.QUEEN: 9, kinds.ROOK: 5, kinds.BISHOP: 3, kinds.KNIGHT: 3, kinds.PAWN: 1}
    judged = []
    for action in spiel.legal_actions():
        move = pyspiel.chess.action_to_move(action, board)
        taken = 0 if move.is_castling() else worth.get(board.at(move.to_square).type, 0)
        if move.promotion_type != kinds.EMPTY:
            taken += worth.get(move.promotion_type, 0)
        judged.append((action, taken))
    return sorted(judged, key=lambda pair: -pair[1])


def _value(spiel: Any, depth: int, alpha: int, beta: int) -> int:
    """What the position is worth to the side to move."""
    if spiel.is_terminal():
        return -MATE - depth if any(spiel.returns()) else 0
    standing = 0
    if depth <= 0:
        white = evaluate(spiel.board().to_fen())
        standing = white if spiel.current_player() == 1 else -white
        if standing >= beta or depth <= -4:
            return standing
        alpha = max(alpha, standing)
    best = standing if depth <= 0 else -2 * MATE
    for action, taken in _ordered(spiel):
        if depth <= 0 and not taken:
            break
        best = max(best, -_value(spiel.child(action), depth - 1, -beta, -alpha))
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best
