"""The view of chess: the usual pieces on a checkered board, White at the bottom."""

from __future__ import annotations

from ludens.core.random import Stream
from ludens.draw import Sprite
from ludens.games.boards import ChequeredView, Matrix
from ludens.games.chess.game import NAMES, ChessFormat, notations, ranks
from ludens.games.open_spiel import SpielState

_NAMES = tuple(NAMES.values())
_LETTERS = "PNBRQK"
_MOST = {"pawn": 8, "knight": 2, "bishop": 2, "rook": 2, "queen": 1, "king": 1}


class ChessView(ChequeredView):
    """Ranks are counted from the bottom, files lettered from the left."""

    rows = columns = 8
    codes = {0: "empty", **{n: f"white {piece}" for n, piece in enumerate(_NAMES, 1)}}
    codes |= {-n: f"black {piece}" for n, piece in enumerate(_NAMES, 1)}
    symbols = f".{_LETTERS}{_LETTERS.lower()}"
    marks = dict(zip(codes, symbols, strict=True))
    inks = ("ink", "line", "black", "white")
    least_cell = 13

    def clickable(self) -> list[str]:
        """Promotions included: from the second last rank to the last, at most one file aside."""
        files = [(a, b) for a in "abcdefgh" for b in "abcdefgh" if abs(ord(a) - ord(b)) <= 1]
        ranks = ((7, 8), (2, 1))
        promotions = [f"{a}{r}{b}{last}{piece}" for r, last in ranks for a, b in files for piece in "qrbn"]
        return [*self._answers, *promotions]

    def matrix(self, state: SpielState) -> Matrix:
        return self.decode(ranks(state.spiel.board().to_fen()))

    def notes(self, state: SpielState, seat: str) -> str:
        _, mover, castling, passing, *_ = state.spiel.board().to_fen().split()
        rights = [
            f"{'White' if letter.isupper() else 'Black'} may still castle {wing}side"
            for letter, wing in (("K", "king"), ("Q", "queen"), ("k", "king"), ("q", "queen"))
            if letter in castling
        ]
        notes = f"{'White' if mover == 'w' else 'Black'} is to move. "
        notes += "; ".join(rights) + "." if rights else "Castling is no longer possible."
        return notes + (f" A pawn may be taken en passant on {passing}." if passing != "-" else "")

    def format(self, state: SpielState, seat: str) -> ChessFormat:
        return ChessFormat(aliases=notations(state.spiel)) if seat in state.to_act else ChessFormat()

    def scatter(self, random: Stream) -> Matrix:
        """At most as many pieces of a kind as a game starts with, on any squares."""
        men = [sign * n for sign in (1, -1) for n, piece in enumerate(_NAMES, 1) for _ in range(_MOST[piece])]
        chosen = random.sample(men, random.between(0, len(men)))
        cells = [0] * 64
        for cell, man in zip(random.sample(range(64), len(chosen)), chosen, strict=True):
            cells[cell] = man
        return [cells[row * 8 : row * 8 + 8] for row in range(8)]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        if not code:
            return None
        fill, edge = ("white", "black") if code > 0 else ("black", "white")
        ground = self.board.ground(row, column)
        return self._sheet.piece(_NAMES[abs(code) - 1], fill, edge, self.board.room(0.86), ground)

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.piece("king", seat, "white" if seat == "black" else "black", px, "page")
