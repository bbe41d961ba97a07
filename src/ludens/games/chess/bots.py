"""A chess player: alpha-beta with piece-square tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielState

VALUES = {"p": 100, "n": 315, "b": 330, "r": 500, "q": 920, "k": 0}
MATE = 1_000_000


def _square_bonus(piece: str, rank: int, file: int, ending: bool) -> int:
    """Piece-square bonus of a white piece in centipawns; rank and file count from 0, rank 0 is White's."""
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
    """For every piece letter of a FEN, its value on each of 64 squares from a8 to h1, positive for White."""
    tables = {}
    for piece, value in VALUES.items():
        tables[piece.upper()] = [value + _square_bonus(piece, 7 - s // 8, s % 8, ending) for s in range(64)]
        tables[piece] = [-(value + _square_bonus(piece, s // 8, s % 8, ending)) for s in range(64)]
    return tables


def evaluate(fen: str) -> int:
    """The evaluation in centipawns for White."""
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
    """All actions that search finds best."""
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
    """The value of the position for the side to move."""
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


@dataclass
class Search(Agent):
    """Searches `depth` moves ahead and then captures; ties are broken at random."""

    depth: int = option(2, low=1, high=5, help="moves looked ahead, captures beyond not counted")
    kind = "bot/search"
    sees = "state"
    computes = True

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        spiel: Any = state.spiel
        action = state.name_of(self.random.choice(best_actions(spiel, self.depth)))
        return Reply(action, action)
