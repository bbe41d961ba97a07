"""Questions about chess. There may be more pieces of a kind than a game starts with."""

from __future__ import annotations

from itertools import permutations

from ludens.core.random import Stream
from ludens.games.boards import BoardView
from ludens.games.chess.game import NAMES
from ludens.games.qa.questions import (
    Grid,
    Item,
    QuestionType,
    choose,
    edge,
    how_many,
    line,
    rest_of,
    what_is_at,
    which_is_more,
    whole,
)

_EMPTY = 0
_NAMES = tuple(NAMES.values())
_NUMBER = {f"{name}s": number for number, name in enumerate(_NAMES, 1)}
_WHITE, _BLACK = list(range(1, 7)), list(range(-6, 0))
_PIECES = [*_WHITE, *_BLACK]
_COLOURS = {"white": _WHITE, "black": _BLACK}
_MEN = {
    f"{colour} {names}": [sign * number]
    for colour, sign in (("white", 1), ("black", -1))
    for names, number in _NUMBER.items()
}


def colour_at(board: BoardView, random: Stream) -> Item:
    """Whose piece is on a square, if any."""
    grid = Grid(board, random)
    cell, choice = grid.any_cell(), choose(("white", "black", "there is no piece"), random)
    wanted = _COLOURS.get(choice.target, [_EMPTY])
    if grid.codes[cell] not in wanted:
        grid.put(cell, wanted)
    text = f"Which colour is the piece at {grid.name(cell)}, if there is one?"
    return choice.ask(text, grid.matrix, at=grid.at([cell]))


def emptier_half(board: BoardView, random: Stream) -> Item:
    """Which half has more empty squares; never a tie."""
    grid = Grid(board, random)
    middle = len(grid.codes) // 2
    top, bottom = grid.all[:middle], grid.all[middle:]
    while grid.count(top, (_EMPTY,)) == grid.count(bottom, (_EMPTY,)):
        cell = grid.any_cell()
        grid.put(cell, rest_of(board, [_EMPTY]) if grid.codes[cell] == _EMPTY else [_EMPTY])
    emptier = "top" if grid.count(top, (_EMPTY,)) > grid.count(bottom, (_EMPTY,)) else "bottom"
    choice = choose(("top", "bottom"), random)
    if choice.target != emptier:
        grid.codes = [*grid.codes[middle:], *grid.codes[:middle]]
    return choice.ask(
        "Which half of the board has more empty squares, the top or the bottom of the picture?", grid.matrix
    )


def _kinds_swapped(code: int, one: str, other: str) -> int:
    """The piece with its kind exchanged and its colour kept."""
    kinds = {_NUMBER[one]: _NUMBER[other], _NUMBER[other]: _NUMBER[one]}
    kind = kinds.get(abs(code), abs(code))
    return kind if code > 0 else -kind


QUESTIONS: dict[str, QuestionType] = {
    "colour_at": colour_at,
    "piece_at": what_is_at(
        "What is at {cell}?",
        {_EMPTY: "nothing"}
        | {n: f"a white {name}" for n, name in enumerate(_NAMES, 1)}
        | {-n: f"a black {name}" for n, name in enumerate(_NAMES, 1)},
    ),
    "count_pieces": how_many("How many {what} are {where}?", _MEN, whole, most=8),
    "count_in_line": how_many("How many pieces of either colour are in {where}?", {"": _PIECES}, line),
    "more_colour": which_is_more(
        "Which colour has more pieces, {one} or {other}?",
        [("white", "black")],
        _COLOURS,
        lambda code, one, other: -code,
    ),
    "more_kind": which_is_more(
        "Counting both colours, which are more: {one} or {other}?",
        list(permutations(_NUMBER, 2)),
        {names: [number, -number] for names, number in _NUMBER.items()},
        _kinds_swapped,
    ),
    "count_edge": how_many("How many pieces of either colour are {where}?", {"": _PIECES}, edge),
    "emptier_half": emptier_half,
}
