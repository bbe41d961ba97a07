"""The questions about each board. Positions need not be reachable in play: Sudoku's digits may repeat, there
may be more chess pieces of a kind than a game starts with. Numbers of Minesweeper always match the mines, so
such a position is changed through its mines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from ludens.core.random import Stream
from ludens.games.boards import BoardView, Matrix, neighbours
from ludens.games.chess import NAMES
from ludens.games.minesweeper import HIDDEN, MINE, around
from ludens.games.qa.questions import (
    Cells,
    Part,
    QaGrid,
    QaItem,
    QuestionType,
    choose,
    choose_near,
    how_many,
    what_is_at,
    which_is_more,
)

_WHOLE, _LINE, _EDGE = QaGrid.whole, QaGrid.any_line, QaGrid.edge
_EMPTY, _BLACK, _WHITE = 0, 1, 2
_EMPTY_CELLS = {"empty": [_EMPTY]}
_STONES = {"black": [_BLACK], "white": [_WHITE]}
_DIAGONALS = ((1, 1), (1, -1))
_DIRECTIONS = ((0, 1), (1, 0), *_DIAGONALS)
_X, _O, _NO_MARK = 1, 0, -1
_MARKS = {"X": [_X], "O": [_O]}
_MARK_COLOURS = {"red": [_X], "blue": [_O]}


def winner(grid: QaGrid) -> QaItem:
    """Who has three in a line, if any; never both."""
    choice = choose(("X", "O", "neither"), grid.random)
    lines = [cells for cells in grid.lines(_DIRECTIONS) if len(cells) == 3]
    if choice.target != "neither":
        for cell in grid.random.choice(lines):
            grid.codes[cell] = _MARKS[choice.target][0]
    for mark, codes in _MARKS.items():
        if mark != choice.target:
            # An empty cell breaks the line without making another.
            for cells in lines:
                if grid.count(cells, codes) == 3:
                    grid.codes[grid.random.choice(cells)] = _NO_MARK
    return choice.ask("Did X or O win the game, with three in a row?", grid.matrix)


TIC_TAC_TOE: dict[str, QuestionType] = {
    "symbol_at": what_is_at("What is in {cell}?", {_NO_MARK: "empty", _X: "X", _O: "O"}),
    "count_symbol": how_many("How many {what}s are {where}?", _MARKS, _WHOLE),
    "count_empty": how_many("How many cells {where} are empty?", {"empty": [_NO_MARK]}, _WHOLE),
    "count_symbol_in_line": how_many("How many {what}s are in {where}?", _MARKS, _LINE),
    "winner": winner,
    "count_colour": how_many("How many {what} marks are {where}?", _MARK_COLOURS, _WHOLE),
    "count_colour_in_line": how_many("How many {what} marks are in {where}?", _MARK_COLOURS, _LINE),
}


_SWAPPED = {_EMPTY: _EMPTY, _BLACK: _WHITE, _WHITE: _BLACK}


def fullest_row(grid: QaGrid) -> QaItem:
    """The row with more discs of a colour than any other."""
    colour = grid.random.choice(list(_STONES))
    codes = _STONES[colour]
    rows = [grid.row(row) for row in range(grid.board.rows)]
    choice = choose(range(grid.board.rows), grid.random)
    most = max(1, max(grid.count(row, codes) for row in rows))
    first = rows[choice.target]
    grid.settle(first, codes, [_EMPTY], most)
    for row in rows:
        if row != first and grid.count(row, codes) == most:
            grid.settle(row, codes, [_EMPTY, *_STONES["white" if colour == "black" else "black"]], most - 1)
    return choice.ask(
        f"Which row has the most {colour} discs?",
        grid.matrix,
        lambda row: f"row {grid.board.row_label(row)}",
        work=grid.noted(rows, [grid.count(row, codes) for row in rows]),
    )


REVERSI: dict[str, QuestionType] = {
    "symbol_at": what_is_at(
        "What is in {cell}?", {_EMPTY: "nothing", _BLACK: "a black disc", _WHITE: "a white disc"}
    ),
    "count_symbol": how_many("How many {what} discs are there {where}?", _STONES, _WHOLE),
    "count_empty": how_many("How many cells {where} are empty?", _EMPTY_CELLS, _WHOLE),
    "count_symbol_in_line": how_many("How many {what} discs are in {where}?", _STONES, _LINE),
    "fullest_row": fullest_row,
    "more_discs": which_is_more(
        "Which colour has more discs on the board, {one} or {other}?",
        [("black", "white")],
        _STONES,
        lambda code, one, other: _SWAPPED[code],
    ),
    "count_in_line": how_many("How many discs of either colour are in {where}?", {"": [1, 2]}, _LINE),
    "total_of_colour": how_many("Counting every row, how many discs are {what}?", _STONES, _WHOLE),
}


_DIGITS = {str(digit): [digit] for digit in range(1, 10)}


def box(grid: QaGrid) -> tuple[str, Cells]:
    row, column = 3 * grid.random.below(3), 3 * grid.random.below(3)
    return f"the box with {grid.name(grid.row(row)[column])} at its top left", grid.box(row, column)


def sum_of(part: Part) -> QuestionType:
    def ask(grid: QaGrid) -> QaItem:
        where, cells = part(grid)
        choice = choose_near(sum(grid.codes[cell] for cell in cells), 9 * len(cells), grid.random)
        _add_up(grid, cells, choice.target)
        work = grid.running([[cell] for cell in cells], [grid.codes[cell] for cell in cells])
        return choice.ask(f"What is the sum of all digits in {where}?", grid.matrix, work=work)

    return ask


def _add_up(grid: QaGrid, cells: Cells, total: int) -> None:
    """Raise or lower digits one by one; add or remove digits only where that is not enough."""
    while (now := sum(grid.codes[cell] for cell in cells)) != total:
        step = 1 if now < total else -1
        filled = [cell for cell in cells if grid.codes[cell] and 1 <= grid.codes[cell] + step <= 9]
        last = [cell for cell in cells if 0 <= grid.codes[cell] + step <= 9]
        grid.codes[grid.random.choice(filled or last)] += step


def contains(grid: QaGrid) -> QaItem:
    digit = grid.random.between(1, 9)
    where, cells = grid.any_line()
    choice = choose(("yes", "no"), grid.random)
    count = grid.count(cells, (digit,))
    if choice.target == "no":
        grid.settle(cells, (digit,), grid.rest((digit,)), 0)
    elif not count:
        grid.codes[grid.random.choice(cells)] = digit
    text, work = f"Does {where} contain the digit {digit}?", grid.totals(cells, (digit,))
    return choice.ask(text, grid.matrix, work=work)


SUDOKU: dict[str, QuestionType] = {
    "digit_at": what_is_at("What is in {cell}?", {0: "nothing", **{d: str(d) for d in range(1, 10)}}),
    "count_digit": how_many("How many times does the digit {what} occur {where}?", _DIGITS, _WHOLE),
    "count_empty": how_many("How many cells {where} are empty?", _EMPTY_CELLS, _WHOLE),
    "count_digit_in_line": how_many("How many times does the digit {what} occur in {where}?", _DIGITS, _LINE),
    "count_digit_in_box": how_many("How many times does the digit {what} occur in {where}?", _DIGITS, box),
    "sum_of_line": sum_of(_LINE),
    "sum_of_box": sum_of(box),
    "contains": contains,
    "count_empty_in_box": how_many("How many cells are empty in {where}?", _EMPTY_CELLS, box),
}


_SHOWN = {HIDDEN: "it is hidden", MINE: "a mine", 0: "it is open and blank"}


class MineField(QaGrid):
    """The mines and the open cells; both are drawn here, since a picture hides some mines."""

    def __init__(self, board: BoardView, random: Stream) -> None:
        self.board, self.random = board, random
        self.touching = neighbours(board.rows, board.columns)
        cells = range(board.rows * board.columns)
        self.codes = [HIDDEN for _ in cells]
        self.mines = set(random.sample(cells, random.between(0, len(cells) // 2)))
        self.open = set(random.sample(cells, random.between(0, len(cells))))

    def settle_in(self, members: set[int], cells: Cells, count: int) -> None:
        """Change as few as needed for `count` of these cells to be among the mines, or the open cells."""
        inside = [cell for cell in cells if cell in members]
        outside = [cell for cell in cells if cell not in members]
        members.difference_update(self.random.sample(inside, max(0, len(inside) - count)))
        members.update(self.random.sample(outside, max(0, count - len(inside))))

    def show(self, cell: int, code: int) -> None:
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
            content = MINE if cell in self.mines else around(self.mines, self.touching[cell])
            self.codes[cell] = content if cell in self.open else HIDDEN
        return super().matrix


def symbol_at(layout: MineField) -> QaItem:
    cell = layout.any_cell()
    choice = choose([HIDDEN, MINE, *range(len(layout.touching[cell]) + 1)], layout.random)
    layout.show(cell, choice.target)
    text = f"What does the cell in {layout.name(cell)} show?"
    at = layout.at([cell])
    return choice.ask(text, layout.matrix, lambda code: _SHOWN.get(code, str(code)), at=at)


def count_mines(layout: MineField) -> QaItem:
    visible = layout.mines & layout.open
    choice = choose_near(len(visible), len(layout.codes), layout.random)
    if choice.target < len(visible):
        layout.open -= set(layout.random.sample(sorted(visible), len(visible) - choice.target))
    else:
        more = set(layout.random.sample(sorted(set(layout.all) - visible), choice.target - len(visible)))
        layout.mines |= more
        layout.open |= more
    matrix = layout.matrix
    work = layout.totals(layout.all, [MINE])
    return choice.ask("How many mines can be seen on the board?", matrix, work=work)


def count_open(text: str, part: Part) -> QuestionType:
    def ask(layout: MineField) -> QaItem:
        where, cells = part(layout)
        choice = choose_near(len(layout.open.intersection(cells)), len(cells), layout.random)
        layout.settle_in(layout.open, cells, choice.target)
        matrix = layout.matrix
        work = layout.totals(cells, layout.rest([HIDDEN]))
        return choice.ask(text.format(where=where), matrix, work=work)

    return ask


def adjacent_mines(layout: MineField) -> QaItem:
    """How many mines touch an open cell, which is the number it shows."""
    cell = layout.any_cell()
    touching = layout.touching[cell]
    choice = choose_near(around(layout.mines, touching), len(touching), layout.random)
    layout.show(cell, choice.target)
    text = f"How many mines touch the open cell in {layout.name(cell)}?"
    return choice.ask(text, layout.matrix, at=layout.at([cell]))


def mine_at(layout: MineField) -> QaItem:
    cell, choice = layout.any_cell(), choose(("yes", "no"), layout.random)
    if choice.target == "yes":
        layout.show(cell, MINE)
    elif cell in layout.mines & layout.open:
        layout.show(cell, layout.random.choice((HIDDEN, around(layout.mines, layout.touching[cell]))))
    text = f"Can a mine be seen in {layout.name(cell)}?"
    return choice.ask(text, layout.matrix, at=layout.at([cell]))


MINESWEEPER: dict[str, QuestionType] = {
    "symbol_at": symbol_at,
    "count_mines": count_mines,
    "count_open": count_open("How many cells {where} are open, seen mines included?", _WHOLE),
    "count_open_in_line": count_open(
        "How many cells are open in {where}, mines that can be seen included?", _LINE
    ),
    "adjacent_mines": adjacent_mines,
    "mine_at": mine_at,
}


_FIVE = 5
_LONGEST_ASKED = 7


def winning_line(grid: QaGrid) -> QaItem:
    """Whether five or more stones of a colour are in an unbroken line."""
    choice = choose(("yes", "no"), grid.random)
    lines = [cells for cells in grid.lines(_DIRECTIONS) if len(cells) >= _FIVE]
    if choice.target == "yes":
        cells, code = grid.random.choice(lines), grid.random.choice((_BLACK, _WHITE))
        start = grid.random.between(0, len(cells) - _FIVE)
        for cell in cells[start : start + _FIVE]:
            grid.codes[cell] = code
    else:
        for code in (_BLACK, _WHITE):
            shorten(grid, lines, code, _FIVE - 1)
    text = "Is there a line of five or more stones of one colour, in a row, a column or a diagonal?"
    return choice.ask(text, grid.matrix, work=grid.lengths_by_row(lines, (_BLACK, _WHITE)))


def adjacent(grid: QaGrid) -> QaItem:
    stones = (_BLACK, _WHITE)
    cell = grid.any_cell()
    near = neighbours(grid.board.rows, grid.board.columns)[cell]
    choice = choose_near(grid.count(near, stones), len(near), grid.random)
    grid.settle(near, stones, (_EMPTY,), choice.target)
    text = f"How many stones of either colour touch {grid.name(cell)}, diagonals included?"
    work = grid.running([[place] for place in near], [grid.count([place], stones) for place in near])
    return choice.ask(text, grid.matrix, work=work)


def longest(lines_of: Callable[[QaGrid], tuple[str, Sequence[Cells]]], bottom: int) -> QuestionType:
    def ask(grid: QaGrid) -> QaItem:
        colour = grid.random.choice(list(_STONES))
        [code] = _STONES[colour]
        where, lines = lines_of(grid)
        top = min(_LONGEST_ASKED, grid.board.columns)
        natural = max((len(run) for cells in lines for run in grid.runs(cells, code)), default=0)
        choice = choose_near(min(natural, top), top, grid.random, bottom)
        length = choice.target
        run: Cells = ()
        if length:
            cells = grid.random.choice([cells for cells in lines if len(cells) >= length])
            start = grid.random.between(0, len(cells) - length)
            run = cells[start : start + length]
            for cell in run:
                grid.codes[cell] = code
        shorten(grid, lines, code, length, frozenset(run))
        work = grid.lengths(lines[0], code) if len(lines) == 1 else grid.lengths_by_row(lines, [code])
        text = f"How long is the longest unbroken run of {colour} stones {where}?"
        return choice.ask(text, grid.matrix, work=work)

    return ask


def shorten(
    grid: QaGrid, lines: Sequence[Cells], code: int, most: int, fixed: frozenset[int] = frozenset()
) -> None:
    """Remove stones of a colour until no run in these lines is longer; never those in `fixed`."""
    for cells in lines:
        while run := next((run for run in grid.runs(cells, code) if len(run) > most), None):
            loose = [cell for cell in run if cell not in fixed]
            grid.codes[grid.random.choice(loose)] = _EMPTY


def _any_row(grid: QaGrid) -> tuple[str, Sequence[Cells]]:
    row = grid.random.below(grid.board.rows)
    return f"in row {grid.board.row_label(row)}", [grid.row(row)]


GOMOKU: dict[str, QuestionType] = {
    "stone_at": what_is_at(
        "What is at {cell}?", {_EMPTY: "nothing", _BLACK: "a black stone", _WHITE: "a white stone"}
    ),
    "count_stones": how_many("How many {what} stones are {where}?", _STONES, _WHOLE),
    "count_stones_in_line": how_many("How many {what} stones are in {where}?", _STONES, _LINE),
    "winning_line": winning_line,
    "adjacent": adjacent,
    "count_empty": how_many("How many crossings {where} are empty?", _EMPTY_CELLS, _WHOLE),
    "longest_in_row": longest(_any_row, 0),
    "longest_diagonal": longest(lambda grid: ("on any diagonal", list(grid.lines(_DIAGONALS))), 1),
    "count_edge": how_many("How many {what} stones are {where}?", _STONES, _EDGE),
}


_NAMES = tuple(NAMES.values())
_NUMBER = {f"{name}s": number for number, name in enumerate(_NAMES, 1)}
_COLOURS = {"white": list(range(1, 7)), "black": list(range(-6, 0))}
_PIECES = [*_COLOURS["white"], *_COLOURS["black"]]
_MEN = {f"white {names}": [number] for names, number in _NUMBER.items()}
_MEN |= {f"black {names}": [-number] for names, number in _NUMBER.items()}


def colour_at(grid: QaGrid) -> QaItem:
    cell, choice = grid.any_cell(), choose(("white", "black", "there is no piece"), grid.random)
    codes = _COLOURS.get(choice.target, [_EMPTY])
    if grid.codes[cell] not in codes:
        grid.put(cell, codes)
    text = f"Which colour is the piece at {grid.name(cell)}, if there is one?"
    return choice.ask(text, grid.matrix, at=grid.at([cell]))


def emptier_half(grid: QaGrid) -> QaItem:
    """Which half has more empty squares; never a tie."""
    middle = len(grid.codes) // 2
    top, bottom = grid.all[:middle], grid.all[middle:]
    while grid.count(top, (_EMPTY,)) == grid.count(bottom, (_EMPTY,)):
        cell = grid.any_cell()
        grid.put(cell, grid.rest([_EMPTY]) if grid.codes[cell] == _EMPTY else [_EMPTY])
    emptier = "top" if grid.count(top, (_EMPTY,)) > grid.count(bottom, (_EMPTY,)) else "bottom"
    choice = choose(("top", "bottom"), grid.random)
    if choice.target != emptier:
        grid.codes = [*grid.codes[middle:], *grid.codes[:middle]]
    return choice.ask(
        "Which half of the board has more empty squares, the top or the bottom of the picture?", grid.matrix
    )


def _kinds_swapped(code: int, one: str, other: str) -> int:
    kinds = {_NUMBER[one]: _NUMBER[other], _NUMBER[other]: _NUMBER[one]}
    kind = kinds.get(abs(code), abs(code))
    return kind if code > 0 else -kind


CHESS: dict[str, QuestionType] = {
    "colour_at": colour_at,
    "piece_at": what_is_at(
        "What is at {cell}?",
        {_EMPTY: "nothing"}
        | {n: f"a white {name}" for n, name in enumerate(_NAMES, 1)}
        | {-n: f"a black {name}" for n, name in enumerate(_NAMES, 1)},
    ),
    "count_pieces": how_many("How many {what} are {where}?", _MEN, _WHOLE, most=8),
    "count_in_line": how_many("How many pieces of either colour are in {where}?", {"": _PIECES}, _LINE),
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
    "count_edge": how_many("How many pieces of either colour are {where}?", {"": _PIECES}, _EDGE),
    "emptier_half": emptier_half,
}


QUESTIONS: Mapping[str, Mapping[str, QuestionType]] = {
    "tic_tac_toe": TIC_TAC_TOE,
    "reversi": REVERSI,
    "sudoku": SUDOKU,
    "minesweeper": MINESWEEPER,
    "gomoku": GOMOKU,
    "chess": CHESS,
}


def grid_of(board: BoardView, random: Stream) -> QaGrid:
    """A random position on a board, to ask about."""
    return (MineField if board.game.name == "minesweeper" else QaGrid)(board, random)
