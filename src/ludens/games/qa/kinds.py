"""Every type of question, by board game."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.games.qa import chess, gomoku, minesweeper, reversi, sudoku, tic_tac_toe
from ludens.games.qa.asked import Kind

KINDS: Mapping[str, Mapping[str, Kind]] = {
    "tic_tac_toe": tic_tac_toe.KINDS,
    "reversi": reversi.KINDS,
    "sudoku": sudoku.KINDS,
    "minesweeper": minesweeper.KINDS,
    "gomoku": gomoku.KINDS,
    "chess": chess.KINDS,
}
