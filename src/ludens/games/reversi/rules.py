"""Reversi: OpenSpiel's othello; cells are named by row letter and column number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ludens.games.open_spiel.adapter import SpielGame

PASS = "PASS"
_PASS_NUMBER = 64


@dataclass(frozen=True)
class Reversi(SpielGame):
    """Enclose the other side's discs to turn them over; most discs at the end win.

    Seats: `black` moves first, then `white`.
    Observation: the board, rows A to H from the top, columns 1 to 8 from the left.
    Actions: the cell to play on, as in `D3`; `PASS` when there is none.
    Rewards: +1 for more discs of your colour when nobody can move, -1 for fewer, 0 for as many.
    """

    name = "reversi"
    seats = ("black", "white")
    version = 3
    view_class = "ludens.games.reversi.view:ReversiView"
    spiel_name = "othello"
    stable_names = True
    best = "bot/alphabeta?depth=4&endgame=8"
    bots: ClassVar[Mapping[str, str]] = {"alphabeta": "ludens.games.reversi.bots:AlphaBeta"}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return PASS if action == _PASS_NUMBER else f"{'ABCDEFGH'[action // 8]}{action % 8 + 1}"
