"""What questions are made of: positions that can be changed until they agree with an answer, and options
that give nothing away."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, product
from typing import Any, Generic, TypeVar

from ludens.core.random import Stream
from ludens.core.state import Legal
from ludens.games.boards import BoardView, Matrix

Cells = Sequence[int]


class QaGrid:
    """A random position as a list of cells, row by row from the top left."""

    def __init__(self, board: BoardView, random: Stream) -> None:
        self.board = board
        self.random = random
        self.codes = [code for row in board.scatter(random) for code in row]

    @property
    def all(self) -> Cells:
        return range(len(self.codes))

    def row(self, row: int) -> Cells:
        return range(row * self.board.columns, (row + 1) * self.board.columns)

    def column(self, column: int) -> Cells:
        return range(column, len(self.codes), self.board.columns)

    def box(self, row: int, column: int, side: int = 3) -> Cells:
        return [cell for r in range(row, row + side) for cell in self.row(r)[column : column + side]]

    def any_cell(self) -> int:
        return self.random.below(len(self.codes))

    def whole(self) -> tuple[str, Cells]:
        return "on the board", self.all

    def edge(self) -> tuple[str, Cells]:
        rows, columns = (0, self.board.rows - 1), (0, self.board.columns - 1)
        places = ((cell, *divmod(cell, self.board.columns)) for cell in self.all)
        edge = [cell for cell, row, column in places if row in rows or column in columns]
        return "on the edge of the board", edge

    def any_line(self) -> tuple[str, Cells]:
        if self.random.below(2):
            row = self.random.below(self.board.rows)
            return f"row {self.board.row_label(row)}", self.row(row)
        column = self.random.below(self.board.columns)
        return f"column {self.board.column_label(column)}", self.column(column)

    def name(self, cell: int) -> str:
        row, column = divmod(cell, self.board.columns)
        return f"row {self.board.row_label(row)}, column {self.board.column_label(column)}"

    def count(self, cells: Cells, codes: Collection[int]) -> int:
        return sum(self.codes[cell] in codes for cell in cells)

    def at(self, cells: Cells) -> str:
        """Where the middle of these cells is in the picture."""
        return self.board.point(cells)

    def totals(self, cells: Cells, codes: Collection[int]) -> str:
        """The count so far after each row, or after each cell where there is only one row."""
        columns = self.board.columns
        rows = [list(row) for _, row in groupby(cells, lambda cell: cell // columns)]
        parts = rows if len(rows) > 1 else [[cell] for cell in cells]
        return self.running(parts, [self.count(part, codes) for part in parts])

    def lengths(self, line: Cells, code: int) -> str:
        """After each cell of a line, how long the unbroken run of a code is that ends there."""
        _, *runs = accumulate(line, lambda run, cell: run + 1 if self.codes[cell] == code else 0, initial=0)
        return self.noted([[cell] for cell in line], runs)

    def lengths_by_row(self, lines: Iterable[Cells], codes: Collection[int]) -> str:
        """After each row, how long the longest unbroken run of one of these codes is that ends there."""
        longest = [0] * self.board.rows
        for line, code in product(lines, codes):
            for run in self.runs(line, code):
                for length, cell in enumerate(run, 1):
                    row = cell // self.board.columns
                    longest[row] = max(longest[row], length)
        return self.noted([self.row(row) for row in range(self.board.rows)], longest)

    def running(self, parts: Sequence[Cells], numbers: Sequence[int]) -> str:
        """The sum so far after each part, behind the place of the part."""
        return self.noted(parts, accumulate(numbers))

    def noted(self, parts: Sequence[Cells], numbers: Iterable[int]) -> str:
        """A number for each part, behind the place of the part."""
        return " ".join(f"{self.at(part)} {number}" for part, number in zip(parts, numbers, strict=True))

    def rest(self, codes: Collection[int]) -> list[int]:
        """All other codes."""
        return [code for code in self.board.codes if code not in codes]

    def put(self, cell: int, codes: Sequence[int]) -> None:
        self.codes[cell] = self.random.choice(codes)

    def settle(self, cells: Cells, codes: Sequence[int], rest: Sequence[int], count: int) -> None:
        """Change as few of these cells as needed for `count` of them to hold one of these codes."""
        hits = [cell for cell in cells if self.codes[cell] in codes]
        misses = [cell for cell in cells if self.codes[cell] not in codes]
        for cell in self.random.sample(hits, max(0, len(hits) - count)):
            self.put(cell, rest)
        for cell in self.random.sample(misses, max(0, count - len(hits))):
            self.put(cell, codes)

    def lines(self, steps: Collection[tuple[int, int]]) -> Iterator[Cells]:
        """Every straight line across the board in these directions (rows down, columns right)."""
        rows, columns = self.board.rows, self.board.columns
        for down, right in steps:
            for cell in self.all:
                row, column = divmod(cell, columns)
                if 0 <= row - down < rows and 0 <= column - right < columns:
                    continue  # not where the line begins
                line = []
                while 0 <= row < rows and 0 <= column < columns:
                    line.append(row * columns + column)
                    row, column = row + down, column + right
                yield line

    def runs(self, line: Cells, code: int) -> Iterator[Cells]:
        run: list[int] = []
        for cell in line:
            if self.codes[cell] == code:
                run.append(cell)
            elif run:
                yield run
                run = []
        if run:
            yield run

    @property
    def matrix(self) -> Matrix:
        return [[self.codes[cell] for cell in self.row(row)] for row in range(self.board.rows)]


T = TypeVar("T")

LETTERS = "ABCD"
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class QaItem:
    """One question about one position."""

    text: str
    options: tuple[str, ...]
    right: int
    matrix: Matrix
    work: str = ""
    """How the answer is found, step by step: where to look, and what is there."""

    @property
    def letters(self) -> Legal:
        return Legal(LETTERS[: len(self.options)])

    @property
    def answer(self) -> str:
        return LETTERS[self.right]

    @property
    def by_letter(self) -> dict[str, str]:
        return dict(zip(self.letters, self.options, strict=True))

    @property
    def lettered(self) -> list[str]:
        """Each option as one word, followed by its letter."""
        return [f"{joined(option)} {letter}" for letter, option in self.by_letter.items()]

    def prompt(self) -> str:
        """The question and its options, as they stand in a prompt."""
        lines = [f"{letter}. {option}" for letter, option in self.by_letter.items()]
        return "\n".join([f"Question: {self.text}", *lines])


def joined(option: str) -> str:
    """An option as one word, for small models."""
    return option.replace(" ", "_")


QuestionType = Callable[[Any], QaItem]
"""Makes a question about a random position, a `QaGrid`, by changing it."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Options in the order they are offered, and the one that will be right."""

    values: tuple[T, ...]
    right: int

    @property
    def target(self) -> T:
        return self.values[self.right]

    def ask(
        self, text: str, matrix: Matrix, name: Callable[[T], str] = str, work: str = "", at: str = ""
    ) -> QaItem:
        """The question, once the position agrees with the target. `work` says how the answer is found; where
        one look is enough, `at` is the place to look at."""
        options = tuple(name(value) for value in self.values)
        look = f"{at} {joined(options[self.right])}" if at else ""
        return QaItem(text, options, self.right, matrix, work or look)


