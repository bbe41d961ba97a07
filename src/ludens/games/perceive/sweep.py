"""Positions of one density, or of a few kinds of pieces: how seeing depends on what there is to see."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ludens.core.errors import BadOption
from ludens.core.random import Stream
from ludens.games.boards import BoardView, Matrix

_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")


def bounds(board: BoardView, pieces: str) -> tuple[int, int]:
    """The least and the greatest number of pieces that `pieces` asks for, as in `46-90`."""
    written, cells = _RANGE.fullmatch(pieces), board.rows * board.columns
    low, high = (int(written[1]), int(written[2])) if written else (1, 0)
    if not low <= high <= cells:
        raise BadOption(f"option 'pieces' of perceive must be such as 0-{cells}, not {pieces!r}.")
    return low, high


def codes_of(board: BoardView, kinds: str) -> Sequence[int]:
    """The codes of the pieces whose letters in the text twin stand in `kinds`; all when it is empty."""
    known: dict[str, list[int]] = {}
    for code, mark in board.marks.items():
        if code != board.empty:
            known.setdefault(mark.upper(), []).append(code)
    for letter in kinds.upper():
        if letter not in known:
            raise BadOption(
                f"option 'kinds' of perceive has the letter {letter!r}; "
                f"the pieces of {board.game.name} are {''.join(known)}."
            )
    return [code for letter in (kinds.upper() or known) for code in known[letter]]


def scattered(board: BoardView, random: Stream, pieces: str, kinds: str) -> Matrix:
    """A random position with so many pieces of these kinds, each piece as likely as any other.

    With kinds alone, as many pieces on the same cells as the board would scatter of all kinds.
    """
    if not pieces and not kinds:
        return board.scatter(random)
    codes, cells = codes_of(board, kinds), range(board.rows * board.columns)
    if pieces:
        filled = set(random.sample(cells, random.between(*bounds(board, pieces))))
    else:
        usual = [code for row in board.scatter(random) for code in row]
        filled = {cell for cell in cells if usual[cell] != board.empty}
    flat = [random.choice(codes) if cell in filled else board.empty for cell in cells]
    return [flat[start : start + board.columns] for start in range(0, len(flat), board.columns)]
