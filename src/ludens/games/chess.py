"""Chess: OpenSpiel's rules, the usual pieces, alpha-beta with piece-square tables, engines that speak UCI,
and what a king sees. A move names two squares, as in `e2e4` or `e7e8q`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.core.agent import Bot
from ludens.core.errors import BadOption
from ludens.core.game import Preset
from ludens.core.options import Touch, option
from ludens.core.random import Stream
from ludens.core.reply import DASHES, ActionFormat, unwrap
from ludens.draw import Sprite
from ludens.games.boards import ChequeredView, Matrix
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import BoardGame, SpielState

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


At = tuple[int, int]
"""File and rank of a square, from 0."""

_FILES = "abcdefgh"
_SQUARES = tuple((file, rank) for rank in range(8) for file in range(8))


def _name(at: At) -> str:
    return f"{_FILES[at[0]]}{at[1] + 1}"


def _reaches(across: int, along: int) -> bool:
    """Whether a queen or a knight moves so many files and ranks."""
    return (across == 0) != (along == 0) or 0 != across == along or {across, along} == {1, 2}


_MOVES = tuple(
    _name(start) + _name(end)
    for start in _SQUARES
    for end in _SQUARES
    if _reaches(abs(start[0] - end[0]), abs(start[1] - end[1]))
)
_PROMOTIONS = {
    seat: tuple(
        _name((file, rank)) + _name((to, last)) + piece
        for file in range(8)
        for to in range(max(0, file - 1), min(8, file + 2))
        for piece in "qrbn"
    )
    for seat, rank, last in (("white", 6, 7), ("black", 1, 0))
}

_ACTION_NAMES: dict[tuple[int, int], str] = {}
"""By player and number, without moves to the last rank: there, the piece decides whether it is promoted."""

_LEVEL_DEPTH, _PAWN = 2, 100
"""Depth of the search that judges openings, and the lead from which on one is not level."""
_FEN = re.compile(
    r"(?:[pnbrqkPNBRQK1-8]{1,8}/){7}[pnbrqkPNBRQK1-8]{1,8} [wb] "
    r"(?:-|(?=[KQkq])K?Q?k?q?) (?:-|[a-h][36]) \d{1,4} \d{1,4}"
)


_CASTLES = {"K": ("e1", "K", "h1", "R"), "Q": ("e1", "K", "a1", "R")}
_CASTLES |= {"k": ("e8", "k", "h8", "r"), "q": ("e8", "k", "a8", "r")}
"""For each right to castle, where king and rook must be."""


def _fault(fen: str) -> str:
    """Why OpenSpiel cannot play a position that is written as it should be; empty where it can."""
    placement, mover, castling, *_ = fen.split()
    if any(len(rank) != 8 for rank in ranks(fen)):
        return "a rank does not have eight squares"
    if placement.count("K") != 1 or placement.count("k") != 1:
        return "each side needs one king"
    board = {_name((x, 7 - y)): piece for y, rank in enumerate(ranks(fen)) for x, piece in enumerate(rank)}
    for right in castling.strip("-"):
        king, its_letter, rook, letter = _CASTLES[right]
        if (board[king], board[rook]) != (its_letter, letter):
            return f"{right!r} to castle needs a king on {king} and a rook on {rook}"
    waiting = sight(f"{placement} {'b' if mover == 'w' else 'w'}")
    (file, rank), (other_file, other_rank) = ((ord(at[0]), int(at[1])) for at in board if board[at] in "Kk")
    if waiting.attackers or max(abs(file - other_file), abs(rank - other_rank)) == 1:
        return "the side to move could take a king"
    return ""


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
    view_class = "ludens.games.chess:ChessView"
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
    bots = {"search": "ludens.games.chess:ChessBot", "uci": "ludens.games.chess:Uci"}

    fen: str = option("", help="the position to begin with, in Forsyth-Edwards notation")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fen and not _FEN.fullmatch(self.fen):
            raise BadOption(f"option 'fen' of chess is not a position: {self.fen!r}.")
        if self.fen and (fault := _fault(self.fen)):
            raise BadOption(f"option 'fen' of chess cannot be played: {fault}.")

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
        return abs(ChessSearch().value(state.spiel, _LEVEL_DEPTH)) < _PAWN

    def good_moves(self, state: SpielState) -> Collection[str]:
        spiel = state.spiel
        best = ChessSearch().best_moves(spiel, _LEVEL_DEPTH, spiel.legal_actions())
        return [state.name_of(action) for action in best]


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
        return [*self._answers, *_PROMOTIONS["white"], *_PROMOTIONS["black"]]

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
        pieces = random.sample(men, random.between(0, len(men)))
        cells = [0] * 64
        for cell, piece in zip(random.sample(range(64), len(pieces)), pieces, strict=True):
            cells[cell] = piece
        return [cells[row * 8 : row * 8 + 8] for row in range(8)]

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        if not code:
            return None
        fill, edge = ("white", "black") if code > 0 else ("black", "white")
        ground = self.board.ground(row, column)
        return self._sheet.piece(_NAMES[abs(code) - 1], fill, edge, self.board.room(0.86), ground)

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.piece("king", seat, "white" if seat == "black" else "black", px, "page")


_CLOCKWISE = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_OWN = "own"

Square = tuple[str, str]
"""The name of a square and its content: nothing, `own` for an own piece, or the name of an enemy."""


@dataclass(frozen=True)
class KingSight:
    """Squares and pieces around a king."""

    king: str
    lines: list[list[Square]]
    """The squares in each of eight directions, clockwise from above: up to the first enemy, or the first
    piece behind an own one, which it may pin. Directions without a square are left out."""
    jumps: list[Square]
    """Where a knight would be one jump away; enemies that are none are left out."""
    attackers: list[str]
    """Squares of those that give check."""

    def text(self, pointers: Mapping[str, str]) -> str:
        """In words, square by square, so that each is looked at in turn and pointed at."""
        pointed = (
            [(pointers[at], content) for at, content in squares] for squares in (*self.lines, self.jumps)
        )
        *lines, jumps = (" ".join(word for pair in pairs for word in pair if word) for pairs in pointed)
        verdict = " ".join(["check", *self.attackers]) if self.attackers else "safe"
        king = f"king {pointers[self.king]} {self.king}"
        return "\n".join([king, ", ".join(lines), jumps, verdict])


def sight(fen: str) -> KingSight:
    board = {(x, 7 - y): piece for y, row in enumerate(ranks(fen)) for x, piece in enumerate(row)}
    pieces = {at: piece for at, piece in board.items() if piece != "."}
    white = fen.split()[1] == "w"
    x, y = next(at for at, piece in pieces.items() if piece == ("K" if white else "k"))
    contents = {at: _content(pieces.get(at), white) for at in board}
    rays = ([(x + dx * far, y + dy * far) for far in range(1, 8)] for dx, dy in _CLOCKWISE)
    lines = [list(_until_hidden(ray, contents)) for ray in rays]
    knight = NAMES["n"]
    jumps = [at for dx, dy in _KNIGHT if (at := (x + dx, y + dy)) in contents]
    occupied = [[at for at in line if at in pieces] for line in lines]
    forward = 1 if white else -1
    attackers = [
        at for at, *_ in filter(None, occupied) if _attacks(contents[at], at[0] - x, at[1] - y, forward)
    ]
    attackers += [at for at in jumps if contents[at] == knight]
    return KingSight(
        _name((x, y)),
        [[(_name(at), contents[at]) for at in line] for line in lines if line],
        [(_name(at), knight if contents[at] == knight else "") for at in jumps],
        list(map(_name, attackers)),
    )


def _content(piece: str | None, white: bool) -> str:
    if piece is None:
        return ""
    return NAMES[piece.lower()] if piece.islower() == white else _OWN


def _until_hidden(line: Iterable[At], contents: Mapping[At, str]) -> Iterator[At]:
    """The squares of a line on the board up to an enemy, or to the piece behind an own one."""
    behind_own = False
    for at in line:
        if at not in contents:
            return
        yield at
        if contents[at] == _OWN and not behind_own:
            behind_own = True
        elif contents[at]:
            return


def _attacks(enemy: str, dx: int, dy: int, forward: int) -> bool:
    """Whether the first piece in a line from a king attacks it, `dx` to the right and `dy` upwards from it;
    the pawns of the king move in the direction `forward`, 1 or -1."""
    if enemy == NAMES["p"]:
        return abs(dx) == 1 and dy == forward
    return enemy in (NAMES["q"], NAMES["r" if 0 in (dx, dy) else "b"])


VALUES = {"p": 100, "n": 315, "b": 330, "r": 500, "q": 920, "k": 0}
MATE = 1_000_000


def _square_bonus(piece: str, rank: int, file: int, ending: bool) -> int:
    """Piece-square bonus of a white piece in centipawns; rank and file count from 0, rank 0 is White's."""
    centre = 3.5 - max(abs(rank - 3.5), abs(file - 3.5))
    if piece == "p":
        central = file in (3, 4) and rank in (3, 4)
        return 6 * (rank - 1) + (4 * (rank - 3) if rank > 3 else 0) + (14 if central else 0)
    if piece == "r":
        return 18 if rank == 6 else 4 if file in (3, 4) else 0
    if piece == "k" and not ending:
        return (24 if file in (1, 2, 6) else 0) - 18 * rank
    weight, base = {"n": (14, 22), "b": (8, 8), "q": (3, 0), "k": (14, 0)}[piece]
    return round(weight * centre) - base


