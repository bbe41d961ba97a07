"""Views of games on a board of cells: picture, text twin and `perceive` from one matrix of codes.

A board game's view says how to get the matrix from a state and how to draw one; the rest is shared.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import inf
from statistics import fmean
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

from ludens.core.errors import BadOption
from ludens.core.forms import Place, Places
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import Stream
from ludens.core.reply import ActionFormat, ReplyFormat, fold
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Board, Canvas, CellCache, Overlay, Sprite, draw_board, sprite_sheet
from ludens.draw.sprites import SMALL
from ludens.games.open_spiel import SpielState


def pointer(x: float, y: float, *, fine: bool = False) -> str:
    """A place of the unit square: `37:` is the fourth column from the left and the eighth row of tenths.

    With `fine` in twentieths: `0714:` is the eighth column and the fifteenth row of these.
    """
    return f"{int(20 * x):02}{int(20 * y):02}:" if fine else f"{int(10 * x)}{int(10 * y)}:"


_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")


def number_range(game: str, name: str, text: str, example: str, most: float = inf) -> tuple[int, int]:
    written = _RANGE.fullmatch(text)
    low, high = (int(written[1]), int(written[2])) if written else (1, 0)
    if not low <= high <= most:
        raise BadOption(f"option {name!r} of {game} must be a range such as {example}, not {text!r}.")
    return low, high


_FROM_CELL = re.compile(r"([A-Za-z]\d+)((?:=|[a-z])\w+)")
"""A move that begins with a cell: b6c4, F7=3."""
_IN_ROW = re.compile(r"([A-Za-z])(\d+)")
MOST = 40
"""Moves that are listed one by one; where there are more, those in one row."""
FEW = 8
"""Moves between cells that are all listed: where there are so few, a player is often in check."""


def listing(moves: Sequence[str], move: str, *, shown: bool = False) -> str:
    """Valid moves in a fixed order, `move` among them.

    Where all moves are shown to the player (`grouped`), those from the cell of `move` are repeated as they
    stand there: they can be copied.

    Where moves begin with a cell, the list has what is valid from the cell of `move`, near ones first, as in
    `b6: c4 a4`: those are the easiest to be sure of. Where only few moves between cells are valid, the list
    says so and has all of them, as in `all: b6c4 b6a4 e1d1`. Where there are very many moves, it has those in
    the row of `move`, as in `K: 3 7 12`.
    """
    pattern = _FROM_CELL if _FROM_CELL.fullmatch(move) else _IN_ROW
    chosen = pattern.fullmatch(move)
    if chosen is None or (pattern is _IN_ROW and len(moves) <= MOST):
        return " ".join(sorted(moves))
    start = chosen[1]
    ends = [split[2] for split in map(pattern.fullmatch, moves) if split and split[1] == start]
    if shown and pattern is _FROM_CELL:
        return grouped(start + end for end in ends)
    rest = sorted(ends, key=lambda end: (_distance(start, end), end))
    if len(moves) <= FEW and chosen[2][0].isalpha():
        near = [start + end for end in rest]
        return f"all: {' '.join([*near, *sorted(set(moves) - set(near))])}"
    return f"{start}: {' '.join(end.removeprefix('=') for end in rest)}"


def grouped(moves: Iterable[str]) -> str:
    """Moves in few words: those from one cell together, as in `b6: c4 a4, e1: d1`; others as they are."""
    ends: dict[str, list[str]] = {}
    for move in sorted(moves):
        split = _FROM_CELL.fullmatch(move)
        start, end = (split[1], split[2].removeprefix("=")) if split else (move, "")
        ends.setdefault(start, []).append(end)
    return ", ".join(f"{start}: {' '.join(rest)}" if any(rest) else start for start, rest in ends.items())


def _distance(start: str, end: str) -> int:
    """Steps of a king between two cells; the number itself for a number."""
    if not end[0].isalpha():
        return int(end) if end.isdigit() else 0
    return max(abs(ord(start[0]) - ord(end[0])), abs(int(start[1]) - int(end[1])))


def board_option(help: str) -> Any:
    return option("tic_tac_toe", help=help, touches=Touch.GAME)


def cell_name(cell: int, columns: int) -> str:
    """A cell, counted row by row, by the letter of its row and the number of its column: `A1`."""
    return f"{ascii_uppercase[cell // columns]}{cell % columns + 1}"


@lru_cache(maxsize=64)
def neighbours(rows: int, columns: int, reach: int = 1) -> tuple[tuple[int, ...], ...]:
    """For every cell, row by row, the others that are at most so many rows and columns away."""
    return tuple(
        tuple(
            r * columns + c
            for r in range(max(0, row - reach), min(rows, row + reach + 1))
            for c in range(max(0, column - reach), min(columns, column + reach + 1))
            if (r, c) != (row, column)
        )
        for row in range(rows)
        for column in range(columns)
    )


Matrix = Sequence[Sequence[int]]

_CELL = re.compile(r"([a-z])[\s,-]{0,3}([0-9]{1,2})|([0-9]{1,2})[\s,-]{0,3}([a-z])")
_MOVE = re.compile(r"([a-z][0-9]{1,2})[\s,x-]{1,3}([a-z][0-9]{1,2})")


class CellFormat(ActionFormat):
    """Cells or moves between cells: `H 8`, `8H` and `H-8` are read as `H8`, `a7-a6` as `a7a6`."""

    def normal_form(self, name: str) -> str:
        folded = fold(name)
        if cell := _CELL.fullmatch(folded):
            return (cell[1] or cell[4]) + (cell[2] or cell[3])
        move = _MOVE.fullmatch(folded)
        return move[1] + move[2] if move else folded


_CELLS = CellFormat()
_TENTHS = 9
"""The largest board on which every row lies in another tenth of the picture."""
_STATUS = 30
"""The height of the line below a board that says who is to move, in units of 1/512 of the picture."""
_STRIP = 8
"""The height of that line in small pictures, in pixels."""


class BoardView(View):
    """A view that draws a matrix of codes: by default a `board` with a piece in each cell."""

    rows: int
    columns: int
    codes: ClassVar[Mapping[int, str]]
    """The meaning of each code in the matrix; the empty cell comes first."""
    marks: ClassVar[Mapping[int, str]]
    symbols: ClassVar[str]
    """The characters of the codes in the text of a state, where the matrix is read from it by `decode`."""
    inks: Sequence[str] | None = None
    grounds: Sequence[str] | None = None
    """Colours in front and behind, of which the picture is made (`sprite_sheet`); all where not given."""
    style: ClassVar[str] = "squares"
    labels: ClassVar[str] = "lt"
    """The sides with labels; small pictures have none."""
    least_cell: ClassVar[int]
    """Pixels of a cell at which every piece can be told from every other; see `smallest`."""

    @property
    def smallest(self) -> int:
        cells = max(self.rows, self.columns) * getattr(self, "least_cell", 1000)
        return next((size for size in (64, 96, 128, 160) if cells <= size - 2 * _STRIP), 256)

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._sheet = sprite_sheet(render.theme, render.size, seed, self.inks, self.grounds)
        rows = [self.row_label(row) for row in range(self.rows)]
        columns = [self.column_label(column) for column in range(self.columns)]
        if render.size < SMALL:
            rows, columns = [], []
        self.board: Board = draw_board(
            self._sheet, self.rows, self.columns, rows, columns, self.style, self.labels, self.box()
        )

    def box(self) -> tuple[int, int, int, int] | None:
        return None

    def format(self, state: Any, seat: str) -> ReplyFormat:
        return _CELLS

    @abstractmethod
    def matrix(self, state: Any) -> Matrix:
        """The board as codes, row by row from the top of the picture."""

    def seen(self, state: Any) -> Matrix:
        """The matrix as it is drawn: from the side of the seat that looks."""
        return self.matrix(state)

    def decode(self, lines: Iterable[Iterable[str]]) -> Matrix:
        code_of = self._code_of.__getitem__
        return [[*map(code_of, line)] for line in lines]

    @cached_property
    def _code_of(self) -> Mapping[str, int]:
        return dict(zip(self.symbols, self.codes, strict=True))

    def piece(self, row: int, column: int, code: int) -> Sprite | Overlay | None:
        raise NotImplementedError

    def draw(self, matrix: Matrix) -> Picture:
        """The picture of any matrix of codes, reachable in play or not."""
        return self._drawn.picture(matrix)

    @cached_property
    def _drawn(self) -> CellCache:
        return CellCache(self.board, self.piece)

    def row_label(self, row: int) -> str:
        return ascii_uppercase[row]

    def column_label(self, column: int) -> str:
        return str(column + 1)

    @property
    def empty(self) -> int:
        return next(iter(self.codes))

    def scatter(self, random: Stream) -> Matrix:
        """A random position, not necessarily reachable in play: any number of pieces on any cells."""
        cells = [self.empty] * (self.rows * self.columns)
        pieces = [code for code in self.codes if code != self.empty]
        for cell in random.sample(range(len(cells)), random.between(0, len(cells))):
            cells[cell] = random.choice(pieces)
        return [cells[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def weight(self, move: str) -> float:
        """How likely a move is when a position is made by random moves, relative to others."""
        return 1.0

    def answers(self) -> Sequence[str]:
        """Every move that can be named on this board, valid now or not."""
        return self.cells()

    def guess(self, state: Any, seat: str, random: Stream) -> str:
        return random.choice(self._answers)

    @cached_property
    def _answers(self) -> Sequence[str]:
        return self.answers()

    def cells(self) -> Sequence[str]:
        rows, columns = range(self.rows), range(self.columns)
        return [self.row_label(row) + self.column_label(column) for row in rows for column in columns]

    def squares(self, move: str) -> Sequence[str]:
        """The cells that a move names, in the order in which they are clicked; none for a pass."""
        return (move,) if move in self._positions else ()

    @cached_property
    def _positions(self) -> Mapping[str, tuple[int, int]]:
        return {name: divmod(number, self.columns) for number, name in enumerate(self.cells())}

    @cached_property
    def _cell_places(self) -> Mapping[str, Place]:
        return {name: self.board.place(*position) for name, position in self._positions.items()}

    @property
    def cell_places(self) -> Sequence[Place]:
        """Where the cells are, row by row from the top."""
        return tuple(self._cell_places.values())

    @cached_property
    def middles(self) -> Sequence[tuple[float, float]]:
        """The middle of every cell, row by row from the top, in fractions of the picture."""
        places = self._cell_places.values()
        return [(place.x + place.width / 2, place.y + place.height / 2) for place in places]

    def point(self, cells: Sequence[int]) -> str:
        """Points at the middle of cells, numbered row by row, in the words of bots that are imitated."""
        x, y = (fmean(self.middles[cell][axis] for cell in cells) for axis in (0, 1))
        return pointer(x, y, fine=max(self.rows, self.columns) > _TENTHS)

    def clickable(self) -> Sequence[str]:
        """Every move that can be clicked on this board, valid now or not."""
        return self._answers

    def places(self, state: Any, seat: str) -> Places:
        return self.places_of(state.legal(seat))

    def places_of(self, moves: Iterable[str]) -> Places:
        """The cells of any moves, valid now or not; moves that name no cell have no place."""
        where = self._cell_places
        paths = {move: tuple(where[square] for square in self.squares(move)) for move in moves}
        return {move: path for move, path in paths.items() if path}

    def image(self, state: Any, seat: str) -> Picture:
        return self.draw(self.seen(state))

    def text(self, state: Any, seat: str) -> str:
        return self.transcript(self.seen(state))

    def transcript(self, matrix: Matrix) -> str:
        head, heads, marks, legend = self._margins
        rows = zip(heads, matrix, strict=True)
        lines = [" ".join([start, *[marks[code] for code in codes]]) for start, codes in rows]
        return "\n".join([head, *lines, legend])

    @cached_property
    def _margins(self) -> tuple[str, list[str], dict[int, str], str]:
        width = max(len(self.column_label(column)) for column in range(self.columns))
        margin = max(len(self.row_label(row)) for row in range(self.rows))
        columns = [self.column_label(column).rjust(width) for column in range(self.columns)]
        legend = [
            f"{self.marks[code]} {name}" for code, name in self.codes.items() if self.marks[code] != name
        ]
        return (
            " ".join([" " * margin, *columns]),
            [self.row_label(row).rjust(margin) for row in range(self.rows)],
            {code: mark.rjust(width) for code, mark in self.marks.items()},
            f"({', '.join(legend)})",
        )


class TurnView(BoardView):
    """A board on which two seats take turns: the last move is framed, and a line says who is to move.

    Positions that were not reached by play (`draw`, `transcript`) show neither. In small pictures a piece
    below the board says who is to move, and a bar beside it that the other passed.
    """

    def box(self) -> tuple[int, int, int, int]:
        height = _STRIP if self._sheet.size < SMALL else self._sheet.px(_STATUS)
        return 0, 0, self._sheet.size, self._sheet.size - height

    @abstractmethod
    def icon(self, seat: str, px: int) -> Sprite:
        """A piece of this seat, on the page."""

    def player(self, seat: str) -> str:
        return seat

    @cached_property
    def _drawn(self) -> CellCache:
        return CellCache(self.board, self.piece, self._draw_turn)

    def image(self, state: SpielState, seat: str) -> Picture:
        paths = {mover: self.squares(move) for mover, move in state.last.items()}
        framed = [self._positions[square] for path in paths.values() for square in path]
        passed = tuple(mover for mover, path in paths.items() if not path)
        return self._drawn.picture(self.seen(state), framed, (state.to_act, passed))

    def _draw_turn(self, canvas: Canvas, turn: tuple[Sequence[str], Sequence[str]]) -> None:
        """Who is to move, and who passed."""
        (to_act, passed), sheet = turn, self.board.sheet
        if sheet.size < SMALL:
            if to_act:
                canvas.place(self.icon(to_act[0], _STRIP), 1, sheet.size - _STRIP)
            if passed:
                canvas.fill(_STRIP + 4, sheet.size - _STRIP // 2 - 1, 2 * _STRIP, 3, "ink")
            return
        x, y = self.board.x, sheet.size - sheet.px(_STATUS / 2 + 4)
        if to_act:
            side = max(12, sheet.px(22))
            canvas.centre(self.icon(to_act[0], side), x + side // 2, y)
            x += side + sheet.px(8)
        words = [f"{self.player(to_act[0])} to move" if to_act else "game over"]
        words += [f"{self.player(mover)} passed" for mover in passed]
        canvas.text(x, y, ", ".join(words), sheet.font_px(17), bold=True)

    def text(self, state: SpielState, seat: str) -> str:
        last = [f"{self.player(mover)} {move}" for mover, move in state.last.items()]
        turn = f"{self.player(state.to_act[0])} to move" if state.to_act else "game over"
        return f"{super().text(state, seat)}\nlast move: {', '.join(last) or 'none yet'}\n{turn}"


class StoneView(TurnView):
    """Black and white stones."""

    codes = {0: "empty", 1: "black", 2: "white"}
    marks = {0: ".", 1: "b", 2: "w"}
    inks = ("ink", "line", "black", "white")
    least_cell = 9
    stone_size: ClassVar[float]
    """Part of a cell that a stone fills."""

    def piece(self, row: int, column: int, code: int) -> Sprite | None:
        ground = self.board.ground(row, column)
        return self._sheet.stone(self.codes[code], self.board.room(self.stone_size), ground) if code else None

    def icon(self, seat: str, px: int) -> Sprite:
        return self._sheet.stone(seat, px, "page")


class ChequeredView(TurnView):
    """Rows are counted from the bottom, columns lettered from the left; a move names two cells.

    For the person who has the seat at the top, the board is turned by half a turn.
    """

    grounds = ("page", "light", "dark")
    style = "checkered"
    labels = "lb"
    top: ClassVar[str] = "black"
    """The seat whose pieces are at the top."""

    @property
    def turns(self) -> bool:
        return True

    @property
    def turned(self) -> bool:
        return self.render.side == self.top

    def seen(self, state: Any) -> Matrix:
        matrix = self.matrix(state)
        return [row[::-1] for row in matrix[::-1]] if self.turned else matrix

    def row_label(self, row: int) -> str:
        return str(row + 1 if self.turned else self.rows - row)

    def column_label(self, column: int) -> str:
        return ascii_lowercase[self.columns - 1 - column if self.turned else column]

    def rules_for_person(self, seat: str) -> str:
        values = {**self.values(seat), "bottom": "Black" if self.turned else "White"}
        return self.templates.fill("rules person", seat=seat, **values)

    def cells(self) -> list[str]:
        rows, columns = range(self.rows), range(self.columns)
        return [self.column_label(column) + self.row_label(row) for row in rows for column in columns]

    def answers(self) -> list[str]:
        return [start + end for start in self.cells() for end in self.cells() if start != end]

    def squares(self, move: str) -> tuple[str, str]:
        return move[:2], move[2:4]

    def label(self, action: str) -> str:
        start, end = self.squares(action)
        known = start in self._positions and end in self._positions
        return f"{start}–{end}{action[4:]}" if known else action
