"""Chess: OpenSpiel's rules; a move names two squares, as in `e2e4` or `e7e8q`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielGame

if TYPE_CHECKING:
    import pyspiel

_FEN = re.compile(
    r"(?:[pnbrqkPNBRQK1-8]{1,8}/){7}[pnbrqkPNBRQK1-8]{1,8} [wb] (?:-|K?Q?k?q?) (?:-|[a-h][36]) \d+ \d+"
)


@dataclass(frozen=True)
class Chess(SpielGame):
    """Chess, castling, en passant, promotion and draws included.

    Seats: `white` moves first, then `black`.
    Observation: the board as White sees it, files a to h from the left, ranks 1 to 8 from the bottom;
    castling rights and an en passant square are told in the notes.
    Actions: from and to, as in `e2e4`; castling is the king's move, `e1g1`; promotion adds the piece,
    `e7e8q`. Replies in standard notation (`Nf3`, `O-O`, `exd8=Q+`) are read, too.
    Rewards: +1 for mate, -1 for the mated side, 0 for a draw.
    """

    name = "chess"
    # OpenSpiel's player 0 is Black, who moves second.
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.chess.view:ChessView"
    spiel_name = "chess"
    best = "bot/search?depth=3"
    bots = {"search": "ludens.games.chess.bots:Search", "uci": "ludens.games.chess.engine:Uci"}

    fen: str = option("", help="the position to begin with, in Forsyth-Edwards notation")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fen and not _FEN.fullmatch(self.fen):
            raise BadOption(f"option 'fen' of chess is not a position: {self.fen[:80]!r}.")

    def first(self) -> pyspiel.State:
        return self.spiel.new_initial_state(self.fen) if self.fen else self.spiel.new_initial_state()

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        import pyspiel

        return str(pyspiel.chess.action_to_move(action, spiel.board()).to_lan())
