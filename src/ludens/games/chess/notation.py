"""Chess notation: moves are `e2e4`, and replies may use standard algebraic notation or long forms."""

from __future__ import annotations

import re
from typing import Any

from ludens.core.reply import DASHES, ActionFormat, unwrap

_MOVE_NUMBER = re.compile(r"[0-9]{1,3}(?:\s?\.{1,3}|…)\s?(?=[a-zA-Z0])")
_BETWEEN_SQUARES = re.compile(r"([a-hA-H][1-8])\s?[-xX]\s?([a-hA-H][1-8])")
_PROMOTION = re.compile(r"\s?=\s?")
_CAPITALS = re.compile(r"[A-H][1-8][A-H][1-8][NBRQ]?")
_CASTLING = re.compile(r"[0oO]-[0oO](-[0oO])?")


class ChessFormat(ActionFormat):
    """`e2e4`, `e2-e4`, `e7e8=Q`, `Nf3`, `Ng1-f3`, `O-O`, `1. e4`; the aliases are standard notation.

    Upper and lower case matter only where they tell a bishop from the b-file.
    """

    def normal_form(self, name: str) -> str:
        bare = unwrap(name.translate(DASHES))
        number = _MOVE_NUMBER.match(bare)
        bare = bare[number.end() if number else 0 :].rstrip("+#!? ")
        if castling := _CASTLING.fullmatch(bare):
            return "O-O-O" if castling[1] else "O-O"
        bare = _PROMOTION.sub("", _BETWEEN_SQUARES.sub(r"\1\2", bare))
        bishop = bare.startswith("B") and not _CAPITALS.fullmatch(bare)
        return bare if bishop else bare.lower()


NAMES = {"p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king"}
"""Of the pieces, by their letters; in matrices they are numbered in this order, from 1."""


def ranks(fen: str) -> list[str]:
    """The ranks of a position, the eighth first: a letter for every piece, a dot for an empty square."""
    return re.sub(r"\d", lambda empty: "." * int(empty[0]), fen.split(" ", 1)[0]).split("/")


def notations(spiel: Any) -> dict[str, str]:
    """The move for every spelling in standard notation (`Nf3`) and with the piece before it (`Ng1f3`)."""
    import pyspiel

    board, player = spiel.board(), spiel.current_player()
    found: dict[str, str] = {}
    for action in spiel.legal_actions():
        move = str(pyspiel.chess.action_to_move(action, board).to_lan())
        standard = str(spiel.action_to_string(player, action))
        found[standard] = found[standard.rstrip("+#")] = move
        if standard[0] in "NBRQK":
            found[standard[0] + move] = move
    return found
