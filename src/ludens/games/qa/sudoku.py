"""Questions about Sudoku. Digits may repeat here."""

from __future__ import annotations

from collections.abc import Callable

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.qa.questions import (
    Cells,
    Grid,
    Item,
    QuestionType,
    choose,
    choose_near,
    how_many,
    line,
    what_is_at,
    whole,
)

_EMPTY = 0
_DIGITS = {str(digit): [digit] for digit in range(1, 10)}
_OPEN = {"empty": [_EMPTY]}


def box(grid: Grid) -> tuple[str, Cells]:
    """One of the nine boxes, as a part."""
    row, column = 3 * grid.random.below(3), 3 * grid.random.below(3)
    return f"the box with {grid.name(grid.row(row)[column])} at its top left", grid.box(row, column)


def sum_of(part: Callable[[Grid], tuple[str, Cells]]) -> QuestionType:
    """The sum of the digits in a part of the grid."""

    def ask(board: BoardView, random: Stream) -> Item:
        grid = Grid(board, random)
        where, cells = part(grid)
        choice = choose_near(sum(grid.codes[cell] for cell in cells), 9 * len(cells), random)
        _add_up(grid, cells, choice.target)
        work = grid.running([[cell] for cell in cells], [grid.codes[cell] for cell in cells])
        return choice.ask(f"What is the sum of all digits in {where}?", grid.matrix, work=work)

    return ask


def _add_up(grid: Grid, cells: Cells, total: int) -> None:
    """Raise or lower digits one by one; add or remove digits only where that is not enough."""
    while (there := sum(grid.codes[cell] for cell in cells)) != total:
        step = 1 if there < total else -1
        filled = [cell for cell in cells if grid.codes[cell] and 1 <= grid.codes[cell] + step <= 9]
        last = [cell for cell in cells if 0 <= grid.codes[cell] + step <= 9]
        grid.codes[grid.random.choice(filled or last)] += step


def contains(board: BoardView, random: Stream) -> Item:
    """Whether a row or column holds a digit."""
    grid = Grid(board, random)
    digit = random.between(1, 9)
    where, cells = grid.any_line()
    choice = choose(("yes", "no"), random)
    there = grid.count(cells, (digit,))
    if choice.target == "no":
        grid.settle(cells, (digit,), [code for code in board.codes if code != digit], 0)
    elif not there:
        grid.codes[random.choice(cells)] = digit
    text, work = f"Does {where} contain the digit {digit}?", grid.totals(cells, (digit,))
    return choice.ask(text, grid.matrix, work=work)


QUESTIONS: dict[str, QuestionType] = {
    "digit_at": what_is_at("What is in {cell}?", {0: "nothing", **{d: str(d) for d in range(1, 10)}}),
    "count_digit": how_many("How many times does the digit {what} occur {where}?", _DIGITS, whole),
    "count_empty": how_many("How many cells {where} are empty?", _OPEN, whole),
    "count_digit_in_line": how_many("How many times does the digit {what} occur in {where}?", _DIGITS, line),
    "count_digit_in_box": how_many("How many times does the digit {what} occur in {where}?", _DIGITS, box),
    "sum_of_line": sum_of(line),
    "sum_of_box": sum_of(box),
    "contains": contains,
    "count_empty_in_box": how_many("How many cells are empty in {where}?", _OPEN, box),
}
