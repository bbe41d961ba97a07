"""Questions about tic-tac-toe."""

from __future__ import annotations

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.qa.questions import Grid, Item, QuestionType, choose, how_many, line, what_is_at, whole

_EMPTY, _X, _O = -1, 1, 0
_MARKS = {"X": [_X], "O": [_O]}
_COLOURS = {"red": [_X], "blue": [_O]}
_WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


def winner(board: BoardView, random: Stream) -> Item:
    """Who has three in a line, if any; never both."""
    grid = Grid(board, random)
    choice = choose(("X", "O", "neither"), random)
    lines = [cells for cells in grid.lines(_WAYS) if len(cells) == 3]
    if choice.target != "neither":
        for cell in random.choice(lines):
            grid.codes[cell] = _MARKS[choice.target][0]
    for mark, codes in _MARKS.items():
        if mark != choice.target:
            # An empty cell breaks the line without making another.
            for cells in lines:
                if grid.count(cells, codes) == 3:
                    grid.codes[random.choice(cells)] = _EMPTY
    return choice.ask("Did X or O win the game, with three in a row?", grid.matrix)


QUESTIONS: dict[str, QuestionType] = {
    "symbol_at": what_is_at("What is in {cell}?", {_EMPTY: "empty", _X: "X", _O: "O"}),
    "count_symbol": how_many("How many {what}s are {where}?", _MARKS, whole),
    "count_empty": how_many("How many cells {where} are empty?", {"empty": [_EMPTY]}, whole),
    "count_symbol_in_line": how_many("How many {what}s are in {where}?", _MARKS, line),
    "winner": winner,
    "count_colour": how_many("How many {what} marks are {where}?", _COLOURS, whole),
    "count_colour_in_line": how_many("How many {what} marks are in {where}?", _COLOURS, line),
}