class TwinStream(Stream):
    """Draws what the stream of a question draws, but for the right option: that of the twin world."""

    __slots__ = ("turn",)

    def __init__(self, question: Stream, turn: Stream) -> None:
        super().__init__(0)
        self._state = question._state
        self.turn = turn


def choose(values: Sequence[T], random: Stream) -> Choice[T]:
    """Offer these values, or a sample where there are many, in random order; any may be the right one."""
    offered = random.sample(values, min(OPTIONS, len(values)))
    right = random.below(len(offered))
    if isinstance(random, TwinStream):
        right = (right + 1 + random.turn.below(len(offered) - 1)) % len(offered)
    return Choice(tuple(offered), right)


def choose_near(natural: int, top: int, random: Stream, bottom: int = 0) -> Choice[int]:
    """Offer four numbers from `bottom` to `top` near a given one, spaced wider where numbers are large."""
    reach = max(OPTIONS - 1, top // 12)
    low = max(bottom, min(natural - reach, top - OPTIONS + 1))
    high = min(top, max(natural + reach, bottom + OPTIONS - 1))
    return choose(range(low, high + 1), random)


Names = Mapping[str, Sequence[int]]
"""What may be counted: its name in a question, and its codes."""


def what_is_at(text: str, names: Mapping[int, str]) -> QuestionType:
    """What is in one cell; `names` gives the name of each code."""

    def ask(grid: QaGrid) -> QaItem:
        cell, choice = grid.any_cell(), choose(list(names), grid.random)
        grid.codes[cell] = choice.target
        question, at = text.format(cell=grid.name(cell)), grid.at([cell])
        return choice.ask(question, grid.matrix, names.__getitem__, at=at)

    return ask


Part = Callable[[QaGrid], tuple[str, Cells]]
"""A part of the board, drawn at random where there are several: its name and its cells."""


def how_many(text: str, names: Names, part: Part, most: int | None = None) -> QuestionType:
    def ask(grid: QaGrid) -> QaItem:
        name = grid.random.choice(list(names))
        where, cells = part(grid)
        codes = names[name]
        choice = choose_near(grid.count(cells, codes), most or len(cells), grid.random)
        grid.settle(cells, codes, grid.rest(codes), choice.target)
        work = grid.totals(cells, codes)
        return choice.ask(text.format(what=name, where=where), grid.matrix, work=work)

    return ask


def which_is_more(
    text: str, pairs: Sequence[tuple[str, str]], codes: Names, swap: Callable[[int, str, str], int]
) -> QuestionType:
    """Which of two is more frequent; never a tie. `swap` exchanges the two codes."""

    def ask(grid: QaGrid) -> QaItem:
        one, other = grid.random.choice(pairs)
        while grid.count(grid.all, codes[one]) == grid.count(grid.all, codes[other]):
            grid.put(grid.any_cell(), list(grid.board.codes))
        more = max((one, other), key=lambda name: grid.count(grid.all, codes[name]))
        choice = choose((one, other), grid.random)
        if choice.target != more:
            grid.codes = [swap(code, one, other) for code in grid.codes]
        lines = [f"{name}: {grid.totals(grid.all, codes[name])}" for name in (one, other)]
        counts = " ".join(str(grid.count(grid.all, codes[name])) for name in (one, other))
        work = "\n".join([*lines, counts])
        return choice.ask(text.format(one=one, other=other), grid.matrix, work=work)

    return ask
