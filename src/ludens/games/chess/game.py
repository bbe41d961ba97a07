"""Chess: OpenSpiel's rules; a move names two squares, as in `e2e4` or `e7e8q`."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ludens.core.errors import BadOption
from ludens.core.game import Preset
from ludens.core.loading import load
from ludens.core.options import option
from ludens.core.reply import DASHES, ActionFormat, unwrap
from ludens.games.open_spiel import SpielState
from ludens.games.openings import BoardGame

if TYPE_CHECKING:
    import pyspiel


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


_EMPTY = str.maketrans({str(squares): "." * squares for squares in range(1, 9)})


def ranks(fen: str) -> list[str]:
    """The ranks of a position, the eighth first: a letter for every piece, a dot for an empty square."""
    return fen.split(" ", 1)[0].translate(_EMPTY).split("/")


def notations(spiel: Any) -> dict[str, str]:
    """The move for every spelling in standard notation (`Nf3`) and with the piece before it (`Ng1f3`)."""
    import pyspiel

    board, player = spiel.board(), spiel.current_player()
    moves: dict[str, str] = {}
    for action in spiel.legal_actions():
        move = str(pyspiel.chess.action_to_move(action, board).to_lan())
        standard = str(spiel.action_to_string(player, action))
        moves[standard] = moves[standard.rstrip("+#")] = move
        if standard[0] in "NBRQK":
            moves[standard[0] + move] = move
    return moves


_SQUARES = tuple((file, rank) for rank in range(8) for file in range(8))


def _named(start: tuple[int, int], end: tuple[int, int], promoted: str = "") -> str:
    return "".join(f"{'abcdefgh'[file]}{rank + 1}" for file, rank in (start, end)) + promoted


def _reaches(across: int, along: int) -> bool:
    """Whether a queen or a knight moves so many files and ranks."""
    return (across == 0) != (along == 0) or 0 != across == along or {across, along} == {1, 2}


_MOVES = tuple(
    _named(start, end)
    for start in _SQUARES
    for end in _SQUARES
    if _reaches(abs(start[0] - end[0]), abs(start[1] - end[1]))
)
_PROMOTIONS = {
    seat: tuple(
        _named((file, rank), (to, last), piece)
        for file in range(8)
        for to in range(max(0, file - 1), min(8, file + 2))
        for piece in "qrbn"
    )
    for seat, rank, last in (("white", 6, 7), ("black", 1, 0))
}

_ACTION_NAMES: dict[tuple[int, int], str] = {}
"""By player and number, without moves to the last rank: there, the piece decides whether it is promoted."""

_SEARCH, _LEVEL_DEPTH, _PAWN = "ludens.games.chess.bots:ChessSearch", 2, 100
"""The search that says whether an opening is level, and the lead that it must not find."""
_FEN = re.compile(
    r"(?:[pnbrqkPNBRQK1-8]{1,8}/){7}[pnbrqkPNBRQK1-8]{1,8} [wb] (?:-|K?Q?k?q?) (?:-|[a-h][36]) \d+ \d+"
)


@dataclass(frozen=True)
class Chess(BoardGame):
    """Chess, castling, en passant, promotion and draws included.

    Seats: `white` moves first, then `black`.
    Observation: the board as White sees it, files a to h from the left, ranks 1 to 8 from the bottom;
    castling rights and an en passant square are told in the notes.
    Actions: from and to, as in `e2e4`; castling is the king's move, `e1g1`; promotion adds the piece,
    `e7e8q`. Replies in standard notation (`Nf3`, `O-O`, `exd8=Q+`) are read, too.
    Rewards: +1 for mate, -1 for the mated side, 0 for a draw.
    Openings: a search of two moves and the captures after them finds neither side ahead by a pawn. Twins: two
    openings with the same castling rights and other best moves.
    """

    name = "chess"
    # OpenSpiel's player 0 is Black, who moves second.
    seats = ("black", "white")
    version = 2
    view_class = "ludens.games.chess.view:ChessView"
    spiel_name = "chess"
    actions_told = False
    usual_opening = 8
    best = "bot/search?depth=3"
    presets = {
        "easy": Preset(),
        "medium": Preset({"opening": 4}, others="bot/search?depth=1"),
        "hard": Preset({"opening": 8}, others="bot/search?depth=2"),
        "paper": Preset(others="bot/uci?seconds=1"),
    }
    bots = {"search": "ludens.games.chess.bots:ChessBot", "uci": "ludens.games.chess.bots:Uci"}

    fen: str = option("", help="the position to begin with, in Forsyth-Edwards notation")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fen and not _FEN.fullmatch(self.fen):
            raise BadOption(f"option 'fen' of chess is not a position: {self.fen[:80]!r}.")

    @property
    def first_seat(self) -> str:
        return "black" if self.fen.split()[1:2] == ["b"] else "white"

    def first(self) -> pyspiel.State:
        return self.spiel.new_initial_state(self.fen) if self.fen else self.spiel.new_initial_state()

    def actions(self, seat: str) -> tuple[str, ...]:
        """Every move of a queen or a knight on an empty board, then every promotion of the seat's pawns."""
        return (*_MOVES, *_PROMOTIONS[seat])

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        name = _ACTION_NAMES.get((player, action))
        if name is None:
            import pyspiel

            name = str(pyspiel.chess.action_to_move(action, spiel.board()).to_lan())
            if name[1] + name[3] not in ("78", "21"):
                _ACTION_NAMES[player, action] = name
        return name

    def level(self, state: SpielState) -> bool:
        lead: float = load(_SEARCH)().value(state.spiel, _LEVEL_DEPTH)
        return abs(lead) < _PAWN

    def good_moves(self, state: SpielState) -> Collection[str]:
        spiel = state.spiel
        best = load(_SEARCH)().best_moves(spiel, _LEVEL_DEPTH, spiel.legal_actions())
        return [state.name_of(action) for action in best]
