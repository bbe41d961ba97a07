"""Tic-tac-toe: OpenSpiel's rules; cells are named A1 to C3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ludens.games.open_spiel.adapter import SpielGame


@dataclass(frozen=True)
class TicTacToe(SpielGame):
    """Three in a row on a 3x3 board.

    Seats: `x` moves first, then `o`.
    Observation: the board, rows A to C from the top, columns 1 to 3 from the left.
    Actions: an empty cell, `A1` to `C3`.
    Rewards: +1 for three of your marks in a line, -1 for the other seat, 0 for a full board without one.
    """

    name = "tic_tac_toe"
    seats = ("x", "o")
    version = 2
    view_class = "ludens.games.tic_tac_toe.view:TicTacToeView"
    best = "bot/minimax"
    spiel_name = "tic_tac_toe"
    stable_names = True
    bots: ClassVar[Mapping[str, str]] = {"minimax": "ludens.games.tic_tac_toe.bots:Minimax"}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return f"{'ABC'[action // 3]}{action % 3 + 1}"
