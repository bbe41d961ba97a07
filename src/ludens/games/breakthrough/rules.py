"""Breakthrough: OpenSpiel's rules on a board of 8x8 or smaller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ludens.core.options import option
from ludens.core.state import State
from ludens.games.open_spiel.adapter import SpielGame, SpielState


@dataclass(frozen=True)
class Breakthrough(SpielGame):
    """A race of pawns: the first to reach the far side, or to take every enemy pawn, wins.

    Seats: `black` starts on the two top rows, moves first and down; `white` starts on the two bottom rows
    and moves up.
    Observation: the board, columns a to h from the left, rows 1 to 8 from the bottom.
    Actions: from and to, as in `a7a6`: one row ahead, straight or diagonally; only a diagonal move captures.
    Rewards: +1 for the winner, -1 for the loser. There are no draws.
    """

    name = "breakthrough"
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.breakthrough.view:BreakthroughView"
    best = "bot/alphabeta?depth=5"
    spiel_name = "breakthrough"
    stable_names = True
    bots = {"alphabeta": "ludens.games.breakthrough.bots:AlphaBeta"}

    rows: int = option(8, low=4, high=8, help="rows of the board")
    columns: int = option(8, low=3, high=8, help="columns of the board")

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {"rows": self.rows, "columns": self.columns}

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return str(spiel.action_to_string(player, action)).rstrip("*")

    def evaluate(self, state: State, seat: str) -> float:
        """The lead of our foremost pawn over theirs, as a share of the way."""
        assert isinstance(state, SpielState)
        board = state.spiel.observation_string(0)
        lines = board.splitlines()[: self.rows]
        black = max(row for row, line in enumerate(lines) if "b" in line)
        white = max(self.rows - 1 - row for row, line in enumerate(lines) if "w" in line)
        lead = (black - white) / (self.rows - 1)
        return lead if seat == "black" else -lead
