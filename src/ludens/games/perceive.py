"""Perceive, a one-move question: write a random position of a board game as a matrix."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ludens.core.errors import Ambiguous, BadOption, Unreadable
from ludens.core.forms import Matrix as MatrixForm
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import DASHES, ReplyFormat, unwrap, without_reasoning
from ludens.core.state import Legal, Question
from ludens.core.twins import MARKS, TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.boards import BoardView, Matrix, board_option, number_range


def bounds(board: BoardView, pieces: str) -> tuple[int, int]:
    cells = board.rows * board.columns
    return number_range("perceive", "pieces", pieces, f"0-{cells}", cells)


def codes_of(board: BoardView, kinds: str) -> Sequence[int]:
    """The codes of the pieces whose letters are in `kinds`; all when it is empty."""
    by_letter: dict[str, list[int]] = {}
    for code, mark in board.marks.items():
        if code != board.empty:
            by_letter.setdefault(mark.upper(), []).append(code)
    for letter in kinds.upper():
        if letter not in by_letter:
            raise BadOption(
                f"option 'kinds' of perceive has the letter {letter!r}; "
                f"the pieces of {board.game.name} are {''.join(by_letter)}."
            )
    return [code for letter in (kinds.upper() or by_letter) for code in by_letter[letter]]


def scattered(board: BoardView, random: Stream, pieces: str, kinds: str) -> Matrix:
    """A random position with this number and these kinds of pieces, each piece equally likely.

    With kinds alone, as many pieces on the same cells as the board would scatter of all kinds.
    """
    if not pieces and not kinds:
        return board.scatter(random)
    codes, cells = codes_of(board, kinds), range(board.rows * board.columns)
    if pieces:
        filled = set(random.sample(cells, random.between(*bounds(board, pieces))))
    else:
        usual = [code for row in board.scatter(random) for code in row]
        filled = {cell for cell in cells if usual[cell] != board.empty}
    flat = [random.choice(codes) if cell in filled else board.empty for cell in cells]
    return [flat[start : start + board.columns] for start in range(0, len(flat), board.columns)]


SEAT = "viewer"


@dataclass(frozen=True)
class Perceive(TwinGame["PerceiveQuestion"]):
    """Write the position on a board as a matrix of codes; every cell counts.

    Seats: `viewer`, alone, for one move.
    Observation: a random position of the board game named by the option `board`; play need not lead there.
    Actions: the matrix as nested lists, row by row from the top, as in `[[0, 1], [2, 0]]`.
    Rewards: the share of cells that are right; 0 for a reply that holds no matrix of the right shape.
    Facts: `by_code` has for each code on the board how many of its cells are right and how many there are.
    Codes: those of the board game, which the rules name, or with `codes=random` other numbers for every seed,
    which the notes name, so that a reply is right only for those who read them and look.
    Twins: two random positions; the cells that differ are compared.
    """

    name = "perceive"
    seats = (SEAT,)
    version = 3
    view_class = "ludens.games.perceive:PerceiveView"
    best = "bot/oracle"
    presets = {
        "easy": Preset(),
        "medium": Preset({"board": "reversi"}),
        "hard": Preset({"board": "chess"}),
        "paper": Preset(),
    }
    question = True

    board: str = board_option("the board game whose positions are shown, options included")
    pieces: str = option("", help="how many pieces are shown, as in 46-90; any number when empty")
    kinds: str = option("", help="the kinds of pieces shown, by letter, as in KQ; all when empty")
    codes: str = option(
        "usual", choices=("usual", "random"), help="numbers of pieces: the board's, or others for every seed"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        board = board_of(self.board, RenderOptions())
        codes_of(board, self.kinds)
        if self.pieces:
            bounds(board, self.pieces)

    def world(self, seed: int) -> PerceiveQuestion:
        return self._question(stream(seed, "position"), seed)

    def pair(self, seed: int) -> tuple[PerceiveQuestion, PerceiveQuestion]:
        first, random = self.world(seed), stream(seed, "twin")
        while True:
            second = self._question(random, seed)
            pairs = zip(_flat(first.matrix), _flat(second.matrix), strict=True)
            compared = [cell for cell, (a, b) in enumerate(pairs) if a != b]
            if compared:
                first.compared = second.compared = compared
                return first, second

    def _question(self, random: Stream, seed: int) -> PerceiveQuestion:
        board = board_of(self.board, RenderOptions())
        matrix = scattered(board, random, self.pieces, self.kinds)
        return PerceiveQuestion(board, matrix, self.numbers(board, seed))

    def numbers(self, board: BoardView, seed: int) -> dict[int, int]:
        """What is written for each code of the board."""
        if self.codes == "usual":
            return {code: code for code in board.codes}
        most = max(10, 2 * len(board.codes))
        return dict(
            zip(board.codes, stream(seed, "codes").sample(range(most), len(board.codes)), strict=True)
        )


def _flat(matrix: Matrix) -> list[int]:
    return [code for row in matrix for code in row]


@lru_cache(maxsize=64)
def board_of(board: str, render: RenderOptions, seed: int = 0) -> BoardView:
    if board.startswith("perceive"):
        raise BadOption("perceive needs a board game to show, not itself.")
    view = make(board).view(render, seed)
    if not isinstance(view, BoardView):
        raise BadOption(f"perceive needs a game on a board of cells; {board} is not one.")
    return view


class PerceiveQuestion(Question):
    """A position, and the matrix that was answered."""

    def __init__(self, board: BoardView, matrix: Matrix, numbers: Mapping[int, int] | None = None) -> None:
        super().__init__(SEAT, Legal.text())
        self.board = board
        self.matrix = matrix
        self.numbers = numbers or {code: code for code in board.codes}
        """What is written for each code of the board."""
        self.compared: Sequence[int] = ()
        """The cells that differ from those of the twin."""

    def refusal(self, seat: str, action: str) -> str | None:
        if not action:
            return None
        try:
            read = json.loads(action)
        except (ValueError, RecursionError):
            return "the answer is not a matrix of whole numbers."
        return shape_error(read, self.board.rows, self.board.columns)

    def solution(self, seat: str) -> str | None:
        return canonical([[self.numbers[code] for code in row] for row in self.matrix])

    def _answered(self) -> Sequence[int | None]:
        """The code that was answered for each cell; None for a number that stands for nothing."""
        codes = {number: code for code, number in self.numbers.items()}
        answered = [codes.get(number) for number in _flat(json.loads(self.answer or "[]"))]
        return answered or [None] * (self.board.rows * self.board.columns)

    def _by_code(self) -> dict[int, tuple[int, int]]:
        """For each code on the board, how many of its cells are right and how many there are."""
        truth, answered = _flat(self.matrix), self._answered()
        right = Counter(code for code, other in zip(truth, answered, strict=True) if code == other)
        return {code: (right[code], count) for code, count in sorted(Counter(truth).items())}

    @property
    def returns(self) -> dict[str, float]:
        right = sum(right for right, _ in self._by_code().values())
        return {SEAT: right / (self.board.rows * self.board.columns)}

    @property
    def facts(self) -> dict[str, Any]:
        by_code, cells = self._by_code(), self.board.rows * self.board.columns
        right, (_, empty) = sum(right for right, _ in by_code.values()), by_code.get(self.board.empty, (0, 0))
        return {
            "right": right,
            "cells": cells,
            "pieces": cells - empty,
            "exact": right == cells,
            "readable": bool(self.answer),
            "empty": str(self.board.empty),
            "by_code": {str(code): list(counts) for code, counts in by_code.items()},
            **({MARKS: self._marks()} if self.compared else {}),
        }

    def _marks(self) -> str:
        truth, answered = _flat(self.matrix), self._answered()
        return "".join("01"[truth[cell] == answered[cell]] for cell in self.compared)


def canonical(matrix: Matrix) -> str:
    return json.dumps([list(row) for row in matrix])


def shape_error(matrix: Any, rows: int, columns: int) -> str | None:
    if not isinstance(matrix, list) or not all(isinstance(row, list) for row in matrix):
        return "the answer is not a matrix: a list of rows, each a list of whole numbers."
    if len(matrix) != rows or any(len(row) != columns for row in matrix):
        widths = sorted({len(row) for row in matrix}) or [0]
        held = " or ".join(map(str, widths)) if len(widths) <= 3 else f"{widths[0]} to {widths[-1]}"
        return (
            f"the matrix must have {rows} rows of {columns} numbers; yours has {len(matrix)} rows of {held}."
        )
    if any(type(code) is not int for row in matrix for code in row):
        return "every entry of the matrix must be a whole number."
    return None


_NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
_LIST_ROW = re.compile(r"\[([^\[\]]*)\]")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{[a-zA-Z]{0,10}(?:matrix|array)\*?\}(?:\{[^}\n]{0,40}\})?")
_SEPARATORS = re.compile(r"[\s,;|&]+")
_COMMENTS = ("#", "//")

Rows = list[list[int]]


@dataclass(frozen=True)
class MatrixFormat(ReplyFormat):
    """A matrix of whole numbers with a fixed shape."""

    rows: int
    columns: int

    def ask(self, legal: Legal) -> str:
        return (
            f"Give the matrix once, as {self.rows} lists of {self.columns} whole numbers inside one list, "
            "as in [[0, 1], [2, 0]], top row first."
        )

    def write(self, action: str) -> str:
        return action

    def read(self, text: str, legal: Legal) -> str:
        reply = without_reasoning(text).translate(DASHES)
        matrices = [*_lists(reply), *_latex(reply)] or _plain(reply)
        if not matrices:
            raise Unreadable("no matrix was found in the reply.")
        fitting = {json.dumps(m) for m in matrices if shape_error(m, self.rows, self.columns) is None}
        if len(fitting) > 1:
            raise Ambiguous("the reply holds several different matrices; give exactly one.")
        if not fitting:
            raise Unreadable(shape_error(matrices[-1], self.rows, self.columns) or "no matrix fits.")
        return fitting.pop()


def _numbers(cells: Iterable[str]) -> list[int] | None:
    """The number in each cell, quoted or emphasised; None when a cell holds anything else."""
    hits = [_NUMBER.fullmatch(cell.strip("\"'`* \t\r\n")) for cell in cells]
    return None if None in hits else [int(hit[0]) for hit in hits if hit]


def _without_comment(line: str) -> str:
    row, bracket, rest = line.rpartition("]")
    return row + bracket if rest.lstrip(" \t,;").startswith(_COMMENTS) else line


def _lists(text: str) -> list[Rows]:
    """Runs of `[1, 2, 3]` rows with only commas, white space and comments between them."""
    text = "\n".join(map(_without_comment, text.splitlines()))
    runs: list[Rows] = []
    end = -1
    for hit in _LIST_ROW.finditer(text):
        content = hit[1].strip().removesuffix(",")
        row = _numbers(content.split(",")) if content else []
        if row is None:
            continue
        if end >= 0 and not text[end : hit.start()].strip(" \t\r\n,;"):
            runs[-1].append(row)
        else:
            runs.append([row])
        end = hit.end()
    return runs


def _latex(text: str) -> list[Rows]:
    """Every matrix environment: rows end with two backslashes, cells with &."""
    matrices: list[Rows] = []
    start = -1
    for hit in _ENVIRONMENT.finditer(text):
        if hit[1] == "begin":
            start = hit.end()
        elif start >= 0:
            lines = text[start : hit.start()].replace(r"\hline", "").split(r"\\")
            rows = [_numbers(map(unwrap, line.split("&"))) for line in lines if line.strip()]
            matrices += [[row for row in rows if row is not None]] if None not in rows else []
            start = -1
    return matrices


def _plain(text: str) -> list[Rows]:
    """Blocks of consecutive lines of numbers. The rows below the header of a table are a block, too."""
    blocks: list[Rows] = []
    header = inside = False
    for line in [*text.splitlines(), ""]:
        row = _plain_row(line)
        if row is not None:
            blocks += [] if inside else [[]]
            blocks[-1].append(row)
            inside = True
        elif inside and "-" in line and not line.strip(" \t|:+-"):
            header |= len(blocks[-1]) == 1
        else:
            if header:
                blocks.append(blocks[-1][1:])
            header = inside = False
    return [block for block in blocks if block]


def _plain_row(line: str) -> list[int] | None:
    """The numbers in a line that holds nothing else except separators, brackets and a comment."""
    for mark in _COMMENTS:
        line = line.partition(mark)[0]
    bare = line.strip().removeprefix("- ").strip(" \t,;|&[]()\\")
    return _numbers(_SEPARATORS.split(bare)) if bare else None


class PerceiveView(View):
    """The board game's own picture, and a legend of codes: in the rules, or in the notes where each seed has
    codes of its own."""

    @property
    def smallest(self) -> int:
        """The view of the game that is shown decides."""
        return 64

    def __init__(self, game: Perceive, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_of(game.board, render, seed)
        self._format = MatrixFormat(self._board.rows, self._board.columns)
        self._varies = game.codes == "random"

    def image(self, state: PerceiveQuestion, seat: str) -> Picture:
        return self._board.draw(state.matrix)

    def text(self, state: PerceiveQuestion, seat: str) -> str:
        return self._board.transcript(state.matrix)

    def notes(self, state: PerceiveQuestion, seat: str) -> str:
        return f"Write {self._legend(state.numbers)}." if self._varies else ""

    def brief(self, state: PerceiveQuestion, seat: str) -> str:
        codes = " ".join(map(str, state.numbers.values())) if self._varies else ""
        return f"{self._board.game.name} {self._board.rows}x{self._board.columns} {codes}".rstrip()

    def format(self, state: PerceiveQuestion, seat: str) -> MatrixFormat:
        return self._format

    def form(self, state: PerceiveQuestion, seat: str) -> MatrixForm:
        board = self._board
        marks = {**board.marks, board.empty: ""}
        return MatrixForm(
            [board.row_label(row) for row in range(board.rows)],
            [board.column_label(column) for column in range(board.columns)],
            {state.numbers[code]: (marks[code], name) for code, name in board.codes.items()},
            board.cell_places,
            canonical,
            self.templates.fill("prompt"),
        )

    def label(self, action: str) -> str:
        """The matrix in the marks of the board; as it is where each seed has codes of its own."""
        try:
            rows = json.loads(action)
        except ValueError:
            return action
        if self._varies:
            return action
        return " / ".join(" ".join(self._board.marks.get(code, "?") for code in row) for row in rows)

    def rules_for_person(self, seat: str) -> str:
        return self.templates.fill("rules person", seat=seat, **self.values(seat))

    def guess(self, state: PerceiveQuestion, seat: str, random: Stream) -> str:
        rows, columns, codes = self._board.rows, self._board.columns, list(state.numbers.values())
        return canonical([[random.choice(codes) for _ in range(columns)] for _ in range(rows)])

    def values(self, seat: str) -> dict[str, object]:
        board = self._board
        usual = self._legend({code: code for code in board.codes})
        legend = "the numbers stated with the picture" if self._varies else usual
        return {"game": board.game.name, "rows": board.rows, "columns": board.columns, "legend": legend}

    def _legend(self, numbers: Mapping[int, int]) -> str:
        """What the number of each code stands for."""
        codes = self._board.codes
        named = [f"{numbers[code]} for {name}" for code, name in codes.items() if name != str(numbers[code])]
        return ", ".join(named) + (", every other number as itself" * (len(named) < len(codes)))
