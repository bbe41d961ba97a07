"""Types of questions that several boards share: what is where, how many, where most, who has more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.qa.grid import Cells, Grid
from ludens.games.qa.item import Item, QuestionType, choose, choose_near

Names = Mapping[str, Sequence[int]]
"""What may be counted: its name in a question, and its codes."""


def rest_of(board: BoardView, codes: Sequence[int]) -> list[int]:
    """Every other code."""
    return [code for code in board.codes if code not in codes]


def what_is_at(text: str, names: Mapping[int, str]) -> QuestionType:
    """What is in one cell; `names` gives the name of each code."""

    def ask(board: BoardView, random: Stream) -> Item:
        grid = Grid(board, random)
        cell, choice = grid.any_cell(), choose(list(names), random)
        grid.codes[cell] = choice.target
        named, at = text.format(cell=grid.name(cell)), grid.at([cell])
        return choice.ask(named, grid.matrix, names.__getitem__, at=at)

    return ask


def how_many(
    text: str, names: Names, part: Callable[[Grid], tuple[str, Cells]], most: int | None = None
) -> QuestionType:
    """How many cells of a part of the board hold something; the part is random."""

    def ask(board: BoardView, random: Stream) -> Item:
        grid = Grid(board, random)
        name = random.choice(list(names))
        where, cells = part(grid)
        wanted = names[name]
        choice = choose_near(grid.count(cells, wanted), most or len(cells), random)
        grid.settle(cells, wanted, rest_of(board, wanted), choice.target)
        work = grid.totals(cells, wanted)
        return choice.ask(text.format(what=name, where=where), grid.matrix, work=work)

    return ask


def whole(grid: Grid) -> tuple[str, Cells]:
    """The whole board, as a part."""
    return "on the board", grid.all


def line(grid: Grid) -> tuple[str, Cells]:
    """A row or a column, as a part."""
    return grid.any_line()


def edge(grid: Grid) -> tuple[str, Cells]:
    """The outermost rows and columns, as a part."""
    return "on the edge of the board", grid.edge


def which_is_more(
    text: str, pairs: Sequence[tuple[str, str]], codes: Names, swap: Callable[[int, str, str], int]
) -> QuestionType:
    """Which of two is more frequent; never a tie. `swap` exchanges the two codes."""

    def ask(board: BoardView, random: Stream) -> Item:
        grid = Grid(board, random)
        one, other = random.choice(pairs)
        while grid.count(grid.all, codes[one]) == grid.count(grid.all, codes[other]):
            grid.put(grid.any_cell(), list(board.codes))
        more = max((one, other), key=lambda name: grid.count(grid.all, codes[name]))
        choice = choose((one, other), random)
        if choice.target != more:
            grid.codes = [swap(code, one, other) for code in grid.codes]
        counted = [f"{name}: {grid.totals(grid.all, codes[name])}" for name in (one, other)]
        counts = " ".join(str(grid.count(grid.all, codes[name])) for name in (one, other))
        work = "\n".join([*counted, counts])
        return choice.ask(text.format(one=one, other=other), grid.matrix, work=work)

    return ask
