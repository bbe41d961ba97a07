"""The answers once more, from nothing but the words of a question and the codes of its board.

Nothing here knows how questions are made: the text is taken apart, and the matrix is searched with numpy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

Board = np.ndarray[Any, np.dtype[np.int64]]
Answer = Callable[[str, Board], str]

MEN = {"pawn": 1, "knight": 2, "bishop": 3, "rook": 4, "queen": 5, "king": 6}
STONES = {"black": 1, "white": 2}


def place(text: str, chess: bool = False) -> tuple[int, int]:
    found = re.search(r"row (\w), column (\w+)", text)
    assert found, text
    if chess:
        return 8 - int(found[1]), "abcdefgh".index(found[2])
    return ord(found[1]) - ord("A"), int(found[2]) - 1


def line(text: str, board: Board, chess: bool = False) -> Board:
    row, column = re.search(r"\brow (\w)\b", text), re.search(r"column (\w+)", text)
    if row:
        return board[8 - int(row[1]) if chess else ord(row[1]) - ord("A")]
    assert column, text
    return board[:, "abcdefgh".index(column[1]) if chess else int(column[1]) - 1]


def box(text: str, board: Board) -> Board:
    row, column = place(text)
    return board[row : row + 3, column : column + 3]


def neighbourhood(text: str, board: Board) -> Board:
    """The 3x3 around a cell, the cell itself included."""
    row, column = place(text)
    return board[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]


def rim(board: Board) -> Board:
    inside = np.zeros(board.shape, bool)
    inside[1:-1, 1:-1] = True
    return board[~inside]


def longest_run(cells: Board, code: int) -> int:
    return max(len(run) for run in re.findall(f"{code}*", "".join(map(str, cells))))


def diagonals(board: Board) -> list[Board]:
    span = range(-board.shape[0] + 1, board.shape[1])
    return [turned.diagonal(k) for turned in (board, np.fliplr(board)) for k in span]


def straights(board: Board) -> list[Board]:
    return [*board, *board.T, *diagonals(board)]


def word(text: str, *words: str) -> str:
    [found] = [one for one in words if re.search(rf"\b{one}s?\b", text)]
    return found


def stone(text: str) -> int:
    return STONES[word(text, *STONES)]


def digit(text: str) -> int:
    return int(re.search(r"digit (\d)", text)[1])  # type: ignore[index]


def three_in_a_row(text: str, board: Board) -> str:
    full = {tuple(cells) for cells in straights(board) if len(cells) == 3}
    winners = [name for name, code in (("X", 1), ("O", 0)) if (code,) * 3 in full]
    assert len(winners) < 2
    return winners[0] if winners else "neither"


def symbol(text: str) -> int:
    return {"X": 1, "O": 0, "red": 1, "blue": 0}[word(text, "X", "O", "red", "blue")]


def fullest(text: str, board: Board) -> str:
    counts = (board == stone(text)).sum(1)
    [best] = np.flatnonzero(counts == counts.max())
    return f"row {'ABCDEFGH'[best]}"


def more(one: tuple[str, int], other: tuple[str, int]) -> str:
    assert one[1] != other[1]
    return max(one, other, key=lambda each: each[1])[0]


def man(code: int) -> str:
    names = {number: name for name, number in MEN.items()}
    return f"a {'white' if code > 0 else 'black'} {names[abs(code)]}" if code else "nothing"


def counted_man(text: str, board: Board) -> str:
    code = MEN[word(text, *MEN)] * (1 if word(text, "white", "black") == "white" else -1)
    return str((board == code).sum())


def more_kind(text: str, board: Board) -> str:
    one, other = re.search(r": (\w+)s or (\w+)s\?", text).groups()  # type: ignore[union-attr]
    return more(*((f"{name}s", int((abs(board) == MEN[name]).sum())) for name in (one, other)))


def mines_touching(text: str, board: Board) -> str:
    """The number a cell shows; whatever is open around it must not contradict that."""
    here = int(board[place(text)])
    near = neighbourhood(text, board)
    seen, hidden = int((near == 9).sum()), int((near == -1).sum())
    assert seen <= here <= seen + hidden
    return str(here)


ANSWERS: dict[str, dict[str, Answer]] = {
    "tic_tac_toe": {
        "symbol_at": lambda text, b: {-1: "empty", 1: "X", 0: "O"}[int(b[place(text)])],
        "count_symbol": lambda text, b: str((b == symbol(text)).sum()),
        "count_empty": lambda text, b: str((b == -1).sum()),
        "count_symbol_in_line": lambda text, b: str((line(text, b) == symbol(text)).sum()),
        "winner": three_in_a_row,
        "count_colour": lambda text, b: str((b == symbol(text)).sum()),
        "count_colour_in_line": lambda text, b: str((line(text, b) == symbol(text)).sum()),
    },
    "reversi": {
        "symbol_at": lambda text, b: ("nothing", "a black disc", "a white disc")[b[place(text)]],
        "count_symbol": lambda text, b: str((b == stone(text)).sum()),
        "count_empty": lambda text, b: str((b == 0).sum()),
        "count_symbol_in_line": lambda text, b: str((line(text, b) == stone(text)).sum()),
        "fullest_row": fullest,
        "more_discs": lambda text, b: more(("black", int((b == 1).sum())), ("white", int((b == 2).sum()))),
        "count_in_line": lambda text, b: str((line(text, b) > 0).sum()),
        "total_of_colour": lambda text, b: str((b == stone(text)).sum()),
    },
    "sudoku": {
        "digit_at": lambda text, b: str(b[place(text)] or "nothing"),
        "count_digit": lambda text, b: str((b == digit(text)).sum()),
        "count_empty": lambda text, b: str((b == 0).sum()),
        "count_digit_in_line": lambda text, b: str((line(text, b) == digit(text)).sum()),
        "count_digit_in_box": lambda text, b: str((box(text, b) == digit(text)).sum()),
        "sum_of_line": lambda text, b: str(line(text, b).sum()),
        "sum_of_box": lambda text, b: str(box(text, b).sum()),
        "contains": lambda text, b: "yes" if digit(text) in line(text, b) else "no",
        "count_empty_in_box": lambda text, b: str((box(text, b) == 0).sum()),
    },
    "minesweeper": {
        "symbol_at": lambda text, b: {-1: "it is hidden", 9: "a mine", 0: "it is open and blank"}.get(
            int(b[place(text)]), str(b[place(text)])
        ),
        "count_mines": lambda text, b: str((b == 9).sum()),
        "count_open": lambda text, b: str((b != -1).sum()),
        "count_open_in_line": lambda text, b: str((line(text, b) != -1).sum()),
        "adjacent_mines": mines_touching,
        "mine_at": lambda text, b: "yes" if b[place(text)] == 9 else "no",
    },
    "gomoku": {
        "stone_at": lambda text, b: ("nothing", "a black stone", "a white stone")[b[place(text)]],
        "count_stones": lambda text, b: str((b == stone(text)).sum()),
        "count_stones_in_line": lambda text, b: str((line(text, b) == stone(text)).sum()),
        "winning_line": lambda text, b: (
            "yes" if any(longest_run(cells, code) >= 5 for cells in straights(b) for code in (1, 2)) else "no"
        ),
        "adjacent": lambda text, b: str((neighbourhood(text, b) > 0).sum() - (b[place(text)] > 0)),
        "count_empty": lambda text, b: str((b == 0).sum()),
        "longest_in_row": lambda text, b: str(longest_run(line(text, b), stone(text))),
        "longest_diagonal": lambda text, b: str(max(longest_run(c, stone(text)) for c in diagonals(b))),
        "count_edge": lambda text, b: str((rim(b) == stone(text)).sum()),
    },
    "chess": {
        "colour_at": lambda text, b: {0: "there is no piece", 1: "white", -1: "black"}[
            int(np.sign(b[place(text, chess=True)]))
        ],
        "piece_at": lambda text, b: man(int(b[place(text, chess=True)])),
        "count_pieces": counted_man,
        "count_in_line": lambda text, b: str((line(text, b, chess=True) != 0).sum()),
        "more_colour": lambda text, b: more(("white", int((b > 0).sum())), ("black", int((b < 0).sum()))),
        "more_kind": more_kind,
        "count_edge": lambda text, b: str((rim(b) != 0).sum()),
        "emptier_half": lambda text, b: more(
            ("top", int((b[:4] == 0).sum())), ("bottom", int((b[4:] == 0).sum()))
        ),
    },
}
