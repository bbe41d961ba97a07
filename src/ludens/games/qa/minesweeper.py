"""Questions about Minesweeper. Numbers always match the mines, so a position is changed through its mines."""

from __future__ import annotations

from collections.abc import Callable

from ludens.core.random import Stream
from ludens.games.boards import BoardView, Matrix
from ludens.games.minesweeper import HIDDEN, MINE, around, neighbours
from ludens.games.qa.questions import (
    Cells,
    Grid,
    Item,
    QuestionType,
    choose,
    choose_near,
    line,
    rest_of,
    whole,
)

_NAMES = {HIDDEN: "it is hidden", MINE: "a mine", 0: "it is open and blank"}


class Layout(Grid):
    """The mines and the open cells; both are drawn here, since a picture hides some mines."""

    def __init__(self, board: BoardView, random: Stream) -> None:
        self.board, self.random = board, random
        self.touching = neighbours(board.rows, board.columns)
        cells = range(board.rows * board.columns)
        self.codes = [HIDDEN for _ in cells]
        self.mines = set(random.sample(cells, random.between(0, len(cells) // 2)))
        self.open = set(random.sample(cells, random.between(0, len(cells))))

    def settle_in(self, chosen: set[int], cells: Cells, count: int) -> None:
        """Change as few as needed for `count` of these cells to be in a set: the mines or the open cells."""
        there = [cell for cell in cells if cell in chosen]
        others = [cell for cell in cells if cell not in chosen]
        chosen.difference_update(self.random.sample(there, max(0, len(there) - count)))
        chosen.update(self.random.sample(others, max(0, count - len(there))))

    def show(self, cell: int, code: int) -> None:
        """Make a cell show this."""
        if code == HIDDEN:
            self.open.discard(cell)
            return
        self.open.add(cell)
        if code == MINE:
            self.mines.add(cell)
        else:
            self.mines.discard(cell)
            self.settle_in(self.mines, self.touching[cell], code)

    @property
    def matrix(self) -> Matrix:
        for cell in self.all:
            shown = MINE if cell in self.mines else around(self.mines, self.touching[cell])
            self.codes[cell] = shown if cell in self.open else HIDDEN
        return super().matrix


def symbol_at(board: BoardView, random: Stream) -> Item:
    """What a cell shows."""
    layout = Layout(board, random)
    cell = layout.any_cell()
    choice = choose([HIDDEN, MINE, *range(len(layout.touching[cell]) + 1)], random)
    layout.show(cell, choice.target)
    text = f"What does the cell in {layout.name(cell)} show?"
    at = layout.at([cell])
    return choice.ask(text, layout.matrix, lambda code: _NAMES.get(code, str(code)), at=at)


def count_mines(board: BoardView, random: Stream) -> Item:
    """The number of visible mines."""
    layout = Layout(board, random)
    shown = layout.mines & layout.open
    choice = choose_near(len(shown), len(layout.codes), random)
    if choice.target < len(shown):
        layout.open -= set(random.sample(sorted(shown), len(shown) - choice.target))
    else:
        more = set(random.sample(sorted(set(layout.all) - shown), choice.target - len(shown)))
        layout.mines |= more
        layout.open |= more
    matrix = layout.matrix
    work = layout.totals(layout.all, [MINE])
    return choice.ask("How many mines can be seen on the board?", matrix, work=work)


def count_open(text: str, part: Callable[[Grid], tuple[str, Cells]]) -> QuestionType:
    """The number of open cells in a part of the field."""

    def ask(board: BoardView, random: Stream) -> Item:
        layout = Layout(board, random)
        where, cells = part(layout)
        choice = choose_near(len(layout.open.intersection(cells)), len(cells), random)
        layout.settle_in(layout.open, cells, choice.target)
        matrix = layout.matrix
        work = layout.totals(cells, rest_of(board, [HIDDEN]))
        return choice.ask(text.format(where=where), matrix, work=work)

    return ask


def adjacent_mines(board: BoardView, random: Stream) -> Item:
    """How many mines touch an open cell, which is the number it shows."""
    layout = Layout(board, random)
    cell = layout.any_cell()
    touching = layout.touching[cell]
    choice = choose_near(around(layout.mines, touching), len(touching), random)
    layout.show(cell, choice.target)
    text = f"How many mines touch the open cell in {layout.name(cell)}?"
    return choice.ask(text, layout.matrix, at=layout.at([cell]))


def mine_at(board: BoardView, random: Stream) -> Item:
    """Whether a mine is visible in a cell."""
    layout = Layout(board, random)
    cell, choice = layout.any_cell(), choose(("yes", "no"), random)
    if choice.target == "yes":
        layout.show(cell, MINE)
    elif cell in layout.mines & layout.open:
        layout.show(cell, random.choice((HIDDEN, around(layout.mines, layout.touching[cell]))))
    text = f"Can a mine be seen in {layout.name(cell)}?"
    return choice.ask(text, layout.matrix, at=layout.at([cell]))


QUESTIONS: dict[str, QuestionType] = {
    "symbol_at": symbol_at,
    "count_mines": count_mines,
    "count_open": count_open("How many cells {where} are open, seen mines included?", whole),
    "count_open_in_line": count_open(
        "How many cells are open in {where}, mines that can be seen included?", line
    ),
    "adjacent_mines": adjacent_mines,
    "mine_at": mine_at,
}
