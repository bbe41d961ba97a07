"""Gomoku: OpenSpiel's rules on 15x15; crossings are named by row letter and column number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielGame


@dataclass(frozen=True)
class Gomoku(SpielGame):
    """Five stones in an unbroken line win.

    Seats: `black` moves first, then `white`.
    Observation: the board, rows A to O from the top, columns 1 to 15 from the left.
    Actions: an empty crossing, as in `H8`.
    Rewards: +1 for five or more in a line, -1 for the other seat, 0 for a full board without one.
    """

    name = "gomoku"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.gomoku.view:GomokuView"
    spiel_name = "gomoku"
    stable_names = True
    best = "bot/lines?depth=4"
    bots = {"lines": "ludens.games.gomoku.bots:Lines"}

    size: int = option(15, low=5, high=19, help="rows and columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"size": self.size}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return f"{ascii_uppercase[action // self.size]}{action % self.size + 1}"
