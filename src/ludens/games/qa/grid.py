"""A position that can be changed until it agrees with an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, groupby, product

from ludens.core.random import Stream
from ludens.games.boards import BoardView, Matrix

Cells = Sequence[int]


class Grid:
    """A random position as a list of cells, row by row from the top left."""

    def __init__(self, board: BoardView, random: Stream) -> None:
        self.board = board
        self.random = random
        self.codes = [code for row in board.scatter(random) for code in row]

    @property
    def all(self) -> Cells:
        """Every cell."""
        return range(len(self.codes))

    @property
    def edge(self) -> Cells:
        """The outermost rows and columns."""
        rows, columns = self.board.rows, self.board.columns
        return [
            cell
            for cell in self.all
            if cell // columns in (0, rows - 1) or cell % columns in (0, columns - 1)
        ]

    def row(self, row: int) -> Cells:
        """A row, from left to right."""
        return range(row * self.board.columns, (row + 1) * self.board.columns)

    def column(self, column: int) -> Cells:
        """A column, from top to bottom."""
        return range(column, len(self.codes), self.board.columns)

    def box(self, row: int, column: int, side: int = 3) -> Cells:
        """The square with this top left cell."""
        return [cell for r in range(row, row + side) for cell in self.row(r)[column : column + side]]

    def around(self, cell: int) -> Cells:
        """The up to eight cells that touch this one."""
        rows, columns = self.board.rows, self.board.columns
        row, column = divmod(cell, columns)
        return [
            r * columns + c
            for r in range(max(0, row - 1), min(rows, row + 2))
            for c in range(max(0, column - 1), min(columns, column + 2))
            if (r, c) != (row, column)
        ]

    def any_cell(self) -> int:
        """A random cell."""
        return self.random.below(len(self.codes))

    def any_line(self) -> tuple[str, Cells]:
        """A row or a column with its name."""
        if self.random.below(2):
            row = self.random.below(self.board.rows)
            return f"row {self.board.row_label(row)}", self.row(row)
        column = self.random.below(self.board.columns)
        return f"column {self.board.column_label(column)}", self.column(column)

    def name(self, cell: int) -> str:
        """The name of a cell in a question."""
        row, column = divmod(cell, self.board.columns)
        return f"row {self.board.row_label(row)}, column {self.board.column_label(column)}"

    def count(self, cells: Cells, wanted: Collection[int]) -> int:
        """How many of these cells hold one of these codes."""
        return sum(self.codes[cell] in wanted for cell in cells)

    def at(self, cells: Cells) -> str:
        """Where the middle of these cells is in the picture."""
        return self.board.point(cells)

    def totals(self, cells: Cells, wanted: Collection[int]) -> str:
        """The count so far after each row, or after each cell where there is only one row."""
        columns = self.board.columns
        rows = [list(row) for _, row in groupby(cells, lambda cell: cell // columns)]
        parts = rows if len(rows) > 1 else [[cell] for cell in cells]
        return self.running(parts, [self.count(part, wanted) for part in parts])

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

    def put(self, cell: int, codes: Sequence[int]) -> None:
        """Set a cell to one of these codes at random."""
        self.codes[cell] = self.random.choice(codes)

    def settle(self, cells: Cells, wanted: Sequence[int], rest: Sequence[int], count: int) -> None:
        """Change as few of these cells as needed for `count` of them to hold one of the wanted codes."""
        there = [cell for cell in cells if self.codes[cell] in wanted]
        others = [cell for cell in cells if self.codes[cell] not in wanted]
        for cell in self.random.sample(there, max(0, len(there) - count)):
            self.put(cell, rest)
        for cell in self.random.sample(others, max(0, count - len(there))):
            self.put(cell, wanted)

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
        """The unbroken runs of a code in a line."""
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
        """The position as a matrix."""
        return [[self.codes[cell] for cell in self.row(row)] for row in range(self.board.rows)]
