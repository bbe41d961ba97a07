"""Questions about Gomoku."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.qa.questions import (
    Cells,
    Grid,
    Item,
    QuestionType,
    choose,
    choose_near,
    edge,
    how_many,
    line,
    what_is_at,
    whole,
)

_EMPTY, _BLACK, _WHITE = 0, 1, 2
_STONES = {"black": [_BLACK], "white": [_WHITE]}
_DIAGONALS = ((1, 1), (1, -1))
_WAYS = ((0, 1), (1, 0), *_DIAGONALS)
_FIVE = 5
_LONGEST_ASKED = 7


def winning_line(board: BoardView, random: Stream) -> Item:
    """Whether five or more stones of a colour are in an unbroken line."""
    grid = Grid(board, random)
    choice = choose(("yes", "no"), random)
    lines = [cells for cells in grid.lines(_WAYS) if len(cells) >= _FIVE]
    if choice.target == "yes":
        cells, code = random.choice(lines), random.choice((_BLACK, _WHITE))
        start = random.between(0, len(cells) - _FIVE)
        for cell in cells[start : start + _FIVE]:
            grid.codes[cell] = code
    else:
        for code in (_BLACK, _WHITE):
            shorten(grid, lines, code, _FIVE - 1)
    text = "Is there a line of five or more stones of one colour, in a row, a column or a diagonal?"
    return choice.ask(text, grid.matrix, work=grid.lengths_by_row(lines, (_BLACK, _WHITE)))


def adjacent(board: BoardView, random: Stream) -> Item:
    """The number of stones around a crossing."""
    grid, stones = Grid(board, random), (_BLACK, _WHITE)
    cell = grid.any_cell()
    near = grid.around(cell)
    choice = choose_near(grid.count(near, stones), len(near), random)
    grid.settle(near, stones, (_EMPTY,), choice.target)
    text = f"How many stones of either colour touch {grid.name(cell)}, diagonals included?"
    work = grid.running([[other] for other in near], [grid.count([other], stones) for other in near])
    return choice.ask(text, grid.matrix, work=work)


def longest(lines_of: Callable[[Grid], tuple[str, Sequence[Cells]]], bottom: int) -> QuestionType:
    """The longest unbroken run of a colour in some lines."""

    def ask(board: BoardView, random: Stream) -> Item:
        grid = Grid(board, random)
        colour = random.choice(list(_STONES))
        [code] = _STONES[colour]
        where, lines = lines_of(grid)
        top = min(_LONGEST_ASKED, board.columns)
        natural = max((len(run) for cells in lines for run in grid.runs(cells, code)), default=0)
        choice = choose_near(min(natural, top), top, random, bottom)
        length = choice.target
        run: Cells = ()
        if length:
            cells = random.choice([cells for cells in lines if len(cells) >= length])
            start = random.between(0, len(cells) - length)
            run = cells[start : start + length]
            for cell in run:
                grid.codes[cell] = code
        shorten(grid, lines, code, length, frozenset(run))
        work = grid.lengths(lines[0], code) if len(lines) == 1 else grid.lengths_by_row(lines, [code])
        text = f"How long is the longest unbroken run of {colour} stones {where}?"
        return choice.ask(text, grid.matrix, work=work)

    return ask


def shorten(
    grid: Grid, lines: Sequence[Cells], code: int, most: int, kept: frozenset[int] = frozenset()
) -> None:
    """Remove stones of a colour until no run in these lines is longer; never those in `kept`."""
    for cells in lines:
        while run := next((run for run in grid.runs(cells, code) if len(run) > most), None):
            loose = [cell for cell in run if cell not in kept]
            grid.codes[grid.random.choice(loose)] = _EMPTY


def _a_row(grid: Grid) -> tuple[str, Sequence[Cells]]:
    row = grid.random.below(grid.board.rows)
    return f"in row {grid.board.row_label(row)}", [grid.row(row)]


def _diagonals(grid: Grid) -> tuple[str, Sequence[Cells]]:
    return "on any diagonal", list(grid.lines(_DIAGONALS))


QUESTIONS: dict[str, QuestionType] = {
    "stone_at": what_is_at(
        "What is at {cell}?", {_EMPTY: "nothing", _BLACK: "a black stone", _WHITE: "a white stone"}
    ),
    "count_stones": how_many("How many {what} stones are {where}?", _STONES, whole),
    "count_stones_in_line": how_many("How many {what} stones are in {where}?", _STONES, line),
    "winning_line": winning_line,
    "adjacent": adjacent,
    "count_empty": how_many("How many crossings {where} are empty?", {"empty": [_EMPTY]}, whole),
    "longest_in_row": longest(_a_row, 0),
    "longest_diagonal": longest(_diagonals, 1),
    "count_edge": how_many("How many {what} stones are {where}?", _STONES, edge),
}
