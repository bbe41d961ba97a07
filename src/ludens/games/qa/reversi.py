"""Questions about Reversi."""

from __future__ import annotations

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.qa.questions import (
    Grid,
    Item,
    QuestionType,
    choose,
    how_many,
    line,
    what_is_at,
    which_is_more,
    whole,
)

_EMPTY, _BLACK, _WHITE = 0, 1, 2
_DISCS = {"black": [_BLACK], "white": [_WHITE]}
_SWAPPED = {_EMPTY: _EMPTY, _BLACK: _WHITE, _WHITE: _BLACK}


def fullest_row(board: BoardView, random: Stream) -> Item:
    """The row with more discs of a colour than any other."""
    grid = Grid(board, random)
    colour = random.choice(list(_DISCS))
    wanted = _DISCS[colour]
    rows = [grid.row(row) for row in range(board.rows)]
    choice = choose(range(board.rows), random)
    most = max(1, max(grid.count(row, wanted) for row in rows))
    first = rows[choice.target]
    grid.settle(first, wanted, [_EMPTY], most)
    for row in rows:
        if row != first and grid.count(row, wanted) == most:
            grid.settle(row, wanted, [_EMPTY, *_DISCS["white" if colour == "black" else "black"]], most - 1)
    return choice.ask(
        f"Which row has the most {colour} discs?",
        grid.matrix,
        lambda row: f"row {board.row_label(row)}",
        work=grid.noted(rows, [grid.count(row, wanted) for row in rows]),
    )


QUESTIONS: dict[str, QuestionType] = {
    "symbol_at": what_is_at(
        "What is in {cell}?", {_EMPTY: "nothing", _BLACK: "a black disc", _WHITE: "a white disc"}
    ),
    "count_symbol": how_many("How many {what} discs are there {where}?", _DISCS, whole),
    "count_empty": how_many("How many cells {where} are empty?", {"empty": [_EMPTY]}, whole),
    "count_symbol_in_line": how_many("How many {what} discs are in {where}?", _DISCS, line),
    "fullest_row": fullest_row,
    "more_discs": which_is_more(
        "Which colour has more discs on the board, {one} or {other}?",
        [("black", "white")],
        _DISCS,
        lambda code, one, other: _SWAPPED[code],
    ),
    "count_in_line": how_many("How many discs of either colour are in {where}?", {"": [1, 2]}, line),
    "total_of_colour": how_many("Counting every row, how many discs are {what}?", _DISCS, whole),
}