@lru_cache(maxsize=2)
def _tables(ending: bool) -> dict[str, list[int]]:
    """For every piece letter of a FEN, its value on each of 64 squares from a8 to h1, positive for White."""
    tables = {}
    for piece, value in VALUES.items():
        tables[piece.upper()] = [value + _square_bonus(piece, 7 - s // 8, s % 8, ending) for s in range(64)]
        tables[piece] = [-(value + _square_bonus(piece, s // 8, s % 8, ending)) for s in range(64)]
    return tables


def evaluate(fen: str) -> int:
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


class ChessSearch(Negamax[Any, int]):
    """ChessBot on OpenSpiel's states; beyond the depth only captures are looked at, up to four."""

    def expand(self, position: Any, depth: int, alpha: float, beta: float) -> tuple[float, list[int]]:
        if position.is_terminal():
            return -MATE - depth if any(position.returns()) else 0, []
        if depth > 0:
            return -inf, [action for action, _ in _ordered(position)]
        white = evaluate(position.board().to_fen())
        standing = white if position.current_player() == 1 else -white
        if standing >= beta or depth <= -4:
            return standing, []
        return standing, [action for action, capture in _ordered(position) if capture]

    def make(self, position: Any, move: int) -> Any:
        return position.child(move)


@cache
def _rules() -> tuple[Callable[[int, Any], Any], dict[Any, int]]:
    import pyspiel

    kinds = pyspiel.chess.PieceType
    values = {kinds.QUEEN: 9, kinds.ROOK: 5, kinds.BISHOP: 3, kinds.KNIGHT: 3, kinds.PAWN: 1}
    return pyspiel.chess.action_to_move, values


def _ordered(spiel: Any) -> list[tuple[int, int]]:
    """Every action with what it captures, the most valuable captures first."""
    board, (move_of, values) = spiel.board(), _rules()
    captures = []
    for action in spiel.legal_actions():
        move = move_of(action, board)
        capture = 0 if move.is_castling() else values.get(board.at(move.to_square).type, 0)
        captures.append((action, capture + values.get(move.promotion_type, 0)))
    return sorted(captures, key=itemgetter(1), reverse=True)


@dataclass
class ChessBot(Bot):
    """Searches `depth` moves ahead and then captures; ties are broken at random."""

    depth: int = option(2, low=1, high=5, help="moves looked ahead, captures beyond not counted")
    kind = "bot/search"
    computes = True

    def choose(self, state: SpielState) -> str:
        actions = [action for action, _ in _ordered(state.spiel)]
        best = ChessSearch().best_moves(state.spiel, self.depth, actions)
        return state.name_of(self.random.choice(best))


_PLACES = ("/usr/games", "/usr/local/games", "/opt/homebrew/bin")
_SECONDS = 20
"""Within which an engine must say that it speaks UCI."""


@dataclass
class Uci(Bot):
    """One engine process per seat; one thread and a node limit make it deterministic.

    There is no skill level: engines choose among weaker moves at random, with a seed that cannot be set.
    """

    engine: str = option("stockfish", help="name or path of the engine", touches=Touch.RUN)
    nodes: int = option(
        1000,
        low=1,
        high=100_000_000,
        help="positions the engine may look at for a move; fewer make it weaker",
    )
    seconds: float = option(
        0.0,
        low=0,
        high=600,
        help="time for a move instead of a number of positions; games then differ between runs",
    )
    kind = "bot/uci"
    computes = True

    def begin(self) -> None:
        self._bot: pyspiel.Bot | None = None
        self._path = find_engine(self.engine)
        if self.game.name != "chess":
            raise BadOption(f"bot/uci plays chess, not {self.game.name}.")
        check_speaks_uci(self._path)

    def choose(self, state: SpielState) -> str:
        import pyspiel

        if self._bot is None:
            kinds = pyspiel.SearchLimitType
            most, kind = self.nodes, kinds.NODES
            if self.seconds:
                most, kind = round(1000 * self.seconds), kinds.MOVETIME
            self._bot = pyspiel.make_uci_bot(self._path, most, False, {"Threads": "1"}, kind, True)
        return state.name_of(self._bot.step(state.spiel))


def find_engine(name: str) -> str:
    path = Path(name)
    if path.is_absolute() or len(path.parts) > 1:
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise BadOption(f"there is no executable chess engine at {name!r}.")
        return str(path)
    engine = shutil.which(name) or next((str(p) for d in _PLACES if (p := Path(d) / name).is_file()), None)
    if engine is None:
        raise BadOption(f"no chess engine {name!r} is installed; install it, or give engine=PATH.")
    return engine


@lru_cache(maxsize=16)
def check_speaks_uci(path: str) -> None:
    command = "uci\nquit\n"
    try:
        ran = subprocess.run([path], input=command, capture_output=True, text=True, timeout=_SECONDS)
        answered = "uciok" in ran.stdout.split()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        answered = False
    if not answered:
        raise BadOption(f"{path!r} is not a chess engine that speaks UCI; give engine=PATH of one that does.")
